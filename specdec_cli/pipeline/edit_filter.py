"""Which edits are made: those with a score that is high enough and that lose no content."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isnan
from typing import Self

from specdec_cli.decoding.methods import DEFAULT_MODE
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle_info import BundleInfo
from specdec_cli.text.edits import Edit, count_words, edit_ratio

_ALWAYS = 2
"""The words of a longer sentence that may be replaced whatever share of it they are."""


@dataclass(frozen=True)
class EditFilter:
    """Decides which edits are made. An edit is rejected if its score (see `score_edits`) is below `minimum`. With `keeps_content`, edits
    that change digits or remove two or more words are rejected too.

    If an edit of a sentence passes, its other edits need only a score of `minimum_beside_others` (None: `minimum`),
    because errors often come together. Edits without a score are not rejected for it. `maximum_ratio` is the largest
    edit ratio of a sentence; above it the corrector makes no edits (see `are_too_many`). A sentence of at least
    `foreign_words` words counts as foreign, and is not edited, if it has more than `maximum_pieces` subwords per word
    (None: no sentence does). `offsets` are what `score_edits` adds to the scores by kind of edit; the thresholds were
    chosen with them. `is_tuned`: for the bundle, thresholds were chosen with this ratio.
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
