"""Operations of matrix products, counted while they are computed."""

from collections.abc import Callable

import torch

from specdec_cli.model.bundle import Bundle
from specdec_cli.model.flops import counting

SOURCE, TARGET = 12, 8


def ids(length: int) -> torch.Tensor:
    return torch.arange(5, 5 + length)[None]


def test_all_products_of_a_pass_and_of_an_update_are_counted(make_bundle: Callable[..., Bundle]) -> None:
    model = make_bundle(width=48, heads=3, encoder_layers=3, decoder_layers=1, output_bias=True).verifier
    width, config = 48, model.config
    with torch.no_grad(), counting() as one_pass:
        model(ids(SOURCE), ids(TARGET))
    with counting() as update:
        model(ids(SOURCE), ids(TARGET)).sum().backward()
    feed_forward = 4 * width * config.feed_forward
    encoder = SOURCE * (8 * width**2 + feed_forward + 4 * width * SOURCE)
    memory = SOURCE * 4 * width**2
    decoder = TARGET * (12 * width**2 + feed_forward + 4 * width * (TARGET + SOURCE))
    assert one_pass.get_total_flops() == 3 * encoder + memory + decoder + TARGET * 2 * width * config.vocabulary_size
    assert update.get_total_flops() == 3 * one_pass.get_total_flops()
