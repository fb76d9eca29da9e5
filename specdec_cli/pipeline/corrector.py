"""Correction of lines of text; text that no accepted edit changes is copied byte for byte."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Self

from specdec_cli.decoding.names import DEFAULT_MODE
from specdec_cli.decoding.sentence import Hypothesis
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle_info import BundleInfo
from specdec_cli.pipeline.decoded_line import DecodedLine
from specdec_cli.pipeline.decoded_text import DecodedText
from specdec_cli.pipeline.decoder import SentenceDecoder
from specdec_cli.pipeline.edit_scores import adds_unknown_word, score_edits
from specdec_cli.pipeline.ignored_edits import IgnoredEdits, edits_outside
from specdec_cli.pipeline.lines import Languages, LineDecoder, Warn
from specdec_cli.text.edits import Edit, apply_edits, count_words, edit_ratio, find_edits
from specdec_cli.text.inline_tags import Bare, bare
from specdec_cli.text.languages import is_latin, short_code
from specdec_cli.text.line_ends import find_continued, is_unfinished, with_own_beginning, with_own_marks
from specdec_cli.text.ngrams import NgramModel
from specdec_cli.text.output_checks import output_warnings
from specdec_cli.text.protected import protected_spans
from specdec_cli.text.readable import Readable, readable
from specdec_cli.text.tokenizer import Tokenizer

NOTHING_IGNORED = IgnoredEdits()


@dataclass(frozen=True)
class EditFilter:
    """Rejects edits whose score (see `score_edits`) is below `minimum`, and with `keeps_content` edits that change
    digits or remove two or more words.

    If an edit of a sentence passes, its other edits need only a score of `minimum_beside_others` (None: `minimum`),
    because errors often come together. Edits without a score are not rejected for it. `maximum_ratio` is the largest
    edit ratio of a sentence; above it the corrector makes no edits. A sentence of at least `foreign_words` words
    counts as foreign, and is not edited, if it has more than `maximum_pieces` subwords per word (None: no sentence
    does).
    """

    minimum: float | None = None
    minimum_beside_others: float | None = None
    maximum_ratio: float = 0.6
    maximum_pieces: float | None = None
    foreign_words: int = 4
    keeps_content: bool = True

    @classmethod
    def of(cls, info: BundleInfo, minimum: float | None = None, maximum_ratio: float | None = None, mode: str | None = None) -> Self:
        """Make the filter for a bundle and its `mode`, "balanced" by default. A `minimum` that is given applies to all
        edits, in place of the mode's scores.

        Without `maximum_ratio`, it is 0.6 for the task "correct" and unlimited for others. Content is kept only for
        the task "correct", because other rewriting tasks may drop words and change whole sentences. Raises UsageError
        for a mode that the bundle lacks.
        """
        corrects = info.task == "correct"
        if mode is not None and mode not in info.modes:
            known = f"it has {', '.join(info.modes)}" if info.modes else "it has none"
            raise UsageError(f"mode {mode}: the bundle has no such mode; {known}")
        scores = info.modes.get(mode or DEFAULT_MODE, (None, None))
        least, least_beside_others = scores if minimum is None else (minimum, None)
        return cls(
            least,
            least_beside_others,
            (cls.maximum_ratio if corrects else inf) if maximum_ratio is None else maximum_ratio,
            info.max_pieces,
            keeps_content=corrects,
        )

    def passing(self, edits: Sequence[Edit]) -> list[Edit]:
        """Return those of the edits of a sentence that the filter does not reject, in order.

        If at least one edit passes with `minimum`, those that pass with `minimum_beside_others` are returned too;
        else none is. `maximum_ratio` and `maximum_pieces` are not applied here.
        """
        sure = [edit for edit in edits if self._passes(edit, self.minimum)]
        if not sure or self.minimum is None or self.minimum_beside_others is None:
            return sure
        return [edit for edit in edits if self._passes(edit, min(self.minimum, self.minimum_beside_others))]

    def _passes(self, edit: Edit, minimum: float | None) -> bool:
        """Whether an edit has at least the score `minimum` and loses no content."""
        doubtful = minimum is not None and edit.score is not None and edit.score < minimum
        if not self.keeps_content:
            return not doubtful
        same_digits = list(filter(str.isdigit, edit.source)) == list(filter(str.isdigit, edit.text))
        return not doubtful and same_digits and count_words(edit.source) - count_words(edit.text) < 2

    def is_foreign(self, text: str, tokens: int) -> bool:
        """Whether `text`, which has `tokens` subwords, has too many subwords per word to be in the model's language."""
        words = count_words(text)
        return self.maximum_pieces is not None and words >= self.foreign_words and tokens > self.maximum_pieces * words


@dataclass(frozen=True)
class Correction:
    """A corrected line and the edits that were made; `tokens`, `rounds` and the log probability `score` are sums
    over its sentences.

    `score` is None if it was not computed. `sentences` are the ids of the model's output for each sentence.
    `decoding` is the decoding that was used ("" for a copied line); `warnings` name possible errors (see
    text/output_checks.py).
    """

    text: str
    edits: tuple[Edit, ...] = ()
    tokens: int = 0
    rounds: int = 0
    score: float | None = None
    sentences: tuple[tuple[int, ...], ...] = ()
    decoding: str = ""
    warnings: tuple[str, ...] = ()


class Corrector:
    """Corrects lines with `engine` and keeps the edits that `edit_filter` passes; with `split`, lines are split into
    sentences.

    `warn` is called with the index of a line that is too long for the model, and a message; such a line is decoded
    in pieces. Protected spans (see text/protected.py) are not changed, nor is a sentence whose output has no EOS.
    Lines are decoded without their inline tags (see text/inline_tags.py) and emoji, which all remain, and with known
    characters for those that the tokenizer lacks (see text/readable.py). Edits that `ignored` rejects are not made;
    with `types`, the others have the types of their errors. With `ngrams`, if the bundle has them, edits are scored with these too, and
    none puts a word that they do not know in the place of known ones (see `adds_unknown_word`).
    With the `languages` of the model, markup, code and text in other languages are copied (see LineDecoder), the
    punctuation at the ends of lines and sentences is kept if lines are split (see `with_own_marks`), and corrections have warnings.
    """

    def __init__(
        self,
        engine: SentenceDecoder,
        tokenizer: Tokenizer,
        edit_filter: EditFilter,
        *,
        split: bool = True,
        warn: Warn | None = None,
        languages: Languages | None = None,
        ignored: IgnoredEdits = NOTHING_IGNORED,
        types: bool = False,
        ngrams: NgramModel | None = None,
    ) -> None:
        self.engine, self.tokenizer, self._filter, self._ngrams = engine, tokenizer, edit_filter, ngrams
        self._eos = engine.eos
        self._checks = languages is not None
        self._latin = languages is not None and all(map(is_latin, languages))
        words = {readable(word, tokenizer.lacks).text for word in ignored.words}  # they are looked for in what the model reads
        self._ignored, self._types = replace(ignored, words=tuple(sorted(words - {""}))), types or bool(ignored.categories)
        self._english = languages is not None and short_code(languages[1]) == "en"
        self._splits = split
        self._lines = LineDecoder(engine, tokenizer, split=split, warn=warn, languages=languages)

    def correct(self, lines: Sequence[str], *, separate: bool = False) -> Iterator[Correction]:
        """Yield a correction for each line, in order, as soon as it is available; blank lines are copied.

        With `separate`, lines are parts of a document such as headings. The punctuation at their ends is kept. A line without any keeps
        the case of its first letter; so does a line in lower case after such a line, since only a line break may be between them.
        """
        plain = [bare(line) for line in lines]
        views = [readable(line.text, self.tokenizer.lacks) for line in plain]
        texts = [view.text for view in views]
        if separate:
            goes_on = [is_unfinished(text) for text in texts]
            previous = [False, *goes_on[:-1]]
            continues = [own or (before and text[:1].islower()) for own, before, text in zip(goes_on, previous, texts, strict=True)]
        else:
            goes_on = find_continued(texts) if self._checks else [False] * len(lines)
            continues = [False, *goes_on[:-1]]
        correction = partial(self._correction, keeps_marks=separate or (self._checks and self._splits), closes=not separate)
        return map(correction, plain, views, self._lines.decode(texts), goes_on, continues)

    def _correction(
        self, plain: Bare, view: Readable, line: DecodedLine, goes_on: bool, continues: bool, *, keeps_marks: bool, closes: bool
    ) -> Correction:
        edits: list[Edit] = []
        start = 0
        marked = self._checks and (plain.is_enclosed or any(gap.strip() for gap in line.segments.gaps))
        for number, (gap, own, part) in enumerate(zip(line.segments.gaps, line.texts, line.parts, strict=False)):
            start += len(gap)
            found = self._edits(own, part)
            is_continued, continues_text = number in line.segments.continued, number - 1 in line.segments.continued
            if keeps_marks or is_continued:
                ends = marked or is_continued or (goes_on and number == len(line.parts) - 1)
                found = with_own_marks(found, own.text, continues=ends, closes=closes)
            if marked or continues_text or (continues and number == 0):
                found = with_own_beginning(found)
            edits += [replace(edit, start=edit.start + start, end=edit.end + start) for edit in found]
            start += len(own.text)
        wanted = view.restored(self._wanted(line.source, edits, view.places([tag.place for tag in plain.tags])))
        edits = plain.restored([edit for edit in wanted if self._keeps_lacking(edit)])
        ids = tuple(tuple(part.ids) for part in line.parts)
        text = apply_edits(plain.source, edits)
        warnings = output_warnings(plain.source, text) if self._checks else ()
        return Correction(text, tuple(edits), line.tokens, line.rounds, line.score, ids, line.decoding, warnings)

    def _keeps_lacking(self, edit: Edit) -> bool:
        """Whether an edit keeps the signs that the tokenizer lacks, which the model could not read."""
        signs = [each for each in edit.source if not (each.isalnum() or each.isspace()) and self.tokenizer.lacks(each)]
        return Counter(signs) <= Counter(edit.text)

    def _edits(self, sentence: DecodedText, part: Hypothesis) -> list[Edit]:
        """The edits of one sentence that pass the filter."""
        text, output = sentence.text, self.tokenizer.decode(part.ids)
        if part.ids[-1:] != [self._eos] or output == text:
            return []
        tokens = len(self.tokenizer.encode(text)) if sentence.tokens is None else sentence.tokens
        if self._filter.is_foreign(text, tokens):
            return []
        edits = find_edits(text, output)
        if edit_ratio(text, edits) > self._filter.maximum_ratio:
            return []
        if edits and part.log_probabilities:
            edits = list(score_edits(text, edits, part, self.tokenizer, self._ngrams))
        if self._ngrams is not None:
            edits = [edit for edit in edits if not adds_unknown_word(edit, self._ngrams)]
        return self._filter.passing(edits)

    def _wanted(self, line: str, edits: Sequence[Edit], tags: Sequence[int]) -> list[Edit]:
        """The edits of a line that change no protected span and are not ignored, with their types if these are wanted."""
        spans = protected_spans(line, latin=self._latin) if edits else []
        found = edits_outside(edits, spans, _touches)
        if found and self._types:
            from specdec_cli.error_types.annotation import with_types  # its tables are not needed for plain text

            found = with_types(line, found, english=self._english, tags=tags)
        return self._ignored.passing(line, found)


def _touches(edit: Edit, start: int, end: int) -> bool:
    """Whether an edit changes the span from `start` to `end`, or adds text next to it without a space."""
    longer = edit.start == edit.end == end and not edit.text[:1].isspace()
    earlier = edit.start == edit.end == start and not edit.text[-1:].isspace()
    return longer or earlier or (edit.start < end and start < edit.end)
