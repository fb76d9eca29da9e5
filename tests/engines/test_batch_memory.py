"""The memory for batches bounds the number of sentences that are decoded together."""

from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import Bundle


def test_memory_limits_the_rows_of_a_batch(bundle: Bundle) -> None:
    wide = Engine(bundle, resolve(DecodingOptions(decoding="greedy", batch_size=64), bundle))
    row = wide.verifier.row_bytes(32)
    narrow = Engine(bundle, resolve(DecodingOptions(decoding="greedy", batch_size=64, memory=5 * row), bundle))
    assert wide._rows(32, 1000) == 64
    assert narrow._rows(32, 1000) == 5
    assert narrow._rows(512, 1000) == 1
    assert wide._rows(32, 3) == 3
