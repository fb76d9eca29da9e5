"""The synthetic benchmark by the native engine: its drafts are made, and replaced by prepared ones."""

from collections.abc import Sequence

from specdec_cli.benchmark.geometries import Geometry, prepare_drafts
from specdec_cli.benchmark.native_runner import NativeRunner
from specdec_cli.benchmark.rows import Row
from specdec_cli.engines.native import NativeEngine
from specdec_cli.model.bundle_info import BundleDescription


class RecordedNativeRunner(NativeRunner):
    """A NativeRunner that decodes only `sources`, and replaces drafts by prepared ones.

    `bundle` describes a bundle of the shape of `geometry`. The drafts are made from the greedy outputs.
    """

    def __init__(self, bundle: BundleDescription, geometry: Geometry, sources: Sequence[str]) -> None:
        super().__init__(bundle, split=False)
        outputs = self.run(Row("greedy").changed(max_length=geometry.length), sources).outputs
        self._drafts = prepare_drafts(bundle.tokenizer, geometry, sources, [output.sentences[0] for output in outputs])

    def _engine(self, row: Row) -> NativeEngine:
        engine = super()._engine(row)
        if row.drafts:
            engine.recorded = self._drafts
        return engine
