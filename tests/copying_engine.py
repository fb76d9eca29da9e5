"""The shipped bundles with an engine whose outputs are the sources, for tests of what is around the model."""

from collections.abc import Iterator, Sequence
from typing import Any

from specdec_cli.decoding.options import Decoding, DecodingOptions
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.model.bundle_info import Described
from specdec_cli.opening.engines import open_engine
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice


class CopyingEngine:
    """An engine that decodes nothing: the hypothesis of a sentence is its source, or the part of a draft that is to begin the output."""

    def __init__(self, engine: SentenceDecoder) -> None:
        self._engine = engine
        self.sentences = 0

    @property
    def decoding(self) -> Decoding:
        """The decoding of the engine."""
        return self._engine.decoding

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Yield a hypothesis for each sentence, in order."""
        for each in sentences:
            self.sentences += 1
            ids = [*(each.draft[: each.prefix] if each.prefix else each.source)]
            yield Hypothesis(each.number, ids, 1, -0.1 * len(ids), (), (-0.1,) * len(ids))


def copying(bundle: str, **options: Any) -> tuple[Described, CopyingEngine]:
    """A shipped bundle, and an engine that copies."""
    opened = open_engine(ModelChoice(bundle), MachineOptions(), DecodingOptions(**options))
    return opened.bundle, CopyingEngine(opened.engine)
