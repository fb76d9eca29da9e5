"""The Python API: `Translator` and `Corrector` hold a model, and decode as the commands `translate` and `correct` do.

Both are context managers. Threads may share one: their calls decode one after the other. A process that is forked from this one opens the
model anew when it first decodes.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeVar
from weakref import WeakSet

from specdec_cli.decoding.methods import DEFAULT_MODE
from specdec_cli.decoding.options import Decoding, DecodingOptions
from specdec_cli.documents.names import DOCUMENTS, FORMATS, Format
from specdec_cli.errors import SpecdecError, UsageError
from specdec_cli.model.bundle_info import BundleInfo
from specdec_cli.opening.engines import Opened, open_engine
from specdec_cli.opening.machine import Device, EngineName, MachineOptions, Precision
from specdec_cli.opening.models import CORRECTOR, ModelChoice, Tell, chosen_translator, silent
from specdec_cli.pipeline.corrector import Correction
from specdec_cli.pipeline.corrector import Corrector as LineCorrector
from specdec_cli.pipeline.edit_filter import EditFilter
from specdec_cli.pipeline.ignored_edits import IgnoredEdits
from specdec_cli.pipeline.translator import Translation
from specdec_cli.pipeline.translator import Translator as LineTranslator
from specdec_cli.text.glossary import Term, open_glossary, read_glossaries, with_kept
from specdec_cli.text.spelling.word_list import WordList

if TYPE_CHECKING:
    from specdec_cli.documents.document import Document
    from specdec_cli.pipeline.drafts import Drafts

L = TypeVar("L", LineTranslator, LineCorrector)
Mode = Literal["careful", "balanced", "thorough"]
WINDOW = 16
"""The number of batches whose lines are read and decoded together."""
_LINE_END = re.compile(r"(\r?\n)")


class _Model(Generic[L]):
    """A model that is opened, and made a decoder of lines by `make`; one thread at a time uses it, in a block `with self._use()`."""

    def __init__(
        self, model: ModelChoice, machine: MachineOptions, options: DecodingOptions, tell: Tell, make: Callable[[Opened], L]
    ) -> None:
        self._arguments = model, machine, replace(options, batch_size=machine.rows, memory=machine.batch_memory), tell
        self._make: Callable[[Opened], L] = make
        self._lock, self._is_closed = Lock(), False
        self._lines: L | None = None
        opened = self._open()
        self.info: BundleInfo = opened.bundle.info
        self.decoding: Decoding = opened.engine.decoding
        self._window = 1 if self.decoding.batch_size == 1 else WINDOW * self.decoding.batch_size * opened.engine.workers
        _opened_models.add(self)

    def _open(self) -> Opened:
        opened = open_engine(*self._arguments)
        self._lines = self._make(opened)
        return opened

    def _decoder(self) -> L:
        """The decoder of lines, opened anew in a forked process. Called with the lock. Raises SpecdecError after `close`."""
        if self._is_closed:
            raise SpecdecError(f"{self._arguments[0].name}: the model has been closed")
        if self._lines is None:
            self._open()
        assert self._lines is not None
        return self._lines

    def _windows(self, lines: Iterable[str]) -> Iterator[tuple[list[str], range]]:
        """Yield lines that are decoded together, without their ends, and their numbers from 1."""
        if isinstance(lines, str):
            raise TypeError("lines: an iterable of lines is expected, not one text")
        source = iter(lines)
        first = 1
        while window := [line.rstrip("\r\n") for line in islice(source, self._window)]:
            yield window, range(first, first + len(window))
            first += len(window)

    def _parse(self, data: bytes, format: Format, purpose: Literal["translate", "correct"]) -> "Document":
        """Parse a document. Raises InputError if it cannot be read or names other languages than the model's."""
        from specdec_cli.documents.document import Source
        from specdec_cli.documents.formats import READERS
        from specdec_cli.documents.languages import check_languages

        if format not in DOCUMENTS:
            raise UsageError(f"format {format!r}: not one of {', '.join(FORMATS)}")
        document = READERS[format](Source(data, "document", purpose))
        check_languages(document, "document", self.info.source_language, self.info.target_language)
        return document

    def close(self) -> None:
        """Free the model. Decoding afterwards raises SpecdecError; closing again does nothing."""
        with self._lock:
            self._is_closed, self._lines = True, None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _after_fork(self) -> None:
        """Forget the model and the lock of the parent process, one of whose threads may have been using them."""
        self._lock, self._lines = Lock(), None


_opened_models: WeakSet[_Model[Any]] = WeakSet()


def _forget_models() -> None:
    for each in list(_opened_models):
        each._after_fork()


os.register_at_fork(after_in_child=_forget_models)


class Translator(_Model[LineTranslator]):
    """Translates with a bundle, or with another toolkit's model, which is converted first.

    - `model`: a folder, a file, or a name; `source_language` and `target_language` choose among those of a multilingual model. Without
      a model, they choose the shipped bundle (en-de if none is given).
    - `options`: how to decode; every default is the bundle's.
    - `device`, `precision`, `engine`, `threads`: as the options of the command line.
    - `batch_size`: sentences that are decoded together (None: up to 64).
    - `glossary`: terms with the translation that they must have, or files with such terms; `keep`: terms that stay as they are.
    - `split`: lines are split into sentences. `labels`: labels such as Home are translated by the bundle's list.
    - `offline`: the network is never used. `tell` is called with messages, such as that a model is being converted.

    Raises ModelError for a model that cannot be opened, UsageError for options that it does not support, and InputError for a glossary
    that cannot be read.
    """

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        options: DecodingOptions | None = None,
        device: Device = "auto",
        precision: Precision = "auto",
        engine: EngineName = "auto",
        threads: int | None = None,
        batch_size: int | None = None,
        source_language: str = "",
        target_language: str = "",
        glossary: Mapping[str, str] | Sequence[Path] = (),
        keep: Sequence[str] = (),
        split: bool = True,
        labels: bool = True,
        offline: bool = False,
        tell: Tell = silent,
    ) -> None:
        terms = [Term(*each) for each in glossary.items()] if isinstance(glossary, Mapping) else read_glossaries(glossary)
        terms = with_kept(terms, keep)

        def make(opened: Opened) -> LineTranslator:
            info = opened.bundle.info
            self._splits, summarises = split and info.task != "summarise", info.task == "summarise"
            languages = None if summarises else (info.source_language, info.target_language)
            translator = LineTranslator(opened.engine, opened.bundle.tokenizer, split=self._splits, languages=languages)
            if terms:
                translator.use_glossary(open_glossary(terms, opened.bundle.shape.order))
            if labels:
                translator.use_labels(opened.bundle.labels)
            translator.use_drafts(self._drafts)
            return translator

        self._drafts: Drafts | None = None
        name = None if model is None else str(model)
        choice = chosen_translator(name, source_language, target_language, offline=offline)
        super().__init__(
            choice, _machine(device, precision, engine, threads, batch_size, offline), options or DecodingOptions(), tell, make
        )

    def translate(self, text: str) -> str:
        """Translate a text line by line; line ends and blank lines are kept."""
        lines, ends = _split(text)
        with self._lock:
            outputs = [each.text for each in self._decoder().translate(lines, numbers=_numbers(lines))]
        return "".join(map("".join, zip(outputs, ends, strict=True)))

    def lines(self, lines: Iterable[str], *, separate: bool = False) -> Iterator[Translation]:
        """Yield a Translation for each line, in order. The ends of lines are dropped.

        Lines are read as results are taken: at most as many as are decoded together, one with a batch size of 1. Lines that are `separate`
        are parts of a document, such as headings. Raises SpecdecError after `close`.
        """
        for window, numbers in self._windows(lines):
            with self._lock:
                decoded = list(self._decoder().translate(window, separate=separate, numbers=numbers))
            yield from decoded

    def document(self, data: bytes, format: Format) -> bytes:
        """Translate a document, or text, in one of the formats of `--format`; its structure is kept.

        Raises InputError for one that cannot be read or is in other languages than the model's, and UsageError if a library is missing.
        """
        if format in FORMATS and format not in DOCUMENTS:
            return self.translate(_decoded(data)).encode()
        from specdec_cli.documents.drafts import drafts_of_document

        document = self._parse(data, format, "translate")
        with self._lock:
            translator = self._decoder()
            if self._drafts is None and self.decoding.takes_drafts:
                batch_size = self.decoding.batch_size
                translator.use_drafts(drafts_of_document(document, translator.sentences, batch_size, split=self._splits))
            try:
                texts, numbers = _segments(document)
                outputs = [each.text for each in translator.translate(texts, separate=True, numbers=numbers)]
            finally:
                translator.use_drafts(self._drafts)
        return document.translated(outputs)

    def use_drafts(self, drafts: "Drafts | None") -> None:
        """Decode sentences with the drafts that `drafts` finds for them from now on (None: without drafts)."""
        with self._lock:
            self._drafts = drafts
            self._decoder().use_drafts(drafts)


class Corrector(_Model[LineCorrector]):
    """Corrects with a bundle whose output is in the language of its input.

    - `mode`: "careful", "balanced" (the default) or "thorough"; or `min_score`, the least score of an edit.
    - `ignore`: words that are not changed; `words`: a file of such words, one a line, as a server with --words writes it.
    - `ignore_categories`: categories of errors that are not corrected, as R:SPELL.
    - `types`: edits get the types of their errors.

    The other arguments, and errors, are those of Translator.
    """

    def __init__(
        self,
        model: str | Path = CORRECTOR,
        *,
        options: DecodingOptions | None = None,
        device: Device = "auto",
        precision: Precision = "auto",
        engine: EngineName = "auto",
        threads: int | None = None,
        batch_size: int | None = None,
        mode: Mode | None = None,
        min_score: float | None = None,
        ignore: Sequence[str] = (),
        words: str | Path | None = None,
        ignore_categories: Sequence[str] = (),
        types: bool = True,
        split: bool = True,
        offline: bool = False,
        tell: Tell = silent,
    ) -> None:
        if mode is not None and min_score is not None:
            raise UsageError("mode and min_score are alternatives; give one")
        listed = () if words is None else WordList.of_file(Path(words)).words
        ignored = IgnoredEdits.of((*ignore, *listed), (), ignore_categories)

        def make(opened: Opened) -> LineCorrector:
            bundle, info = opened.bundle, opened.bundle.info
            languages = (info.source_language, info.target_language)
            if info.task == "translate" and languages[0] != languages[1]:
                raise UsageError(f"{model} translates, {languages[0]} to {languages[1]}, and cannot correct text")
            return LineCorrector(
                opened.engine,
                bundle.tokenizer,
                EditFilter.of(info, min_score, None, mode),
                split=split,
                languages=languages,
                ignored=ignored,
                types=types,
                ngrams=bundle.ngrams,
                lexicon=bundle.lexicon,
            )

        wanted = replace(options or DecodingOptions(), with_scores=True, mode="" if min_score is not None else mode or DEFAULT_MODE)
        machine = _machine(device, precision, engine, threads, batch_size, offline)
        super().__init__(ModelChoice(str(model), offline=offline), machine, wanted, tell, make)

    def correct(self, text: str) -> Correction:
        """Correct a text line by line. Offsets of the edits are those in `text`; tokens, rounds and scores are sums over its lines."""
        lines, ends = _split(text)
        with self._lock:
            found = list(self._decoder().correct(lines, numbers=_numbers(lines)))
        start = added = 0
        edits = []
        for line, correction, end in zip(lines, found, ends, strict=True):
            for edit in correction.edits:
                first, last = edit.output
                edits.append(edit._replace(start=edit.start + start, end=edit.end + start, output=(first + added, last + added)))
            start, added = start + len(line) + len(end), added + len(correction.text) + len(end)
        scores = [each.score for each in found if each.score is not None]
        return Correction(
            "".join(each.text + end for each, end in zip(found, ends, strict=True)),
            tuple(edits),
            sum(each.tokens for each in found),
            sum(each.rounds for each in found),
            sum(scores) if scores else None,
            tuple(ids for each in found for ids in each.sentences),
            next((each.decoding for each in found if each.decoding), ""),
            tuple(dict.fromkeys(warning for each in found for warning in each.warnings)),
        )

    def lines(self, lines: Iterable[str], *, separate: bool = False) -> Iterator[Correction]:
        """Yield a Correction for each line, in order, with offsets into the line. Lines are read as in `Translator.lines`."""
        for window, numbers in self._windows(lines):
            with self._lock:
                decoded = list(self._decoder().correct(window, separate=separate, numbers=numbers))
            yield from decoded

    def document(self, data: bytes, format: Format) -> bytes:
        """Correct a document, or text; what has no errors is copied byte for byte. Raises what `Translator.document` raises."""
        if format in FORMATS and format not in DOCUMENTS:
            return self.correct(_decoded(data)).text.encode()
        document = self._parse(data, format, "correct")
        texts, numbers = _segments(document)
        with self._lock:
            found = list(self._decoder().correct(texts, separate=True, numbers=numbers))
        return document.corrected([segment.fitted(each.edits) for segment, each in zip(document.segments, found, strict=True)])


def _machine(
    device: Device, precision: Precision, engine: EngineName, threads: int | None, batch_size: int | None, offline: bool
) -> MachineOptions:
    size: int | Literal["auto"] = "auto" if batch_size is None else batch_size
    for name, value in (("batch_size", batch_size), ("threads", threads)):
        if value is not None and value < 1:
            raise UsageError(f"{name} {value}: not a number from 1")
    return MachineOptions(batch_size=size, device=device, precision=precision, engine=engine, threads=threads, offline=offline)


def _split(text: str) -> tuple[list[str], list[str]]:
    """The lines of a text, and the end of each; after the last end of line, there is a last line, which may be empty."""
    parts = _LINE_END.split(text)
    return parts[::2], [*parts[1::2], ""]


def _numbers(lines: Sequence[str]) -> range:
    """The numbers of lines from 1, from which sampling draws."""
    return range(1, len(lines) + 1)


def _segments(document: "Document") -> tuple[list[str], list[int]]:
    """The texts of the segments of a document, and the numbers of the lines where they begin."""
    return [segment.text for segment in document.segments], [document.place(segment, 0)[0] for segment in document.segments]


def _decoded(data: bytes) -> str:
    """The text of a file of text. Raises InputError if it is not UTF-8."""
    from specdec_cli.documents.reading import decode

    return decode(data, "document")
