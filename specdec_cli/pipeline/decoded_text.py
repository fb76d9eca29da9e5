"""A line and its parts that are decoded: their variants, drafts and outputs."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from operator import itemgetter
from typing import Self

from specdec_cli.decoding.methods import COPIED, GIVEN
from specdec_cli.decoding.sentence import Hypothesis
from specdec_cli.memories.found import FoundDraft
from specdec_cli.pipeline.drafts import DraftUse
from specdec_cli.pipeline.variants import Restored, Variant
from specdec_cli.text.checks import BROKEN, has_broken_characters
from specdec_cli.text.segment.sentences import Segments
from specdec_cli.text.shape import Place, shaped
from specdec_cli.text.tags.markup import NO_TAGS, InlineTags, tags_inside

Scored = tuple[str, float]
"""A text with its log probability."""
_BROKEN = re.compile(rf"(?:(?<![ \u00a0])[ \u00a0]+)?+{BROKEN}+")


@dataclass(frozen=True)
class Candidate:
    """A variant that was decoded to the hypotheses `parts`, whose texts are `outputs`, and the output for the text; None if it cannot be
    taken.
    """

    variant: Variant
    parts: list[Hypothesis]
    outputs: tuple[str, ...]
    restored: Restored | None


Trying = Callable[[int, Sequence[Candidate], Variant], None]
"""Takes the index of a line, the candidates for a text of it, in the order in which they were decoded, and the variant that was chosen."""


class DecodedText:
    """The state of a part of a line, `text`, while it is decoded in one or more variants.

    - `line`: the index of its line among those that are decoded together.
    - `tokens`: its number of tokens without special ones; None if they were not counted.
    - `variants`: yields the variants in the order in which they are tried until an output has no problem; at least one has an output.
    - `variant`, `parts`: the variant that is being decoded, and its hypotheses.
    - `tried`: the variants that were decoded before it; in the end, all of them.
    - `output`: None until one is chosen.
    - `place`: where it stands; None for an output that stays as the model wrote it.
    - `draft`: the draft that was found for `text`; with `copied`, it is the output, or a translation that is known without the model is.
    - `is_waiting`: terms may still change the output, or tags are still to be placed.
    - `replaced`: the hypotheses that did not have the terms.
    - `is_doubtful`: the output has terms, but may be a poor translation.
    - `is_left`: the model's translation is empty, and the output is the text itself.
    - `tags`: the inline tags that were inside `text`.
    - `tagged`: the output with the tags; None until they are placed.
    """

    def __init__(
        self,
        text: str,
        variants: Iterator[Variant],
        *,
        tokens: int | None = None,
        place: Place | None = Place(),  # noqa: B008  # it cannot be changed
        tags: InlineTags = NO_TAGS,
        languages: tuple[str, str] = ("", ""),
        line: int = 0,
        position: tuple[int, int] = (0, 0),
    ) -> None:
        self.text, self.tokens, self.tags, self.line, self._languages = text, tokens, tags, line, languages
        self.tagged: str | None = None
        self._variants, self._place = variants, place
        self.output: str | None = None
        self.draft: FoundDraft | None = None
        self.copied = False
        self.is_waiting = False
        self.is_doubtful = False
        self.is_left = False
        self.replaced: list[Hypothesis] = []
        self._position = position
        self.tried: list[Candidate] = []
        self._cost = 0
        self.variant, self.parts = next(variants), list[Hypothesis]()

    @property
    def finished(self) -> bool:
        """Whether all texts of the present variant are decoded; `settle` may not have been called, so `output` may still be None."""
        return len(self.parts) == len(self.variant.segments.texts)

    def take_draft(self, found: FoundDraft | None, *, copied: bool) -> None:
        """Keep the draft that was found for `text`; if it is `copied`, it becomes the output, with its own tags if the tags of
        the sources are equal.
        """
        self.draft, self.copied = found, copied
        if copied and found is not None:
            self.output = found.text
            source, target = found.tagged
            if source and tags_inside(source) == self.tags:
                self.tagged = target

    def take_known(self, translation: str) -> None:
        """Make a `translation` that is known without the model the output, whatever draft there was."""
        self.output, self.draft, self.copied = translation, None, True

    @property
    def target_draft(self) -> str | None:
        """The draft for the text of the present variant; None if there is no draft, or if the variant has several texts."""
        is_one = self.draft is not None and len(self.variant.segments.texts) == 1
        return self.variant.draft(self.draft.text) if is_one and self.draft is not None else None

    def settle(self, decode: Callable[[Sequence[int]], str]) -> bool:
        """Compute `output` from the decoded ids, which `decode` converts to text, and return True.

        If the output of the present variant has a problem, start the next variant and return False; if there is none, take the best output.
        """
        self.parts.sort(key=lambda part: part.number)
        outputs = tuple(decode(part.ids) for part in self.parts)
        restored = self._restored(outputs)
        self.tried.append(Candidate(self.variant, self.parts, outputs, restored))
        if restored is None or restored.problems:
            following = next(self._variants, None)
            if following is not None:
                self.variant, self.parts = following, []
                return False
        candidates = [(each, each.restored) for each in self.tried if each.restored is not None]
        chosen, found = min(candidates, key=lambda each: each[1].cost)
        self.variant, self.parts, self.output, self._cost = chosen.variant, chosen.parts, found.text, found.cost
        self.is_left = self._languages[0] != self._languages[1] and not found.text.strip()
        if self.is_left:
            self.output = self.text
        return True

    def ranked(self, limit: int, decode: Callable[[Sequence[int]], str]) -> list[Scored]:
        """Up to `limit` different outputs that have all protected spans, with their log probabilities, best first.

        They combine the n best outputs of the texts of the variant, which `decode` converts to text; without any, there is `output` alone.
        """
        outputs: dict[str, float] = {}
        options = [_texts(part, decode) for part in self.parts]
        for texts, score in best_combinations(options, limit) if options else ():
            if (output := self._placed(texts)) is not None:
                outputs.setdefault(output, score)
        return list(outputs.items()) or [(self.output or "", 0.0)]

    def with_part(self, place: int, part: Hypothesis, decode: Callable[[Sequence[int]], str]) -> str | None:
        """The output with `part` as hypothesis for the text `place` of the variant; None if it cannot be taken, or has other
        problems that cost more.
        """
        return self._placed([decode((part if number == place else own).ids) for number, own in enumerate(self.parts)])

    def replace_part(self, place: int, part: Hypothesis, decode: Callable[[Sequence[int]], str]) -> None:
        """Make `part` the hypothesis for the text `place` of the variant, with which the output must be one that can be taken."""
        self.output = self.with_part(place, part, decode)
        self.replaced.append(self.parts[place])
        self.parts[place] = part

    def _placed(self, outputs: Sequence[str]) -> str | None:
        restored = self._restored(outputs)
        return None if restored is None or restored.cost > self._cost else restored.text

    def _restored(self, outputs: Sequence[str]) -> Restored | None:
        """The output for the text, given outputs for the texts of the variant, and its problems; None if it cannot be taken."""
        restored = self.variant.restore(outputs)
        if restored is None or not restored.text or self._place is None:
            return restored
        output = _BROKEN.sub("", restored.text) if has_broken_characters(restored.text, self.text) else restored.text
        return restored._replace(text=shaped(output, self.text, self._place, self._languages))

    def random_stream(self, part: int) -> tuple[int, int]:
        """The random stream of a text of the present variant: two words of 32 bits that no other text of the file has, as far as they
        have room.
        """
        line, place = self._position
        return line % 2**32, (place % 2**16) << 16 | ((len(self.tried) + 1) % 2**8) << 8 | part % 2**8


def _texts(part: Hypothesis, decode: Callable[[Sequence[int]], str]) -> list[Scored]:
    """The different texts of the n best outputs of a part with their log probabilities, best first."""
    ranked = sorted(part.alternatives, key=lambda each: each.log_probability)
    scores = {decode(each.ids): each.log_probability for each in ranked} or {decode(part.ids): part.score or 0.0}
    return sorted(scores.items(), key=lambda each: each[1], reverse=True)


def best_combinations(options: Sequence[Sequence[Scored]], limit: int) -> list[tuple[tuple[str, ...], float]]:
    """Return the `limit` best combinations of one text of each list, with the sums of their scores, best first; so are the lists.

    The best combinations of the first lists are combined with the next list (Huang and Chiang 2005, "Better k-best Parsing").
    """
    combinations: list[tuple[tuple[str, ...], float]] = [((), 0.0)]
    for ranked in options:
        # i * j - 1 others are as good as the combination of the ranks i and j or better, so that i * j is at most `limit`.
        pairs = (
            ((*texts, text), total + score)
            for rank, (texts, total) in enumerate(combinations, 1)
            for text, score in ranked[: limit // rank]
        )
        combinations = nlargest(limit, pairs, key=itemgetter(1))
    return combinations


@dataclass
class DecodedLine:
    """A line without its inline tags, its segments (gaps, which are copied, and texts), and the decoded texts; a blank line has none.

    In the gaps of `tagged` are also the tags that are around texts and between them.
    """

    source: str
    segments: Segments
    tagged: Segments
    texts: list[DecodedText] = field(default_factory=list)
    _finished: int = 0

    @classmethod
    def copied(cls, line: str) -> Self:
        """A line of which nothing is decoded."""
        segments = Segments((), (line,))
        return cls(line, segments, segments)

    @property
    def parts(self) -> list[Hypothesis]:
        """The hypotheses of all texts of the line, in order."""
        return [part for text in self.texts for part in text.parts]

    @property
    def decoding(self) -> str:
        """The name of the decoding that was used: of those of its sentences the first that is not "greedy"; COPIED for
        earlier translations, labels and quantities alone, "" for a line that is copied to the output.
        """
        names = [part.decoding for part in self.parts] or [COPIED for text in self.texts if text.copied]
        return next((name for name in names if name != "greedy"), names[0] if names else "")

    @property
    def accepted(self) -> int:
        """The number of tokens of given drafts that were accepted, summed over all sentences of the line: each round
        adds one token of the verifier to them.
        """
        return sum(len(part.ids) - part.rounds for part in self._drafted)

    @property
    def _drafted(self) -> list[Hypothesis]:
        """The hypotheses that were decoded from given drafts, those that a glossary replaced too."""
        return [part for text in self.texts for part in (*text.parts, *text.replaced) if part.decoding == GIVEN]

    @property
    def draft_use(self) -> DraftUse | None:
        """What became of the drafts that were found for the sentences of the line; None if there were none."""
        drafted = [text for text in self.texts if text.draft is not None]
        similarities = [text.draft.similarity for text in drafted if text.draft is not None]
        copied = sum(text.copied for text in drafted)
        tokens = sum(len(part.ids) for part in self._drafted)
        origin = next((text.draft.origin for text in drafted if text.draft is not None), None)
        return None if origin is None else DraftUse(origin, tuple(similarities), copied, tokens, self.accepted)

    @property
    def tokens(self) -> int:
        """The number of emitted tokens, summed over all sentences of the line."""
        return sum(len(part.ids) for part in self.parts)

    @property
    def rounds(self) -> int:
        """The number of rounds, summed over all sentences of the line."""
        return sum(part.rounds for part in self.parts)

    @property
    def score(self) -> float | None:
        """The log probability of all emitted tokens of the line; None if it was not computed for every sentence."""
        parts = self.parts
        scores = [part.score for part in parts if part.score is not None]
        return sum(scores) if scores and len(scores) == len(parts) else None

    @property
    def text(self) -> str:
        """The outputs and the gaps between them, with all tags."""
        return self.tagged.join([text.tagged or text.output or "" for text in self.texts])

    @property
    def plain_text(self) -> str:
        """The outputs and the gaps between them, without the tags that were removed from the line."""
        return self.segments.join([text.output or "" for text in self.texts])

    @property
    def finished(self) -> bool:
        """Whether every text of the line has its final output. A text keeps it, so none is looked at again after that."""
        texts = self.texts
        while self._finished < len(texts) and texts[self._finished].output is not None and not texts[self._finished].is_waiting:
            self._finished += 1
        return self._finished == len(texts)
