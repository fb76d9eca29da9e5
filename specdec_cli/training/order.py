"""A Transformer that writes in another order, begun with the weights of one that writes from left to right."""

from dataclasses import replace
from typing import Any

import torch
from torch import nn

from specdec_cli.errors import UsageError
from specdec_cli.model.transformer import Transformer


def order_fields(order: str | None) -> dict[str, Any]:
    """The fields of a TransformerConfig that `order` decides; none for None.

    The pairs of the bidirectional order are not contiguous in the sentence, so its positions are learned
    (Imamura and Sumita, Section 3.1).
    """
    if order is None:
        return {}
    return {"order": order} | ({"positions": "learned"} if order == "bidirectional" else {})


def with_order(first: Transformer, order: str, dropout: float) -> Transformer:
    """The weights of `first` in a Transformer of another order; `first` itself where that is its own.

    Learned positions begin as those of `first`, whether sinusoidal or learned. In the bidirectional order both tokens
    of a step begin with the position that the left one has in the sentence. Raises UsageError where `first` does not write
    from left to right, and ModelError for an unknown order.
    """
    if order == first.config.order:
        return first
    if first.config.order != "left-to-right":
        raise UsageError(f"a model of order {first.config.order} cannot begin one of order {order}; one of left-to-right can")
    model = Transformer(replace(first.config, **order_fields(order)), dropout)
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
