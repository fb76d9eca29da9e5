"""Correction of lines of text; text that no accepted edit changes is copied byte for byte."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Self, Unpack

from specdec_cli.decoding.sentence import Hypothesis
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.language_codes import short_code
from specdec_cli.model.bundle_info import Described
from specdec_cli.pipeline.decoded_text import DecodedLine, DecodedText
from specdec_cli.pipeline.edit_filter import EditFilter, score_edits
from specdec_cli.pipeline.edit_rules import FIRST, LAST, RULES, Context, Rejecting, applied, report_rejected, touches, unchanged_spans
from specdec_cli.pipeline.ignored_edits import IgnoredEdits, edits_outside
from specdec_cli.pipeline.lines import Languages, LineDecoder, LineOptions
from specdec_cli.text.checks import output_warnings
from specdec_cli.text.edits import Edit, apply_edits, find_edits, inverse_edits, merge_edits, with_outputs
from specdec_cli.text.locale.languages import is_latin
from specdec_cli.text.protect.characters import readable, with_apostrophes
from specdec_cli.text.protect.spans import without_protected
from specdec_cli.text.segment.paragraphs import find_continued, is_unfinished
from specdec_cli.text.shape import with_own_beginning, with_own_marks
from specdec_cli.text.spelling.constructions import apostrophes, repeated_spaces, spaces_beside_marks
from specdec_cli.text.spelling.ngrams import NgramModel
from specdec_cli.text.spelling.speller import Lexicon, Speller, spelling_rules
from specdec_cli.text.tags.markup import bare
from specdec_cli.text.tokenize.tokenizer import Tokenizer
from specdec_cli.text.view import Bare, Readable, unchanged

NOTHING_IGNORED = IgnoredEdits()
END, BEGINNING = "marks at the end", "beginning"
Spelt = Callable[[int, Edit, str], None]
"""Takes the number of a sentence, an edit that was made before the model read it, and the name of its rule."""


def correction_rules() -> list[str]:
    """The names of all rules of corrections, as --trace shows them; each may be off."""
    return [*spelling_rules(), *(rule.name for rule in (*RULES, *LAST)), END, BEGINNING]


@dataclass(frozen=True)
class Correction:
    """A corrected line and the edits that were made; `tokens`, `rounds` and the log probability `score` are sums over its sentences.

    `too_many` is the number of sentences that stay as they are because too large a share of their words would change; it is not counted for
    a bundle whose thresholds were chosen with this share. `score` is None if it was not computed. `sentences` are the ids of the model's
    output for each sentence. `decoding` is the decoding that was used ("" for a copied line); `warnings` name possible errors (see
    text/checks.py).
    """

    text: str
    edits: tuple[Edit, ...] = ()
    tokens: int = 0
    rounds: int = 0
    score: float | None = None
    sentences: tuple[tuple[int, ...], ...] = ()
    decoding: str = ""
    warnings: tuple[str, ...] = ()
    too_many: int = 0


class CorrectorOptions(LineOptions, total=False):
    """How lines are corrected, beside what LineOptions says. With `raw`, all edits are made that lead to the model's output, and no other
    option changes them; `without` are names of `correction_rules`.

    - `ignored` rejects edits that are not wanted. With `types`, edits have the types of their errors.
    - `on_rejected` is called for each edit of the model that a rule rejects (see edit_rules.py).
    - `on_spelt` is called with the number of the first sentence of a line and each edit that was made before the model read the line, and
      the name of its rule.
    """

    ignored: IgnoredEdits
    types: bool
    on_rejected: Rejecting | None
    on_spelt: Spelt | None


class LineCorrector:
    """Corrects lines with `engine` and keeps the edits that `edit_filter` passes; see CorrectorOptions for its options.

    Protected spans (see text/protect/spans.py) are not changed, nor is a sentence whose output has no EOS. Lines are decoded without their
    inline tags (see text/tags/markup.py) and emoji, which all remain, and with known characters for those that the tokenizer lacks (see
    text/protect/characters.py). With `ngrams`, if the bundle has them, edits are scored with these too, and none puts a word that they do
    not know in the place of known ones (see `adds_unknown_word`). With a `lexicon` too, misspelt and confused words are corrected before
    the model reads the text (see `Speller`), if these edits pass the filter. With the `languages` of the model, markup, code and text in
    other languages are copied (see LineDecoder), the punctuation at the ends of lines and sentences is kept if lines are split (see
    `with_own_marks`), and corrections have warnings.
    """

    def __init__(
        self,
        engine: SentenceDecoder,
        tokenizer: Tokenizer,
        edit_filter: EditFilter,
        *,
        languages: Languages | None = None,
        ngrams: NgramModel | None = None,
        lexicon: Lexicon | None = None,
        **options: Unpack[CorrectorOptions],
    ) -> None:
        self.engine, self.tokenizer, self._filter, self._ngrams = engine, tokenizer, edit_filter, ngrams
        self._on_rejected, self._on_spelt = options.get("on_rejected"), options.get("on_spelt")
        without, ignored = options.get("without", ()), options.get("ignored", NOTHING_IGNORED)
        language = "en" if languages is None else languages[1]
        self._rules, self._last = ([rule for rule in rules if rule.name not in without] for rules in (RULES, LAST))
        self._keeps_ends, self._keeps_beginnings = END not in without, BEGINNING not in without
        self._speller = Speller(lexicon, ngrams, language, without) if lexicon is not None and ngrams is not None else None
        self._eos = engine.eos
        self._too_many = 0
        self._checks = languages is not None
        self._latin = languages is not None and all(map(is_latin, languages))
        self._requested, self._ignored = NOTHING_IGNORED, NOTHING_IGNORED
        self._types = options.get("types", False) or bool(ignored.categories)
        self._english = languages is not None and short_code(languages[1]) == "en"
        self._splits, self._raw = options.get("split", True), options.get("raw", False)
        split, own, told = self._splits and not self._raw, None if self._raw else languages, options.get("on_tried")
        self._lines = LineDecoder(engine, tokenizer, languages=own, split=split, raw=self._raw, warn=options.get("warn"), on_tried=told)
        self.ignore(ignored)

    @classmethod
    def of_bundle(
        cls,
        engine: SentenceDecoder,
        bundle: Described,
        *,
        mode: str | None = None,
        min_score: float | None = None,
        max_edit_ratio: float | None = None,
        **options: Unpack[CorrectorOptions],
    ) -> Self:
        """The corrector of a bundle: with its languages, its filter of edits for `mode` or the least scores, and its words.

        Raises what `EditFilter.of` raises.
        """
        info = bundle.info
        kept, languages = EditFilter.of(info, min_score, max_edit_ratio, mode), (info.source_language, info.target_language)
        return cls(engine, bundle.tokenizer, kept, languages=languages, ngrams=bundle.ngrams, lexicon=bundle.lexicon, **options)

    def ignore(self, ignored: IgnoredEdits) -> None:
        """Make no edits that `ignored` rejects from now on; its categories are those of the constructor, or none."""
        if ignored is not self._requested:
            words = {readable(word, self.tokenizer.lacks).text for word in ignored.words}  # they are looked for in what the model reads
            self._ignored = replace(ignored, words=tuple(sorted(words - {""})))
            self._requested = ignored

    def correct(self, lines: Sequence[str], *, separate: bool = False, numbers: Sequence[int] = ()) -> Iterator[Correction]:
        """Yield a correction for each line, in order, as soon as it is available; blank lines are copied. `numbers` are those of the
        lines in their file, from which sampling draws.

        With `separate`, lines are parts of a document such as headings. The punctuation at their ends is kept. A line without any keeps
        the case of its first letter; so does a line in lower case after such a line, since only a line break may be between them.
        """
        if self._raw:
            return self._in_full(lines, separate=separate, numbers=numbers)
        plain = [bare(line) for line in lines]
        views = [readable(line.text, self.tokenizer.lacks) for line in plain]
        spelling = [self._misspelt(view.text) for view in views]
        texts = [apply_edits(view.text, edits) for view, edits in zip(views, spelling, strict=True)]
        if separate:
            goes_on = [is_unfinished(text) for text in texts]
            previous = [False, *goes_on][: len(texts)]
            continues = [own or (before and text[:1].islower()) for own, before, text in zip(goes_on, previous, texts, strict=True)]
        else:
            goes_on = find_continued(texts) if self._checks else [False] * len(lines)
            continues = [False, *goes_on][: len(texts)]
        correction = partial(self._correction, keeps_marks=separate or (self._checks and self._splits), closes=not separate)
        return map(correction, plain, views, spelling, self._lines.decode(texts, numbers=numbers), goes_on, continues)

    def _in_full(self, lines: Sequence[str], *, separate: bool, numbers: Sequence[int]) -> Iterator[Correction]:
        """The model's own output for each line; for parts of a document, which keeps its tags, that for what is between them."""
        plain = [bare(line) for line in lines] if separate else [unchanged(line) for line in lines]
        for each, line in zip(plain, self._lines.decode([each.text for each in plain], numbers=numbers), strict=True):
            found = self._with_types(each.text, find_edits(each.text, line.text), [tag.place for tag in each.tags])
            edits, ids = each.restored(found), tuple(tuple(part.ids) for part in line.parts)
            text = apply_edits(each.source, edits) if separate else line.text
            yield Correction(text, tuple(with_outputs(edits)), line.tokens, line.rounds, line.score, ids, line.decoding)

    def _misspelt(self, text: str) -> list[Edit]:
        """The edits that correct misspelt and confused words of a text, and spaces beside marks. The model reads the text with these
        edits made.
        """
        edits = [] if self._speller is None else self._filter.sure(self._speller.edits(text))
        if self._english:
            edits = sorted([*edits, *spaces_beside_marks(text)])
        if not edits:
            return []
        spelt = apply_edits(text, edits)
        if self._is_foreign(spelt):
            return []
        return self._ignored.passing(text, self._outside_protected(text, edits))

    def _correction(
        self,
        plain: Bare,
        view: Readable,
        spelling: list[Edit],
        line: DecodedLine,
        goes_on: bool,
        continues: bool,
        *,
        keeps_marks: bool,
        closes: bool,
    ) -> Correction:
        edits: list[Edit] = []
        too_many = self._too_many
        if self._on_spelt is not None and line.parts:
            for edit in spelling:
                name = "" if self._speller is None else self._speller.name_of(view.text, edit)
                self._on_spelt(line.parts[0].number, edit, name)
        taken_back = inverse_edits(spelling)
        start = 0
        marked = self._checks and (plain.is_enclosed or line.segments.has_marks)
        for number, (gap, decoded, part) in enumerate(zip(line.segments.gaps, line.texts, line.parts, strict=False)):
            start += len(gap)
            found = self._edits(decoded, part, view.text)
            if found is not None:
                taken_back = [edit for edit in taken_back if not start <= edit.start < start + len(decoded.text)]
            found = found or []
            is_continued, continues_text = number in line.segments.continued, number - 1 in line.segments.continued
            if self._keeps_ends and (keeps_marks or is_continued):
                ends = marked or is_continued or (goes_on and number == len(line.parts) - 1)
                left = with_own_marks(found, decoded.text, continues=ends, closes=closes)
                report_rejected(found, left, END, self._rejecting(part))
                found = left
            if self._keeps_beginnings and (marked or continues_text or (continues and number == 0)):
                left = with_own_beginning(found)
                report_rejected(found, left, BEGINNING, self._rejecting(part))
                found = left
            found = applied(self._last, found, self._context(decoded.text, view.text), self._rejecting(part))
            edits += [edit._replace(start=edit.start + start, end=edit.end + start) for edit in found]
            start += len(decoded.text)
        if spelling:
            edits = merge_edits(view.text, spelling, sorted([*edits, *taken_back], key=lambda edit: edit.start))
        reject = self._rejecting(line.parts[0]) if line.parts else None
        typed = self._with_types(view.text, self._outside_protected(view.text, edits), view.places([tag.place for tag in plain.tags]))
        wanted = self._ignored.passing(view.text, typed)
        report_rejected(edits, wanted, "protected or ignored", reject)
        restored = view.restored(wanted)
        kept = [edit for edit in restored if self._keeps_lacking(edit)]
        report_rejected(restored, kept, "signs that the model lacks", reject)
        edits = plain.restored(kept)
        if self._english:
            edits = self._with_own_edits(plain.source, edits)
        ids = tuple(tuple(part.ids) for part in line.parts)
        edits, text = with_outputs(edits), apply_edits(plain.source, edits)
        warnings = output_warnings(plain.source, text) if self._checks else ()
        unchanged = self._too_many - too_many
        return Correction(text, tuple(edits), line.tokens, line.rounds, line.score, ids, line.decoding, warnings, unchanged)

    def _with_own_edits(self, source: str, edits: list[Edit]) -> list[Edit]:
        """`edits` of a source, which the model reads without repeated spaces and with apostrophes in place of accents, and those that write
        it so where no other edit is.
        """
        rules = sorted([*repeated_spaces(source), *apostrophes(source)])
        found = [edit if self._types else edit._replace(types=()) for edit in rules]
        single = self._ignored.passing(source, self._outside_protected(source, found))
        free = [edit for edit in single if not any(other.start <= edit.end and edit.start <= other.end for other in edits)]
        return sorted([*edits, *free]) if free else edits

    def _outside_protected(self, text: str, edits: Sequence[Edit]) -> list[Edit]:
        """Return the `edits` of `text` that change no protected span."""
        return edits_outside(edits, unchanged_spans(text, latin=self._latin) if edits else [], touches)

    def _rejecting(self, part: Hypothesis) -> Callable[[Edit, str], None] | None:
        """What is called for each edit of the sentence with the output `part` that a rule rejects; None if nobody wants to know."""
        return None if self._on_rejected is None else partial(self._on_rejected, part.number)

    def _is_foreign(self, text: str, tokens: int | None = None) -> bool:
        """Whether a text, which has `tokens` subwords, is in another language. Its protected spans do not count."""
        prose = without_protected(text)
        return self._filter.is_foreign(prose, len(self.tokenizer.encode(prose)) if tokens is None or prose != text else tokens)

    def _context(self, text: str, line: str) -> Context:
        return Context(text, line, self._filter, self._ngrams, self._english, self._latin)

    def _keeps_lacking(self, edit: Edit) -> bool:
        """Whether an edit keeps the signs that the tokenizer lacks, and the letters for which it has not even bytes: the model could not
        read them.
        """
        tokenizer, lacking = self.tokenizer, filter(self.tokenizer.lacks, with_apostrophes(edit.source))
        signs = [each for each in lacking if not each.isspace() and not (each.isalnum() and tokenizer.has_bytes(each))]
        return Counter(signs) <= Counter(edit.text)

    def _edits(self, sentence: DecodedText, part: Hypothesis, line: str) -> list[Edit] | None:
        """The edits of one sentence of a line that are possible beside others; None if nothing in it is to be changed, not even misspelt
        words.
        """
        text, output = sentence.text, self.tokenizer.decode(part.ids)
        reject = self._rejecting(part)
        if part.ids[-1:] != [self._eos]:
            report_rejected(find_edits(text, output), [], "no end", reject)
            return None
        if output == text:
            return []
        if self._is_foreign(text, sentence.tokens):
            report_rejected(find_edits(text, output), [], "other language", reject)
            return None
        context = self._context(text, line)
        edits = applied(FIRST, find_edits(text, output), context, reject)
        if self._filter.are_too_many(edits, text):
            report_rejected(edits, [], "too many edits", reject)
            self._too_many += not self._filter.is_tuned
            return None
        if edits and part.log_probabilities:
            edits = list(score_edits(text, edits, part, self.tokenizer, self._ngrams, self._filter.offsets))
        return applied(self._rules, edits, context, reject)

    def _with_types(self, line: str, edits: list[Edit], tags: Sequence[int]) -> list[Edit]:
        """The edits of a line with the types of their errors, if these are wanted."""
        if not edits or not self._types:
            return edits
        from specdec_cli.error_types.annotation import with_types  # its tables are not needed for plain text

        return with_types(line, edits, english=self._english, tags=tags)
