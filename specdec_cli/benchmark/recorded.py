"""Drafts that are accepted as recorded, and what decodes the rows of the synthetic benchmark with them. Without torch, whose memory and
start a row of the native engine does not have.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from specdec_cli.benchmark.geometries import Drafts, Geometry, accepted_tokens, make_sources
from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.runs import BundleRunner
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.engines.native import NativeEngine
from specdec_cli.text.tokenize.tokenizer import Tokenizer

if TYPE_CHECKING:
    from specdec_cli.engines.reference import Engine


def recorded_drafts(output: Sequence[int], accepted: Sequence[int], block_size: int, vocabulary_size: int) -> list[list[int]]:
    """Make a draft for each round, of which verification accepts as many tokens as `accepted` says.

    `output` is the greedy output (ids); `accepted` has the number of tokens that each round emits, the verifier's own token
    included. A draft has `block_size` tokens (0: all but one of the rest of the output): right tokens, then wrong ones.
    """
    drafts, start = [], 0
    for tokens in accepted:
        end = start + tokens - 1
        width = block_size or len(output) - start - 1
        wrong = (output[end] + 1) % vocabulary_size
        drafts.append([*output[start:end], *[wrong] * (width - tokens + 1)])
        start = end + 1
    return drafts


def prepare_drafts(tokenizer: Tokenizer, geometry: Geometry, sources: Sequence[str], outputs: Sequence[Sequence[int]]) -> Drafts:
    """Make drafts for each of `sources`, of which `outputs` are the ids of greedy decoding. The number of tokens that are accepted in each
    round is chosen so that decoding takes as many rounds as `geometry` says.
    """
    ids = (tuple(tokenizer.add_special_tokens(tokenizer.encode(source))) for source in sources)
    accepted, size = accepted_tokens(geometry, len(sources)), geometry.shape.vocabulary_size
    return {
        source: recorded_drafts(output, tokens, geometry.block_size, size)
        for source, output, tokens in zip(ids, outputs, accepted, strict=True)
    }


class RecordedRunner(BundleRunner):
    """Runs a row of the synthetic benchmark: it uses drafts that were prepared beforehand in place of the drafter's own.

    It decodes only the sources of its geometry (`conditions.geometry`). The drafts are made from the greedy outputs of these sources, so
    that decoding an output takes exactly the number of rounds that the geometry names.
    """

    @cached_property
    def _drafts(self) -> Drafts:
        geometry = self.conditions.geometry
        assert geometry is not None
        sources, greedy = make_sources(geometry), Row("greedy", threads=self.row.threads).changed(max_length=geometry.length)
        outputs = BundleRunner(self.conditions, greedy, self._load).run(sources).outputs
        return prepare_drafts(self.bundle.tokenizer, geometry, sources, [output.sentences[0] for output in outputs])

    def engine(self, lines: Sequence[str] = ()) -> SentenceDecoder:
        engine = super().engine(lines)
        if self.row.drafts and isinstance(engine, NativeEngine):
            engine.recorded = self._drafts
        return engine

    def reference(self, lines: Sequence[str] = ()) -> "Engine":
        from specdec_cli.benchmark.random_model import RecordedDrafter

        engine = super().reference(lines)
        if self.row.drafts:
            engine.drafter = RecordedDrafter(engine.drafter, self._drafts, engine.verifier.config.padding)
        return engine
