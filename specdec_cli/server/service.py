"""The models of the server and their languages, and the limits within which requests are decoded by them."""

import asyncio
import re
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from itertools import islice
from math import ceil
from typing import Any, NoReturn, Self, TypeVar

from starlette.requests import Request

from specdec_cli.decoding.options import Decoding
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.errors import UsageError, counted
from specdec_cli.language_codes import short_code
from specdec_cli.model.bundle_info import Described
from specdec_cli.pipeline.corrector import NOTHING_IGNORED, Correction, LineCorrector
from specdec_cli.pipeline.ignored_edits import IgnoredEdits
from specdec_cli.pipeline.translator import LineTranslator, Translation
from specdec_cli.server.board import in_thread
from specdec_cli.server.guard import ClientLeft, Keys, Limits, OutOfTime, RequestError
from specdec_cli.server.monitoring import Log, Metrics
from specdec_cli.server.queue import BatchDecoder, Overloaded, Pool
from specdec_cli.server.texts import USUAL, Manner, Piece, Pieces, numbered, split_lines, split_pieces
from specdec_cli.text.glossary import Glossary
from specdec_cli.text.io.word_list import WordList
from specdec_cli.text.labels import Labels
from specdec_cli.text.locale.languages import likeliest_language
from specdec_cli.text.segment.code import code_lines

NAMES = {
    "ar": "Arabic",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fi": "Finnish",
    "fr": "French",
    "hu": "Hungarian",
    "it": "Italian",
    "ja": "Japanese",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sv": "Swedish",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "zh": "Chinese",
}
_VARIANTS = {
    "de": {"de-DE": "German (Germany)", "de-AT": "German (Austria)", "de-CH": "German (Swiss)"},
    "en": {"en-US": "English (US)", "en-GB": "English (GB)", "en-AU": "English (Australian)", "en-CA": "English (Canadian)"},
    "pt": {"pt-PT": "Portuguese (Portugal)", "pt-BR": "Portuguese (Brazil)"},
    "zh": {"zh-CN": "Chinese"},
}


def name_of(language: str) -> str:
    """The English name of a language; its code if that is not known."""
    return NAMES.get(language, language)


def variants_of(language: str) -> dict[str, str]:
    """The names of a language and of its regional variants, by their codes; the language itself comes first."""
    return {language: name_of(language)} | _VARIANTS.get(language, {})


_WORD = re.compile(r"\w+")


def variants(join: Callable[[Sequence[str]], str], outputs: Sequence[Sequence[str]]) -> list[str]:
    """The texts of different words that `join` makes of the n-th output of each part, or its last one, for n = 0, 1, ..

    `outputs` has the outputs of each part, at least one and the best first.
    """
    distinct = [_different(each) for each in outputs]
    ranks = range(max(map(len, distinct), default=1))
    return list(dict.fromkeys(join([each[min(rank, len(each) - 1)] for each in distinct]) for rank in ranks))


def _different(texts: Iterable[str]) -> list[str]:
    """The first of all texts with the same words, whatever their punctuation is."""
    texts_of: dict[tuple[str, ...], str] = {}
    for text in texts:
        texts_of.setdefault(tuple(_WORD.findall(text)) or (text,), text)
    return list(texts_of.values())


T = TypeVar("T")
D = TypeVar("D", Translation, Correction)
Pair = tuple[str, str]
"""Source and target language."""
_LONGEST_RETRY = 60
_LONG = 2000
_NO_HEADERS: Mapping[str, str] = {}
_UNWATCHED = 0.05
"""Seconds after which the server watches whether the client of a request still waits. Most requests are answered before, and watching
them takes processor time."""


@dataclass
class Service:
    """The decoders of the server: of translation by source and target language, of correction by language, and those that find
    several translations of a text by beam search (`alternatives`), by source and target language.
    `words` is the list to which clients may add words, None without one. `decodings` and `labels` are those of the `translators`.

    Languages are two-letter codes, or other short ones. The decoders run inside a `with` block, in the threads of `pool`.
    """

    pool: Pool
    translators: dict[Pair, BatchDecoder[Translation]]
    correctors: dict[str, BatchDecoder[Correction]]
    limits: Limits = field(default_factory=Limits)
    keys: Keys = field(default_factory=Keys)
    log: Log = field(default_factory=Log)
    metrics: Metrics = field(default_factory=Metrics)
    alternatives: dict[Pair, BatchDecoder[Translation]] = field(default_factory=dict)
    words: WordList | None = None
    decodings: dict[Pair, Decoding] = field(default_factory=dict)
    labels: dict[Pair, Labels] = field(default_factory=dict)
    in_progress: int = 0

    def __post_init__(self) -> None:
        self.metrics.watch(lambda: self.in_progress, lambda: self.pool.backlog)

    def __enter__(self) -> Self:
        self.pool.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.stop()

    @property
    def languages(self) -> dict[str, list[str]]:
        """The pairs of languages that are translated, such as "en-de", and the languages that are corrected."""
        return {"translates": ["-".join(pair) for pair in self.translators], "corrects": list(self.correctors)}

    def check_size(self, characters: int) -> None:
        """Raise RequestError for a request of more characters than the limit."""
        if characters > self.limits.characters:
            raise RequestError(413, f"Invalid request: {counted(characters, 'character')}, more than the limit of {self.limits.characters}")

    async def prepare(self, work: Callable[[], T], characters: int) -> T:
        """Return what `work` returns for a text of `characters` characters; for a long text, in a thread, so that other requests go on."""
        return await in_thread(work) if characters > _LONG else work()

    async def translate(
        self,
        pair: Pair,
        texts: Sequence[str],
        split: Callable[[str], Pieces] = split_pieces,
        manner: Manner = USUAL,
    ) -> list[str]:
        """Translate texts of the languages `pair`, which must be one of `translators`; `split` divides a text into pieces, and is not used
        if the `manner` is raw.
        """
        split = split_lines if manner.raw else split
        pieces = await self.prepare(lambda: [split(text) for text in texts], sum(map(len, texts)) + len(texts))
        decoded = await self._translated(self.translators[pair], list(numbered(pieces, manner)))
        outputs = iter(each.text for each in decoded)
        return [each.join(list(islice(outputs, len(each.texts)))) for each in pieces]

    async def translate_variously(self, pair: Pair, texts: Sequence[str], manner: Manner = USUAL) -> list[list[str]]:
        """Several translations of each text: that of `translate`, and then those of beam search, if there is a model for it."""
        if pair not in self.alternatives:
            return [[text] for text in await self.translate(pair, texts, manner=manner)]
        pieces = await self.prepare(lambda: [split_pieces(text) for text in texts], sum(map(len, texts)))
        works = (self.translators[pair], manner), (self.alternatives[pair], manner._replace(rule=None))
        decoded, ranked = await together(self._translated(decoder, list(numbered(pieces, own))) for decoder, own in works)
        found = ([best.text, *(text for text, _ in other.hypotheses)] for best, other in zip(decoded, ranked, strict=True))
        return [variants(each.join, list(islice(found, len(each.texts)))) for each in pieces]

    async def _translated(self, decoder: BatchDecoder[Translation], lines: Sequence[str]) -> list[Translation]:
        return await self._decoded("translate", decoder, lines)

    async def correct(self, language: str, lines: list[str]) -> list[Correction]:
        """Correct lines of a language, which must be one of `correctors`."""
        return await self._decoded("correct", self.correctors[language], lines)

    async def _decoded(self, task: str, decoder: BatchDecoder[D], lines: Sequence[str]) -> list[D]:
        try:
            decoded = await decoder.decode(lines)
        except Overloaded as error:
            self.refuse("backlog", "too much text is waiting; try again later", error.seconds)
        totals = sum(each.tokens for each in decoded), sum(each.rounds for each in decoded)
        self.metrics.count_decoded(task, sum(map(len, lines)), *totals)
        return decoded

    def admit(self) -> None:
        """Raise RequestError (429) if as many requests are in progress as the limit allows."""
        if self.in_progress >= self.limits.requests:
            self.refuse("requests", "too many requests are waiting; try again later", self.pool.backlog.seconds)

    def refuse(self, reason: str, message: str, seconds: float = 0.0, headers: Mapping[str, str] = _NO_HEADERS) -> NoReturn:
        """Count a refusal and raise RequestError (429); after `seconds`, 1 to 60, the client may try again."""
        self.metrics.count_refusal(reason)
        raise RequestError(429, message, {"Retry-After": str(min(max(ceil(seconds), 1), _LONGEST_RETRY))} | dict(headers))

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Count a request as in progress inside the block."""
        self.in_progress += 1
        try:
            yield
        finally:
            self.in_progress -= 1

    async def run(self, request: Request, work: Awaitable[T]) -> T:
        """Wait for `work`, within the limits of the server; it is cancelled if time runs out or the client leaves.

        The body of the request must have been read. Raises RequestError if too many requests are in progress (429) or
        time runs out (OutOfTime), and ClientLeft.
        """
        task = asyncio.ensure_future(work)
        try:
            self.admit()
            with self.in_use():
                async with asyncio.timeout(self.limits.seconds):
                    await _wait(task, request)
        except TimeoutError as error:
            raise OutOfTime(self.limits.seconds) from error
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})  # the process of a document has ended when its request has
        return task.result()


async def together(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Return the results of `works`, which run at the same time; if one raises an exception, cancel the others and raise it."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in works]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]


async def _wait(task: "asyncio.Future[T]", request: Request) -> None:
    """Wait until `task` is done. Raises ClientLeft if the client closes its connection before that."""
    await asyncio.wait({task}, timeout=_UNWATCHED)
    if task.done():
        return
    left = asyncio.ensure_future(_disconnected(request))
    waited: set[asyncio.Future[Any]] = {task, left}
    try:
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
    finally:
        left.cancel()
    if not task.done():
        raise ClientLeft


async def _disconnected(request: Request) -> None:
    """Wait until the client closes its connection."""
    with suppress(asyncio.CancelledError):
        while (await request.receive())["type"] != "http.disconnect":
            pass


def codes_of(service: Service) -> list[str]:
    """The codes of all languages from which or into which a service translates."""
    return list(dict.fromkeys(code for pair in service.translators for code in pair))


def guessed(service: Service, text: str, target: str = "") -> dict[str, Any]:
    """The most likely language of a text among those of `codes_of`; without a sign of one, the first that has this target.

    The result has the keys of LibreTranslate: `language`, and `confidence` in percent.
    """
    language, share = _labelled(service, text) or likeliest_language(text, codes_of(service))
    if language is None:
        language = next((one for one, other in service.translators if target in ("", other)), "en")
    return {"confidence": round(100 * share, 1), "language": language}


def _labelled(service: Service, text: str) -> tuple[str, float] | None:
    """The language in which a text is a label, such as Hallo, and certainty; None if it is one in no language or in several."""
    found = {source for (source, _), labels in service.labels.items() if labels.find(text.strip()) is not None}
    return (found.pop(), 1.0) if len(found) == 1 else None


def unsupported(service: Service, source: str, target: str) -> str:
    """The message for a pair of languages that no model translates."""
    pairs = ", ".join(f"{one} to {other}" for one, other in service.translators) or "none"
    return f"{source} to {target} is not supported; this server translates: {pairs}"


@dataclass(frozen=True)
class Words:
    """What the user says about words: the `glossary` of translations, None without one, the edits that corrections do not make, whether
    labels are translated by the lists of the bundles, and the list of words that are right, which clients change; None without one.
    """

    glossary: Glossary | None = None
    ignored: IgnoredEdits = NOTHING_IGNORED
    uses_labels: bool = True
    listed: WordList | None = None


NO_WORDS = Words()


def add_model(service: Service, bundle: Described, engine: SentenceDecoder, threads: int = 1, words: Words = NO_WORDS) -> None:
    """Add a decoder for the model of `bundle` to `service`, and measure its speed.

    `engine` must allow calls by `threads` threads at the same time.

    Raises UsageError for a model that neither translates nor corrects, and for a second one of the same languages.
    """
    info = bundle.info
    pair = short_code(info.source_language), short_code(info.target_language)
    where = bundle.path.parent if bundle.path is not None else "the bundle"
    on_batch = partial(service.metrics.count_batch, info.task)
    decode = make_decode(bundle, engine, words, types=True)
    decoder: BatchDecoder[Any] = BatchDecoder(decode, service.pool, threads, on_batch)
    if info.task == "translate":
        if pair in service.translators:
            raise UsageError(f"{where}: another model translates from {pair[0]} to {pair[1]} already")
        service.translators[pair], service.decodings[pair] = decoder, engine.decoding
        if bundle.labels is not None:
            service.labels[pair] = bundle.labels
    else:
        if pair[0] in service.correctors:
            raise UsageError(f"{where}: another model corrects {pair[0]} already")
        service.correctors[pair[0]] = decoder
    engine.meanwhile = decoder.check
    decoder.measure()


def add_alternatives(service: Service, bundle: Described, open_beam: Callable[[], SentenceDecoder], words: Words) -> None:
    """Let `service` find several translations of a text with the model of `bundle`; `open_beam` loads an engine of beam search at
    their first use.
    """

    opening = threading.Lock()

    @cache
    def decode() -> Callable[[Sequence[str]], Iterable[Any]]:
        engine = open_beam()
        engine.meanwhile = decoder.check
        return make_decode(bundle, engine, words)

    def prepare() -> None:
        with opening:
            if not decode.cache_info().currsize:
                decode()
                decoder.measure()

    info = bundle.info
    on_batch = partial(service.metrics.count_batch, info.task)
    decoder: BatchDecoder[Any] = BatchDecoder(lambda lines: decode()(lines), service.pool, 1, on_batch, prepare)
    service.alternatives[short_code(info.source_language), short_code(info.target_language)] = decoder


def make_decode(
    bundle: Described, engine: SentenceDecoder, words: Words = NO_WORDS, *, types: bool = False
) -> Callable[[Sequence[str]], Iterable[Any]]:
    """Make the function that translates or corrects lines with the model of `bundle`, each on its own.

    With `types`, edits have the types of their errors.

    Raises UsageError for a model that neither translates nor corrects.
    """
    info = bundle.info
    if info.task == "translate":

        def translator(manner: Manner) -> LineTranslator:
            decoder = engine if manner.rule is None else engine.with_rule(manner.rule)
            made = LineTranslator.of_bundle(decoder, bundle, labels=words.uses_labels, raw=manner.raw, without=manner.without)
            if words.glossary is not None and not manner.raw:
                made.use_glossary(words.glossary)
            return made

        return partial(_translate_apart, translator)
    if info.task == "correct":
        corrector = LineCorrector.of_bundle(engine, bundle, ignored=words.ignored, types=types)
        return partial(_correct_apart, corrector, words)
    where = bundle.path.parent if bundle.path is not None else "the bundle"
    raise UsageError(f"{where}: its task is {info.task}; the server translates and corrects")


def _translate_apart(translator: Callable[[Manner], LineTranslator], lines: Sequence[str]) -> Iterator[Translation]:
    """Translate lines that belong to different texts, those of one manner together. If some are code, blank lines keep them apart: whether
    others are may depend on the lines beside them.
    """
    pieces = [line if isinstance(line, Piece) else Piece(line) for line in lines]
    indices_of: dict[Manner, list[int]] = {}
    for index, piece in enumerate(pieces):
        indices_of.setdefault(piece.manner, []).append(index)
    translations: dict[int, Translation] = {}
    done = 0
    for manner, indices in indices_of.items():
        gap = [Piece()] if any(code_lines([pieces[index] for index in indices])) else []
        apart = [each for index in indices for each in (pieces[index], *gap)]
        separate, numbers = [each.is_fragment for each in apart], [each.number for each in apart]
        translated = islice(translator(manner).translate(apart, separate=separate, numbers=numbers), 0, None, 1 + len(gap))
        for index, translation in zip(indices, translated, strict=True):
            translations[index] = translation
            while done in translations:
                yield translations.pop(done)
                done += 1


@lru_cache(maxsize=2)
def _with_words(ignored: IgnoredEdits, words: tuple[str, ...]) -> IgnoredEdits:
    return ignored.with_words(words)


def _correct_apart(corrector: LineCorrector, words: Words, lines: Sequence[str]) -> Iterator[Correction]:
    """Correct lines of which none continues in the next one: they belong to different texts or paragraphs."""
    if words.listed is not None:
        corrector.ignore(_with_words(words.ignored, words.listed.words))
    return islice(corrector.correct([each for line in lines for each in (line, "")]), 0, None, 2)
