"""Initialisation of a Transformer of another generation order from a left-to-right one."""

from dataclasses import replace
from typing import Any

import torch
from torch import nn

from specdec_cli.errors import UsageError
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.tokenize.sentencepiece import MASK


def order_fields(order: str | None) -> dict[str, Any]:
    """The TransformerConfig fields that follow from the generation order `order`; empty for None.

    A bidirectional model has learned positions, because the two tokens of a step are not adjacent in the sentence (Imamura and
    Sumita 2020, Section 3.1).
    """
    if order is None:
        return {}
    return {"order": order} | ({"positions": "learned"} if order == "bidirectional" else {})


def with_order(first: Transformer, order: str, dropout: float, mask: int = MASK) -> Transformer:
    """A Transformer of generation order `order` with the weights of `first`; `first` itself if it already has that order.

    `dropout` is the dropout rate of a new Transformer. Learned positions are initialised with those of `first`, sinusoidal or
    learned. In the bidirectional order, both tokens of a step are initialised with the position of the left one. A masked model has
    the mask token id `mask`, and a length head with random weights. Raises UsageError if `first` has neither `order` nor the order
    left-to-right, and ModelError for an unknown order or a mask id that a masked model cannot have.
    """
    if order == first.config.order:
        return first
    if first.config.order != "left-to-right":
        raise UsageError(f"a model of order {first.config.order} cannot initialise one of order {order}; only a left-to-right model can")
    model = Transformer(replace(first.config, **order_fields(order), mask=mask), dropout)
    model.load_state_dict(model.state_dict() | first.state_dict())
    if isinstance(model.embedding.positions, nn.Parameter):
        offset = first.embedding.offset
        rows = torch.arange(len(first.embedding.positions))
        if order == "bidirectional":
            rows = torch.where(rows < offset, rows, offset + (rows - offset) // 2)
        with torch.no_grad():
            model.encoder.embedding.positions.copy_(first.encoder.embedding.positions)
            model.embedding.positions.copy_(first.embedding.positions[rows])
    return model
