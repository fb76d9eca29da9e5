"""The shipped bundles with an engine that stores its hypotheses in a file, so that a second run decodes nothing."""

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import specdec_cli
from specdec_cli.decoding.options import Decoding, DecodingOptions
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.files import write_atomically
from specdec_cli.model.bundle_info import Described
from specdec_cli.opening.engines import open_engine
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import SHIPPED, ModelChoice


class StoredEngine:
    """An engine that decodes a sentence only if its hypothesis is not among those of earlier runs."""

    def __init__(self, engine: SentenceDecoder, file: Path) -> None:
        self._engine, self._file = engine, file
        self._stored: dict[tuple[object, ...], Hypothesis] = pickle.loads(file.read_bytes()) if file.exists() else {}

    @property
    def decoding(self) -> Decoding:
        """The decoding of the engine."""
        return self._engine.decoding

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Yield a hypothesis for each sentence, in order."""
        missing = {key: sentence for sentence in sentences if (key := _key(sentence)) not in self._stored}
        if missing:
            numbered = [replace(sentence, number=number) for number, sentence in enumerate(missing.values())]
            keys = list(missing)
            self._stored |= {keys[each.number]: each for each in self._engine.decode(numbered)}
            data = pickle.dumps(self._stored)
            write_atomically(self._file, lambda partial: partial.write_bytes(data))  # another process may read it
        return (replace(self._stored[_key(sentence)], number=sentence.number) for sentence in sentences)


def _key(sentence: Sentence) -> tuple[object, ...]:
    return (*map(tuple, (sentence.source, sentence.draft, sentence.copy)), sentence.first, sentence.prefix)


def native_library() -> list[Path]:
    """The files of the native engine, on which hypotheses depend too."""
    return sorted(Path(specdec_cli.__file__).with_name("native").glob("_engine*"))


def opened(bundle: str, folder: Path, also: Iterable[Path] = (), **changes: Any) -> tuple[Described, StoredEngine]:
    """A shipped bundle, and an engine that stores its hypotheses in `folder`; a change of the bundle or of a file of `also` starts anew."""
    found = open_engine(ModelChoice(bundle), MachineOptions(), DecodingOptions(batch_size=32, **changes))
    digest = sha256()
    for path in sorted([*also, *(SHIPPED / bundle).rglob("*")]):
        digest.update(path.read_bytes() if path.is_file() else b"")
    return found.bundle, StoredEngine(found.engine, folder / f"{bundle}-{digest.hexdigest()[:16]}")
