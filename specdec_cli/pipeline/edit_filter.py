"""Scores of edits, which say how sure the model is of each, and which edits are made: those with a high score that lose no content."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import accumulate
from math import inf, isnan
from typing import Self

from specdec_cli.decoding.methods import DEFAULT_MODE
from specdec_cli.decoding.sentence import Hypothesis
from specdec_cli.english.words import BE, DO, HAVE
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle_info import BundleInfo, ChangeKind
from specdec_cli.text.edits import Edit, apply_edits, count_words, edit_ratio, split_words
from specdec_cli.text.spelling.ngrams import SCORE_WEIGHT, NgramModel
from specdec_cli.text.tokenize.tokenizer import Tokenizer

_ALWAYS = 2
"""The words of a longer sentence that may be replaced whatever share of it they are."""


@dataclass(frozen=True)
class EditFilter:
    """Decides which edits are made. An edit is rejected if its score (see `score_edits`) is below `minimum`. With `keeps_content`, edits
    that change digits or remove two or more words are rejected too.

    If an edit of a sentence passes, its other edits need only a score of `minimum_beside_others` (None: `minimum`), because errors often
    come together. Edits without a score are not rejected for it. `maximum_ratio` is the largest edit ratio of a sentence; above it the
    corrector makes no edits (see `are_too_many`). A sentence of at least `foreign_words` words counts as foreign, and is not edited, if it
    has more than `maximum_pieces` subwords per word (None: no sentence does). `offsets` are what `score_edits` adds to the scores by kind
    of edit; the thresholds were chosen with them. `is_tuned`: for the bundle, thresholds were chosen with this ratio.
    """

    minimum: float | None = None
    minimum_beside_others: float | None = None
    maximum_ratio: float = 0.6
    maximum_pieces: float | None = None
    foreign_words: int = 4
    keeps_content: bool = True
    offsets: Mapping[str, float] = field(default_factory=dict)
    is_tuned: bool = False

    @classmethod
    def of(cls, info: BundleInfo, minimum: float | None = None, maximum_ratio: float | None = None, mode: str | None = None) -> Self:
        """Make the filter for a bundle and its `mode`, "balanced" by default. A `minimum` that is given applies to all
        edits, in place of the mode's scores.

        Without `maximum_ratio`, it is 0.6 for the task "correct" and unlimited for others. Content is kept only for
        the task "correct", because other rewriting tasks may drop words and change whole sentences. Raises UsageError
        for a mode that the bundle lacks, and for nan.
        """
        for name, value in (("min_score", minimum), ("max_edit_ratio", maximum_ratio)):
            if value is not None and isnan(value):
                raise UsageError(f"{name}: nan is not a number")
        corrects = info.task == "correct"
        if mode is not None and mode not in info.modes:
            modes_in_words = f"it has {', '.join(info.modes)}" if info.modes else "it has none"
            raise UsageError(f"mode {mode}: the bundle has no such mode; {modes_in_words}")
        scores = info.modes.get(mode or DEFAULT_MODE, (None, None))
        least, least_beside_others = scores if minimum is None else (minimum, None)
        return cls(
            least,
            least_beside_others,
            (cls.maximum_ratio if corrects else inf) if maximum_ratio is None else maximum_ratio,
            info.max_pieces,
            keeps_content=corrects,
            offsets=info.offsets,
            is_tuned=bool(info.modes),
        )

    def passing(self, edits: Sequence[Edit]) -> list[Edit]:
        """Return the accepted edits of a sentence, in order.

        If at least one edit passes with `minimum`, those that pass with `minimum_beside_others` are returned too;
        else none is. `maximum_ratio` and `maximum_pieces` are not applied here.
        """
        return self.possible(edits) if self.sure(edits) else []

    def possible(self, edits: Iterable[Edit]) -> list[Edit]:
        """Return the edits that lose no content and have at least the lower of the two scores: if another edit of the sentence is
        accepted, they are too.
        """
        return [edit for edit in edits if self.is_probable(edit) and self.keeps_content_of(edit)]

    def is_probable(self, edit: Edit) -> bool:
        """Whether an edit has at least the lower of the two scores."""
        least = self.minimum
        if least is not None and self.minimum_beside_others is not None:
            least = min(least, self.minimum_beside_others)
        return _has_score(edit, least)

    def keeps_content_of(self, edit: Edit) -> bool:
        """Whether an edit loses no content, or may do so."""
        if not self.keeps_content:
            return True
        same_digits = list(filter(str.isdigit, edit.source)) == list(filter(str.isdigit, edit.text))
        return same_digits and count_words(edit.source) - count_words(edit.text) < 2

    def sure(self, edits: Iterable[Edit]) -> list[Edit]:
        """Return the edits that are accepted on their own, with the threshold `minimum`."""
        return [edit for edit in edits if _has_score(edit, self.minimum) and self.keeps_content_of(edit)]

    def are_too_many(self, edits: Sequence[Edit], text: str) -> bool:
        """Whether `edits` change too large a share of the words of `text` (see `edit_ratio`).

        In a text of three words or more, two words may always be replaced, each by one, and marks be added: "he go home".
        """
        if edit_ratio(text, edits) <= self.maximum_ratio:
            return False
        counts = [(count_words(edit.source), count_words(edit.text)) for edit in edits]
        are_replaced = all(old == new for old, new in counts) and sum(old for old, _ in counts) <= _ALWAYS
        return not (are_replaced and self.maximum_ratio and count_words(text) > _ALWAYS)

    def is_foreign(self, text: str, tokens: int) -> bool:
        """Whether `text`, which has `tokens` subwords, has too many subwords per word to be in the model's language."""
        words = count_words(text)
        return self.maximum_pieces is not None and words >= self.foreign_words and tokens > self.maximum_pieces * words


def _has_score(edit: Edit, minimum: float | None) -> bool:
    """Whether an edit has at least the score `minimum`, or none."""
    return minimum is None or edit.score is None or edit.score >= minimum


_DIVISOR = 3
"""The verifier's part of the score of an edit is at most the log probability of all its tokens divided by this number."""


_SHORTEST_UNKNOWN, _SIMILAR = 4, 0.6
"""Letters of an unknown word, and the share of letters that two forms of a word, or a misspelling and its correction, have in common."""


def score_edits(
    text: str,
    edits: Sequence[Edit],
    output: Hypothesis,
    tokenizer: Tokenizer,
    ngrams: NgramModel | None = None,
    offsets: Mapping[str, float] | None = None,
) -> Iterator[Edit]:
    """Yield each of the `edits` with its score. They are all edits that turn `text` into `output`, in order; `output` must have log
    probabilities and end with EOS.

    The score is the smaller of two numbers. The first is the log probability of the first token in which the output differs from the
    output without this edit: there the model decides to change the text. The second is a third of the log probability of all tokens of
    the edit (of the token after it, for a deletion). It lowers the score where improbable tokens follow a probable one, as in a repetition.

    With `ngrams`, counts of correct text, the score is the sum of that number and of a twentieth of the logarithm of the ratio by which
    this edit alone makes the text more probable. So a usual phrase in place of one that nobody writes has a higher score, above 0 too.

    `offsets` by kind (see `change_kind`) are added to the scores, because a model is too sure of some kinds of edits and not
    sure enough of others.
    """
    others = tokenizer.encode_targets([apply_edits(text, [each for each in edits if each is not edit]) for edit in edits])
    sums, ends = [0.0, *accumulate(output.log_probabilities)], tokenizer.ends(output.ids)
    for edit, other in zip(edits, others, strict=True):
        without = tokenizer.add_target_tokens(other, output.ids[-1])
        pairs = enumerate(zip(output.ids, without, strict=False))
        decided = next((place for place, (token, unedited) in pairs if token != unedited), len(ends) - 1)
        first = min(bisect_right(ends, edit.output[0]), len(ends) - 1)
        last = min(bisect_left(ends, edit.output[1]), len(ends) - 1)
        whole = sums[max(first, last) + 1] - sums[first]
        score = min(output.log_probabilities[decided], whole / _DIVISOR)
        if ngrams is not None:
            score += SCORE_WEIGHT * ngrams.log_ratio(text, edit)
        if offsets:
            score += offsets.get(change_kind(edit.source, edit.text) or "", 0.0)
        yield edit._replace(score=score)


def change_kind(source: str, text: str) -> ChangeKind | None:
    """What a change of `source` into `text` is: words inserted, removed, or replaced by dissimilar ones; or marks, with the same letters.

    None for other changes: of case and spaces, of the form or the spelling of a word, and of the number of words.
    """
    old, new = (re.sub(r"[\W_]", "", part).lower() for part in (source, text))
    if old == new:
        before, after = ("".join(part.split()).lower() for part in (source, text))
        if before == after:
            return None
        return "mark_replaced" if len(before) == len(after) else "mark_inserted" if len(before) < len(after) else "mark_removed"
    if not old or not new:
        return "word_removed" if old else "word_inserted"
    if _are_similar(old, new) or any({source.lower(), text.lower()} <= forms for forms in (BE, DO, HAVE)):
        return None
    return "word_replaced" if len(source.split()) == len(text.split()) else None


def adds_unknown_word(edit: Edit, ngrams: NgramModel) -> bool:
    """Whether an edit replaces words that `ngrams` knows by an unknown one, such as "policys", which is probably not a word."""
    old, new = (filter(str.isalpha, split_words(text)) for text in (edit.source, edit.text))
    return all(map(ngrams.knows, old)) and not all(map(ngrams.knows, new))


def replaces_unknown_word(edit: Edit, ngrams: NgramModel) -> bool:
    """Whether an edit puts another word in the place of one that `ngrams` does not know, as "character" in that of a name. Words that are
    similar are corrections of its spelling.
    """
    unknown = [word for word in split_words(edit.source) if len(word) >= _SHORTEST_UNKNOWN and word.isalpha() and not ngrams.knows(word)]
    new = [word.lower() for word in split_words(edit.text)]
    return any(not any(_are_similar(word.lower(), other) for other in new) for word in unknown)


def _are_similar(word: str, other: str) -> bool:
    return SequenceMatcher(None, word, other, autojunk=False).ratio() >= _SIMILAR
