"""A verifier's greedy output, on which drafters are trained and evaluated."""

from collections.abc import Sequence

from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import Bundle
from specdec_cli.training.batches import SentencePair

_ROWS = 16


def greedy_outputs(bundle: Bundle, sources: Sequence[Sequence[int]]) -> list[SentencePair]:
    """Decode `sources` (ids ending with EOS) greedily with the verifier; return a pair of source and output ids for each, in order."""
    engine = Engine(bundle, resolve(DecodingOptions(decoding="greedy", batch_size=_ROWS), bundle))
    outputs = {h.number: h.ids for h in engine.decode([Sentence(number, source) for number, source in enumerate(sources)])}
    return [SentencePair(source, outputs[number]) for number, source in enumerate(sources)]
