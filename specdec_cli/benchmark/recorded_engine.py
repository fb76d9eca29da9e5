"""The synthetic benchmark by the native engine: its drafts are made, and replaced by prepared ones."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from specdec_cli.benchmark.geometries import Drafts, Geometry, prepare_drafts
from specdec_cli.benchmark.native_runner import NativeRunner
from specdec_cli.benchmark.rows import Row
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.model.bundle_description import BundleDescription
from specdec_cli.native.records import Request
from specdec_cli.pipeline.native_engine import NativeEngine


class RecordedNativeEngine(NativeEngine):
    """A NativeEngine whose drafts are replaced by `drafts`; their own are made too, for the time it takes."""

    def __init__(self, bundle: BundleDescription, decoding: Decoding, threads: int, drafts: Drafts) -> None:
        super().__init__(bundle, decoding, threads)
        self._drafts = drafts

    def _hypotheses(self, sentences: Sequence[Sentence], request: Request, decoding: str) -> Iterator[Hypothesis]:
        recorded = [self._drafts[tuple(sentence.source)] for sentence in sentences]
        return super()._hypotheses(sentences, replace(request, recorded=recorded), decoding)


class RecordedNativeRunner(NativeRunner):
    """A NativeRunner that decodes only `sources`, and replaces drafts by prepared ones.

    `bundle` describes a bundle of the shape of `geometry`. The drafts are made from the greedy outputs.
    """

    def __init__(self, bundle: BundleDescription, geometry: Geometry, sources: Sequence[str]) -> None:
        super().__init__(bundle, split=False)
        outputs = self.run(Row("greedy").changed(max_length=geometry.length), sources).outputs
        self._drafts = prepare_drafts(bundle.tokenizer, geometry, sources, [output.sentences[0] for output in outputs])

    def _engine(self, row: Row) -> NativeEngine:
        if not row.drafts:
            return super()._engine(row)
        return RecordedNativeEngine(self._bundle, self._resolved(row), row.threads, self._drafts)
