"""The rules that reject edits of a sentence, in order, each with a name that `--trace` shows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from unicodedata import normalize

from specdec_cli.pipeline.edit_filter import EditFilter, adds_unknown_word, replaces_unknown_word
from specdec_cli.pipeline.ignored_edits import edits_outside
from specdec_cli.text.edits import Edit, Span, split_words
from specdec_cli.text.marks import STOPS
from specdec_cli.text.protect.spans import kind_of, protected_spans
from specdec_cli.text.shape import is_in_capitals, is_title, lowers_word
from specdec_cli.text.spelling.kept_words import (
    changes_abbreviation,
    changes_chat,
    changes_form,
    changes_name,
    changes_shortened,
    has_chat,
    is_in_small_letters,
    is_of_case,
)
from specdec_cli.text.spelling.ngrams import NgramModel

Rejecting = Callable[[int, Edit, str], None]
"""Takes the number of a sentence, an edit of it that is rejected, and the name of the rule."""


@dataclass(frozen=True)
class Context:
    """What the rules know of a sentence: its `text`, the `line` that it is in, whether it is `english`, whether it is Latin (see
    `protected_spans`), the filter and the counts of n-grams (None: not known).
    """

    text: str
    line: str
    filter: EditFilter
    ngrams: NgramModel | None
    english: bool
    latin: bool


class EditRule(NamedTuple):
    """A rule: of the edits of a sentence that earlier rules left, `passing` returns those that it leaves."""

    name: str
    passing: Callable[[Sequence[Edit], Context], Sequence[Edit]]


def applied(
    rules: Sequence[EditRule], edits: Sequence[Edit], context: Context, reject: Callable[[Edit, str], None] | None = None
) -> list[Edit]:
    """Return those of `edits` that all `rules` leave; `reject` is called for each other one with the name of the rule that rejects it."""
    for rule in rules:
        left = list(rule.passing(edits, context))
        report_rejected(edits, left, rule.name, reject)
        edits = left
    return list(edits)


def report_rejected(edits: Sequence[Edit], left: Sequence[Edit], name: str, reject: Callable[[Edit, str], None] | None) -> None:
    """Call `reject` for those of `edits` that are not among those that a rule has `left`."""
    if reject is not None and len(left) < len(edits):
        kept = {(edit.start, edit.end) for edit in left}
        for edit in edits:
            if (edit.start, edit.end) not in kept:
                reject(edit, name)


def _outside_protected(edits: Sequence[Edit], context: Context) -> list[Edit]:
    spans = unchanged_spans(context.text, latin=context.latin) if edits else []
    left = edits_outside(edits, spans, touches)
    # If the model spoilt a span, it perhaps added words beside it, too.
    return left if len(left) == len(edits) else edits_outside(left, spans, _adjoins)


def _english(rejects: Callable[[Edit, Context], bool]) -> Callable[[Sequence[Edit], Context], Sequence[Edit]]:
    """What leaves the edits of English that a condition does not reject."""
    return lambda edits, context: [edit for edit in edits if not (context.english and rejects(edit, context))]


def _of_known_words(edits: Sequence[Edit], context: Context) -> Sequence[Edit]:
    if context.ngrams is None:
        return edits
    ngrams = context.ngrams
    return [edit for edit in edits if not (adds_unknown_word(edit, ngrams) or replaces_unknown_word(edit, ngrams))]


def _is_of_name(edit: Edit, context: Context) -> bool:
    return changes_name(edit) or (changes_abbreviation(context.text, edit) and not is_in_capitals(context.text, "en"))


def _is_of_abbreviation(edit: Edit, context: Context) -> bool:
    return "." in context.text.rstrip()[:-1] and changes_shortened(context.text, edit, context.ngrams)


def _is_of_chat(edit: Edit, context: Context) -> bool:
    """Whether an edit changes a word of chats, or has a low score beside one: the model is less sure there than its scores say."""
    return changes_chat(context.text, edit) or (edit.score is not None and edit.score < 0 and has_chat(context.text))


def _with_small_letters(edits: Sequence[Edit], context: Context) -> Sequence[Edit]:
    """No edits of a line in small letters if none of them changes more than capitals and marks."""
    return [] if context.english and is_in_small_letters(context.line) and all(map(is_of_case, edits)) else edits


def _is_wrong_in_title(edit: Edit, context: Context) -> bool:
    return is_title(context.text) and (lowers_word(edit) or not _mends_title(edit, context))


def _mends_title(edit: Edit, context: Context) -> bool:
    """Whether an edit of a title is one of those that are accepted there: it corrects a misspelt word or a mark inside the title, removes a
    repeated word, or changes "a" to "an" or back. Others are not, because models turn titles into complete sentences.
    """
    if edit.end >= len(context.text.rstrip()) and edit.text.rstrip()[-1:] in tuple(STOPS):
        return False
    old, new = ([word for word in split_words(text.lower()) if word.isalpha()] for text in (edit.source, edit.text))
    if old == new or (old, new) in ((["a"], ["an"]), (["an"], ["a"])):
        return True
    if len(old) > len(new):
        left, right = split_words(context.text[: edit.start].lower()), split_words(context.text[edit.end :].lower())
        return not new and len(old) == 1 and old[0] in (*left[-1:], *right[:1])
    return context.ngrams is not None and not all(map(context.ngrams.knows, old))


def unchanged_spans(text: str, *, latin: bool = False) -> list[Span]:
    """The protected spans of a text (see `protected_spans`), emoticons with the space before them."""
    unchanged = []
    for start, end in protected_spans(text, latin=latin):
        kind = kind_of(text[start:end])
        is_emoticon = kind is not None and kind.name == "emoticon"
        unchanged.append((start - (is_emoticon and text[:start][-1:].isspace()), end))
    return unchanged


def touches(edit: Edit, start: int, end: int) -> bool:
    """Whether an edit changes the span from `start` to `end`, or adds text next to it without a space."""
    longer = edit.start == edit.end == end and not edit.text[:1].isspace()
    earlier = edit.start == edit.end == start and not edit.text[-1:].isspace()
    return longer or earlier or (edit.start < end and start < edit.end)


def _adjoins(edit: Edit, start: int, end: int) -> bool:
    """Whether an edit overlaps the span from `start` to `end`, or begins where it ends, or ends where it begins."""
    return edit.start <= end and start <= edit.end


def _of_other_characters(edits: Sequence[Edit], _: Context) -> Sequence[Edit]:
    """No edits that only write characters in their normal form (NFKC), as tokenizers of SentencePiece read them: an ellipsis as three full
    stops, or a ligature as two letters.
    """
    return [edit for edit in edits if normalize("NFKC", edit.source) != normalize("NFKC", edit.text)]


FIRST = (EditRule("protected", _outside_protected), EditRule("normal form", _of_other_characters))
"""The rules for edits that have no scores yet."""
RULES = (
    EditRule("low score", lambda edits, context: list(filter(context.filter.is_probable, edits))),
    EditRule("lost content", lambda edits, context: list(filter(context.filter.keeps_content_of, edits))),
    EditRule("unknown word", _of_known_words),
    EditRule("name", _english(_is_of_name)),
    EditRule("chat", _english(_is_of_chat)),
    EditRule("abbreviation", _english(_is_of_abbreviation)),
    EditRule("form", _english(lambda edit, context: changes_form(context.text, edit, latin=context.latin))),
    EditRule("title", _english(_is_wrong_in_title)),
)
"""The rules for edits with scores."""
LAST = (
    EditRule("low score alone", lambda edits, context: context.filter.passing(edits)),
    EditRule("small letters", _with_small_letters),
)
"""The last rules, after those for the ends of lines: an edit that is not made is no reason to make another one with a lower score."""
