"""The Python API: `Translator` and `Corrector` hold a model, and decode as the commands `translate` and `correct` do.

Both are context managers. Threads may share one: their calls decode one after the other. A process that is forked from this one opens the
model anew when it first decodes, and so does one that gets a pickle of one of them.
"""

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from threading import Lock
from types import NoneType
from typing import Any, Generic, Literal, Self, TypeVar
from weakref import WeakSet

from specdec_cli.arguments import checked, checked_terms, checked_text, checked_words, wrong_type
from specdec_cli.decoding.methods import DEFAULT_MODE, MODES
from specdec_cli.decoding.options import Decoding, DecodingOptions
from specdec_cli.documents.document import Document, Source, check_languages
from specdec_cli.documents.formats import DOCUMENTS, FORMATS, Format, read_document
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.errors import ModelError, SpecdecError, UsageError
from specdec_cli.fields import checked_values
from specdec_cli.memories.found import SIMILARITY
from specdec_cli.model.bundle_info import BundleInfo, Described
from specdec_cli.opening.conversions import Tell, silent
from specdec_cli.opening.engines import Opened, open_engine
from specdec_cli.opening.machine import Device, EngineName, MachineOptions, Precision
from specdec_cli.opening.models import CORRECTOR, ModelChoice, chosen_translator
from specdec_cli.pipeline.corrector import Correction, LineCorrector, correction_rules
from specdec_cli.pipeline.drafts import DraftGate, Drafts
from specdec_cli.pipeline.ignored_edits import IgnoredEdits
from specdec_cli.pipeline.text_variants import RULES
from specdec_cli.pipeline.translator import LineTranslator, Translation
from specdec_cli.text.corpus.parallel import Pair
from specdec_cli.text.glossary import Term, given_terms, read_glossaries, with_kept
from specdec_cli.text.io.word_list import WordList

L = TypeVar("L", LineTranslator, LineCorrector)
R = TypeVar("R", Translation, Correction)
Mode = Literal["careful", "balanced", "thorough"]
WINDOW = 16
"""The number of batches whose lines are read and decoded together."""
_LINE_END = re.compile(r"(\r?\n)")


class Model(ABC, Generic[L, R]):
    """A model that is opened, and what decodes lines with it, which is made of its engine and its bundle; one thread at a time uses it."""

    info: BundleInfo
    decoding: Decoding
    window: int
    """The number of lines that are read and decoded together."""
    _given: dict[str, Any] | None = None
    """The arguments of the constructor by name; None for a model of a command."""

    @classmethod
    def of(cls, make: Callable[[SentenceDecoder, Described], L], name: str, opener: Callable[[], Opened]) -> Self:
        """The model of a command, which `opener` opens, with lines decoded by what `make` returns. `name` is the one of messages."""
        opened = cls.__new__(cls)
        opened._begin(make, ModelChoice(name), opener)
        return opened

    def _begin(self, make: Callable[[SentenceDecoder, Described], L], model: ModelChoice, opener: Callable[[], Opened]) -> None:
        self._choice, self._opener = model, opener
        self._make: Callable[[SentenceDecoder, Described], L] = make
        self._lock, self._is_closed = Lock(), False
        self._opened: Opened | None = None
        self._lines: L | None = None
        opened = self.opened
        self.info, self.decoding = opened.bundle.info, opened.engine.decoding
        self.window = 1 if self.decoding.batch_size == 1 else WINDOW * self.decoding.batch_size * opened.engine.workers
        _opened_models.add(self)

    @property
    def opened(self) -> Opened:
        """The bundle, the engine and the machine, opened anew in a forked process. Raises SpecdecError after `close`, and UsageError if a
        library is missing.
        """
        if self._is_closed:
            raise SpecdecError(f"{self._choice.name}: the model has been closed")
        if self._opened is None:
            try:
                self._opened = self._opener()
            except ModuleNotFoundError as error:
                from specdec_cli.failures import lacking_library

                raise lacking_library(error) or error from error
            self._lines = self._made(self._opened)
        return self._opened

    @property
    def _decoder(self) -> L:
        """The decoder of lines. Raises what `opened` raises."""
        assert self.opened and self._lines is not None
        return self._lines

    def _made(self, opened: Opened) -> L:
        """What decodes lines with the opened model."""
        return self._make(opened.engine, opened.bundle)

    @abstractmethod
    def decode(self, lines: Sequence[str], *, separate: bool = False, numbers: Sequence[int] = ()) -> Iterator[R]:
        """Yield the result of each of `lines`, which are decoded together, in order and as soon as it is available.

        Lines that are `separate` are parts of a document, such as headings; `numbers` are those of the lines in their file, from which
        sampling draws. Unlike the other methods, it does not wait for other threads.
        """

    def lines(self, lines: Iterable[str], *, separate: bool = False) -> Iterator[R]:
        """Yield the result of each line, in order. The ends of lines are dropped.

        Lines are read as results are taken: at most as many as are decoded together, one with a batch size of 1. Lines that are `separate`
        are parts of a document, such as headings. Raises SpecdecError after `close`, TypeError for what is no text, and InputError for half
        of a surrogate pair.
        """
        if isinstance(lines, str):
            raise TypeError("lines: an iterable of lines is expected, not one text")
        if not isinstance(lines, Iterable):
            raise wrong_type("lines", "an iterable of lines", lines)
        source, first = (checked_text(f"lines, item {number}", line) for number, line in enumerate(lines, start=1)), 1
        while window := [line.rstrip("\r\n") for line in islice(source, self.window)]:
            with self._lock:
                decoded = list(self.decode(window, separate=separate, numbers=range(first, first + len(window))))
            yield from decoded
            first += len(window)

    def _text(self, lines: Sequence[str]) -> list[R]:
        """The results of the lines of a text, decoded together."""
        with self._lock:
            return list(self.decode(lines, numbers=range(1, len(lines) + 1)))

    def _segments(self, document: Document) -> list[R]:
        """The results of the segments of a document."""
        texts = [segment.text for segment in document.segments]
        numbers = [document.place(segment, 0)[0] for segment in document.segments]
        results: list[R] = []
        with self._lock, self.with_drafts_of(document):
            for first in range(0, len(texts), self.window):
                last = first + self.window
                results += self.decode(texts[first:last], separate=True, numbers=numbers[first:last])
        return results

    def with_drafts_of(self, document: Document) -> AbstractContextManager[Drafts | None]:  # noqa: ARG002
        """Decode the segments of `document`, in a `with` block, with the drafts that it has itself, which are returned; None for none."""
        return nullcontext()

    def _parse(self, data: bytes, format: Format, purpose: Literal["translate", "correct"]) -> Document:
        """Parse a document. Raises InputError if it cannot be read or names other languages than the model's."""
        checked("data", data, bytes, "bytes")
        if format not in DOCUMENTS:
            raise UsageError(f"format {format!r}: not one of {', '.join(FORMATS)}")
        document = read_document(Source(data, "document", purpose, language=self.info.source_language), format)
        check_languages(document, "document", self.info.source_language, self.info.target_language)
        return document

    def close(self) -> None:
        """Free the model. Decoding afterwards raises SpecdecError; closing again does nothing.

        It waits while another thread decodes: until its `translate`, `correct` or `document` returns, or until `lines` has decoded the
        lines that it reads together.
        """
        with self._lock:
            self._is_closed, self._opened, self._lines = True, None, None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        name, info = self._choice.name, self.info
        languages = " to ".join(dict.fromkeys((info.source_language, info.target_language)))
        state = ", closed" if self._is_closed else f", {self._opened.machine.in_words}" if self._opened else ""
        return f"<{type(self).__name__} {name}: {languages}, {self.decoding.method}{state}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments of the constructor; unpickling opens the model again. Raises SpecdecError after `close`."""
        if self._is_closed:
            raise SpecdecError(f"{self._choice.name}: the model has been closed")
        if self._given is None:
            raise TypeError(f"{type(self).__name__}: a model that a command has opened cannot be pickled")
        name = self._choice.absolute().name
        return _opened_again, (type(self), self._given | {"model": name})

    def _after_fork(self) -> None:
        """Forget the model and the lock of the parent process, one of whose threads may have been using them."""
        self._lock, self._opened, self._lines = Lock(), None, None


def _opened_again(kind: Callable[..., Model[Any, Any]], given: Mapping[str, Any]) -> Model[Any, Any]:
    return kind(**given)


_opened_models: WeakSet[Model[Any, Any]] = WeakSet()


def _forget_models() -> None:
    for each in list(_opened_models):
        each._after_fork()


os.register_at_fork(after_in_child=_forget_models)


class Translator(Model[LineTranslator, Translation]):
    """Translates with a bundle, or with another toolkit's model, which is converted first.

    - `model`: a folder, a file, or a name; `source_language` and `target_language` choose among those of a multilingual model. Without
      a model, they choose the shipped bundle (en-de if none is given).
    - `options`: how to decode; every default is the bundle's. `draft_model`: a smaller model that drafts, with the same output.
    - `device`, `precision`, `engine`, `threads`: as the options of the command line.
    - `batch_size`: sentences that are decoded together (None: up to 64, on a GPU up to 256).
    - `instruction`: words in front of each source, for a model that was trained with them (None: the bundle's).
    - `glossary`: terms with the translation that they must have, or a file or files with such terms; `keep`: terms that stay as they are.
    - `split`: lines are split into sentences. `labels`: labels such as Home are translated by the bundle's list.
    - `raw`: the model's own output, line by line: nothing is split, kept or repaired. It does not go with `glossary` and `keep`.
    - `without`: names of rules that are off, as `translate --without` takes them.
    - `offline`: the network is never used. `tell` is called with messages, such as that a model is being converted.

    Raises ModelError for a model that cannot be opened, UsageError for options that it does not support, and InputError for a glossary
    that cannot be read.
    """

    _drafts: Drafts | None = None

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        options: DecodingOptions | None = None,
        draft_model: str | Path | None = None,
        device: Device = "auto",
        precision: Precision = "auto",
        engine: EngineName = "auto",
        threads: int | None = None,
        batch_size: int | None = None,
        source_language: str = "",
        target_language: str = "",
        instruction: str | None = None,
        glossary: Mapping[str, str] | str | Path | Sequence[str | Path] = (),
        keep: Sequence[str] = (),
        split: bool = True,
        labels: bool = True,
        raw: bool = False,
        without: Sequence[str] = (),
        offline: bool = False,
        tell: Tell = silent,
    ) -> None:
        self._given = _checked_arguments({name: value for name, value in locals().items() if name != "self"})
        kept = with_kept(_terms(glossary), checked_words("keep", keep))
        _check_raw(raw, {"glossary": glossary, "keep": keep})
        off = _checked_rules(without, RULES)

        def make(engine: SentenceDecoder, bundle: Described) -> LineTranslator:
            if bundle.info.task == "correct":
                raise UsageError(f"{model} corrects text; open it with Corrector")
            return LineTranslator.of_bundle(engine, bundle, split=split, terms=kept, labels=labels, raw=raw, without=off)

        name = None if model is None else str(model)
        choice = chosen_translator(name, source_language, target_language, offline=offline, instruction=instruction)
        machine = _machine(device, precision, engine, threads, batch_size, offline)
        self._begin(make, choice, partial(open_engine, choice, machine, _requested(options, machine, draft_model), tell))

    def _made(self, opened: Opened) -> LineTranslator:
        translator = super()._made(opened)
        translator.use_drafts(self._drafts)
        return translator

    def decode(self, lines: Sequence[str], *, separate: bool = False, numbers: Sequence[int] = ()) -> Iterator[Translation]:
        return self._decoder.translate(lines, separate=separate, numbers=numbers)

    def translate(self, text: str) -> str:
        """Translate a text line by line; line ends and blank lines are kept."""
        lines, ends = _split(text)
        outputs = [each.text for each in self._text(lines)]
        return "".join(map("".join, zip(outputs, ends, strict=True)))

    def document(self, data: bytes, format: Format) -> bytes:
        """Translate a document, or text, in one of the formats of `--format`; its structure is kept.

        Raises InputError for one that cannot be read or is in other languages than the model's, and UsageError if a library is missing.
        """
        if format in FORMATS and format not in DOCUMENTS:
            return self.translate(_decoded(data)).encode()
        document = self._parse(data, format, "translate")
        return document.translated([each.text for each in self._segments(document)])

    def use_drafts(self, drafts: Drafts | None) -> None:
        """Decode sentences with the drafts that `drafts` finds for them from now on (None: without drafts)."""
        with self._lock:
            self._drafts = drafts
            self._decoder.use_drafts(drafts)

    @contextmanager
    def with_drafts_of(self, document: Document) -> Iterator[Drafts | None]:
        translator = self._decoder
        drafts = None
        if self._drafts is None and self.decoding.takes_drafts:
            drafts = _drafts_of(document, translator, self.decoding.batch_size)
            translator.use_drafts(drafts)
        try:
            yield drafts
        finally:
            translator.use_drafts(self._drafts)

    def sentences(self, lines: Sequence[str]) -> list[str]:
        """The sentences of lines that are translated, in order, without tags."""
        return self._decoder.sentences(lines)

    @property
    def splits(self) -> bool:
        """Whether lines are split into sentences: as the arguments say, but not for a model that summarises."""
        return self._decoder.splits


class Corrector(Model[LineCorrector, Correction]):
    """Corrects with a bundle whose output is in the language of its input.

    - `mode`: "careful", "balanced" (the default) or "thorough"; or `min_score`, the least score of an edit.
    - `instruction`: words in front of each source, for a model that was trained with them (None: the bundle's).
    - `ignore`: words that are not changed; `words`: a file of such words, one a line, as a server with --words writes it.
    - `ignore_categories`: categories of errors that are not corrected, as R:SPELL.
    - `types`: edits get the types of their errors.
    - `raw`: the model's own output, line by line, with all its edits; it does not go with the arguments that leave some out.
    - `without`: names of rules that are off, as `correct --without` takes them.

    The other arguments, and errors, are those of Translator.
    """

    def __init__(
        self,
        model: str | Path = CORRECTOR,
        *,
        options: DecodingOptions | None = None,
        draft_model: str | Path | None = None,
        device: Device = "auto",
        precision: Precision = "auto",
        engine: EngineName = "auto",
        threads: int | None = None,
        batch_size: int | None = None,
        instruction: str | None = None,
        mode: Mode | None = None,
        min_score: float | None = None,
        ignore: Sequence[str] = (),
        words: str | Path | None = None,
        ignore_categories: Sequence[str] = (),
        types: bool = True,
        split: bool = True,
        raw: bool = False,
        without: Sequence[str] = (),
        offline: bool = False,
        tell: Tell = silent,
    ) -> None:
        self._given = _checked_arguments({name: value for name, value in locals().items() if name != "self"})
        least = min_score is not None
        _check_raw(raw, {"mode": mode, "min_score": least, "ignore": ignore, "words": words, "ignore_categories": ignore_categories})
        off = _checked_rules(without, correction_rules())
        if mode is not None and min_score is not None:
            raise UsageError("mode and min_score are alternatives; give one")
        if mode is not None and mode not in MODES:
            raise UsageError(f"mode {mode!r}: not one of {', '.join(MODES)}")
        listed = () if words is None else WordList.of_file(Path(words)).words
        ignored = IgnoredEdits.of((*checked_words("ignore", ignore), *listed), (), checked_words("ignore_categories", ignore_categories))

        def make(engine: SentenceDecoder, bundle: Described) -> LineCorrector:
            check_corrects(str(model), bundle.info, "; open it with Translator")
            return LineCorrector.of_bundle(
                engine, bundle, mode=mode, min_score=min_score, ignored=ignored, types=types, split=split, raw=raw, without=off
            )

        machine = _machine(device, precision, engine, threads, batch_size, offline)
        wanted = replace(_requested(options, machine, draft_model), with_scores=True, mode="" if least or raw else mode or DEFAULT_MODE)
        choice = ModelChoice(str(model), offline=offline, instruction=instruction, task="correct")
        self._begin(make, choice, partial(open_engine, choice, machine, wanted, tell))

    def decode(self, lines: Sequence[str], *, separate: bool = False, numbers: Sequence[int] = ()) -> Iterator[Correction]:
        return self._decoder.correct(lines, separate=separate, numbers=numbers)

    def correct(self, text: str) -> Correction:
        """Correct a text line by line. Offsets of the edits are those in `text`; tokens, rounds and scores are sums over its lines."""
        lines, ends = _split(text)
        found = self._text(lines)
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

    def document(self, data: bytes, format: Format) -> bytes:
        """Correct a document, or text; what has no errors is copied byte for byte. Raises what `Translator.document` raises."""
        if format in FORMATS and format not in DOCUMENTS:
            return self.correct(_decoded(data)).text.encode()
        document = self._parse(data, format, "correct")
        found = self._segments(document)
        return document.corrected([segment.fitted(each.edits) for segment, each in zip(document.segments, found, strict=True)])


def check_corrects(model: str, info: BundleInfo, advice: str = "") -> None:
    """Raise UsageError for a bundle that translates to another language; `model` is its name in the message, which ends with `advice`."""
    if info.task == "translate" and info.source_language != info.target_language:
        raise UsageError(f"{model} translates, {info.source_language} to {info.target_language}, and cannot correct text{advice}")


_NAME, _FLAG = ((str, Path, NoneType), "a name or path"), (bool, "True or False")
_KINDS: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    **{"model": _NAME, "words": _NAME, "source_language": (str, "a text"), "target_language": (str, "a text")},
    "instruction": ((str, NoneType), "a text"),
    **{"split": _FLAG, "labels": _FLAG, "raw": _FLAG, "types": _FLAG, "offline": _FLAG, "tell": (Callable, "a function")},  # type: ignore[dict-item]
    **{"options": ((DecodingOptions, NoneType), "DecodingOptions"), "min_score": ((int, float, NoneType), "a number")},
}
"""The types of arguments, and what errors call them. The others are checked where they are used."""


def _checked_arguments(given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a constructor by name. Raises TypeError, with its name, for an argument of a wrong type."""
    for name in given.keys() & _KINDS.keys():
        checked(name, given[name], *_KINDS[name])
    return given


def _check_raw(raw: bool, given: Mapping[str, object]) -> None:
    """Raise UsageError for arguments of what `raw` turns off: `given` has their values by name."""
    if raw and (named := [name for name, value in given.items() if value]):
        raise UsageError(f"raw is the model's own output and does not go with {' and '.join(named)}")


def _checked_rules(without: Sequence[str], rules: Collection[str]) -> tuple[str, ...]:
    """Return the names in `without`. Raises UsageError for one that is none of the `rules`."""
    if unknown := [name for name in checked_words("without", without) if name not in rules]:
        raise UsageError(f"without {unknown[0]!r}: no rule; the rules are {', '.join(rules)}")
    return tuple(without)


def _machine(
    device: Device, precision: Precision, engine: EngineName, threads: int | None, batch_size: int | None, offline: bool
) -> MachineOptions:
    given = {"batch_size": "auto" if batch_size is None else batch_size, "device": device, "precision": precision, "engine": engine}
    try:
        return MachineOptions(**checked_values(MachineOptions, given | {"threads": threads, "offline": offline}))
    except ModelError as error:
        raise UsageError(str(error)) from error


def _terms(glossary: Mapping[str, str] | str | Path | Sequence[str | Path]) -> list[Term]:
    """The terms of a glossary, given as a dictionary or as files. Raises InputError for a file that cannot be read, and for a term or a
    translation that contains no word.
    """
    if isinstance(glossary, Mapping):
        return given_terms(checked_terms("glossary", glossary))
    if not isinstance(glossary, Iterable | Path):
        raise wrong_type("glossary", "a mapping, or the path of a file or several", glossary)
    paths = [glossary] if isinstance(glossary, str | Path) else glossary
    return read_glossaries(Path(checked("glossary", path, (str, Path), "the path of a file")) for path in paths)


def _requested(options: DecodingOptions | None, machine: MachineOptions, draft_model: str | Path | None) -> DecodingOptions:
    """Options of a decoding with a draft model, if one is given, for batches of the size and memory of `machine`.

    Raises UsageError for a field of another type or range, and TypeError for a draft model that is neither a name nor a path.
    """
    if options is not None:
        try:
            checked_values(DecodingOptions, vars(options))
        except ModelError as error:
            raise UsageError(f"options: {error}") from error
    options = replace(options or DecodingOptions(), batch_size=machine.rows, memory=machine.batch_memory)
    if draft_model is None:
        return options
    return replace(options, draft_model=str(checked("draft_model", draft_model, (str, Path), "a name or a path")))


def _drafts_of(document: Document, translator: LineTranslator, batch_size: int) -> Drafts | None:
    """What finds the drafts that a message catalogue itself has: the translations of previous sources of its fuzzy entries.

    None for a document without such entries, or if RapidFuzz is not installed.
    """
    from specdec_cli.documents.po import Catalogue

    earlier = list(document.earlier()) if isinstance(document, Catalogue) else []
    if not earlier or find_spec("rapidfuzz") is None:
        return None
    from specdec_cli.memories.pairs import sentence_pairs
    from specdec_cli.memories.previous import PreviousVersion

    split = translator.splits
    old = (sentence_pairs((Pair(*each) for each in pairs), split=split, whole=not split) for pairs, _ in earlier)
    passages = ((list(pairs), translator.sentences(new)) for pairs, (_, new) in zip(old, earlier, strict=True))
    return Drafts(PreviousVersion(passages, SIMILARITY), DraftGate.for_batches(batch_size))


def _split(text: str) -> tuple[list[str], list[str]]:
    """The lines of a text, and the end of each; after the last end of line, there is a last line, which may be empty.

    Raises TypeError for what is no text, and InputError for half of a surrogate pair.
    """
    parts = _LINE_END.split(checked_text("text", text))
    return parts[::2], [*parts[1::2], ""]


def _decoded(data: bytes) -> str:
    """The text of a file of text. Raises InputError if it is not UTF-8, and TypeError for what is no bytes."""
    from specdec_cli.documents.reading import decode

    return decode(checked("data", data, bytes, "bytes"), "document")
