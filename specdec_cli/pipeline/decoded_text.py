"""A part of a line that is decoded: its attempts, its draft and its output."""

from collections.abc import Callable, Iterator, Sequence

from specdec_cli.decoding.sentence import Hypothesis
from specdec_cli.memories.found import FoundDraft
from specdec_cli.pipeline.combinations import Scored, best_combinations
from specdec_cli.pipeline.variants import Attempt
from specdec_cli.text.locale.matching import realise
from specdec_cli.text.protect.stand_ins import fit_neighbours
from specdec_cli.text.shape import (
    with_closing_quote,
    with_first_capital,
    with_single_stops,
    with_small_function_word,
    without_added_stop,
    without_own_stop,
)
from specdec_cli.text.tags.markup import NO_TAGS, InlineTags, tags_inside


class DecodedText:
    """The state of a part of a line, `text`, while it is decoded in one or more attempts.

    `tokens` is its number of tokens without special ones, None if they were not counted. `ways` are the attempts in the order in which they
    are tried; the last one never fails. `attempt` is the present one, and `parts` are its hypotheses. `output` is None until an attempt has
    succeeded. With `is_fragment`, as for a heading or a table cell, a final punctuation mark is removed from the output if `text` ends with
    a letter or digit (see `without_added_stop`). With `is_continued`, the sentence goes on after `text` (see `without_own_stop`). With
    `begins`, a capital at its beginning stays one (see `with_first_capital`). `draft` is the draft that was found for `text`; with
    `copied`, it is the output, or the translation of a label is. While it `is_waiting`, terms may change the output, or tags are to be
    placed; `replaced` are the hypotheses that did not have the terms. `is_doubtful` is whether the output has terms, but may be a poor
    translation. `tags` are the inline tags that were inside `text`; `tagged` is the output with them, None until they are placed. If the
    `languages` of source and output differ, the output has numbers, prices and times in the form of its language, and fits the protected
    spans (see `fit_neighbours`).
    """

    def __init__(
        self,
        text: str,
        ways: Iterator[Attempt],
        *,
        tokens: int | None = None,
        is_fragment: bool = False,
        is_continued: bool = False,
        begins: bool = False,
        tags: InlineTags = NO_TAGS,
        languages: tuple[str, str] = ("", ""),
        position: tuple[int, int] = (0, 0),
    ) -> None:
        self.text, self.tokens, self.tags, self._languages = text, tokens, tags, languages
        self.tagged: str | None = None
        self._ways, self._is_fragment, self._is_continued, self._begins = ways, is_fragment, is_continued, begins
        self.output: str | None = None
        self.draft: FoundDraft | None = None
        self.copied = False
        self.is_waiting = False
        self.is_doubtful = False
        self.replaced: list[Hypothesis] = []
        self._position, self._attempts = position, 0
        self._next()

    @property
    def finished(self) -> bool:
        """Whether all texts of the current attempt are decoded; `settle` may not have been called, so `output` may
        still be None.
        """
        return len(self.parts) == len(self.attempt.segments.texts)

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

    def take_label(self, translation: str) -> None:
        """Make the `translation` of a label the output, whatever draft there was."""
        self.output, self.draft, self.copied = translation, None, True

    @property
    def target_draft(self) -> str | None:
        """The draft for the text of the current attempt; None if there is no draft, or if the attempt has several texts."""
        is_one = self.draft is not None and len(self.attempt.segments.texts) == 1
        return self.attempt.draft(self.draft.text) if is_one and self.draft is not None else None

    def settle(self, decode: Callable[[Sequence[int]], str]) -> bool:
        """Compute `output` from the decoded ids of the current attempt and return True.

        If the attempt fails, for instance because a protected span was lost, start the next attempt and return
        False. `decode` converts ids to text.
        """
        self.parts.sort(key=lambda part: part.number)
        self.output = self._placed([decode(part.ids) for part in self.parts])
        if self.output is None:
            self._next()
        return self.output is not None

    def ranked(self, limit: int, decode: Callable[[Sequence[int]], str]) -> list[Scored]:
        """Up to `limit` different outputs that have all protected spans, with their log probabilities, best first.

        They combine the n best outputs of the texts of the attempt, which `decode` converts to text; without any, there is `output` alone.
        """
        outputs: dict[str, float] = {}
        options = [_texts(part, decode) for part in self.parts]
        for texts, score in best_combinations(options, limit) if options else ():
            if (output := self._placed(texts)) is not None:
                outputs.setdefault(output, score)
        return list(outputs.items()) or [(self.output or "", 0.0)]

    def with_part(self, place: int, part: Hypothesis, decode: Callable[[Sequence[int]], str]) -> str | None:
        """The output with `part` as hypothesis for the text `place` of the attempt; None if the attempt fails with it."""
        return self._placed([decode((part if number == place else own).ids) for number, own in enumerate(self.parts)])

    def replace_part(self, place: int, part: Hypothesis, decode: Callable[[Sequence[int]], str]) -> None:
        """Make `part` the hypothesis for the text `place` of the attempt, which must succeed with it."""
        self.output = self.with_part(place, part, decode)
        self.replaced.append(self.parts[place])
        self.parts[place] = part

    def _placed(self, outputs: Sequence[str]) -> str | None:
        sources = self.attempt.segments.texts
        output = self.attempt.restore([realise(*pair, self._languages) for pair in zip(sources, outputs, strict=True)])
        if not output:
            return output
        translates = self._languages[0] != self._languages[1]
        if translates:
            output = with_closing_quote(with_single_stops(fit_neighbours(self.text, output), self.text), self.text)
            if self._is_fragment and self.text[-1:].isalnum():
                output = with_small_function_word(output, self.text)
        if self._begins:
            output = with_first_capital(output, self.text)
        if self._is_continued:
            return without_own_stop(output, self.text)
        return without_added_stop(output, self.text) if self._is_fragment or translates else output

    def random_stream(self, part: int) -> tuple[int, int]:
        """The random stream of a text of the present attempt: two words of 32 bits that no other text of the file has, as far as they
        have room.
        """
        line, place = self._position
        return line % 2**32, (place % 2**16) << 16 | (self._attempts % 2**8) << 8 | part % 2**8

    def _next(self) -> None:
        self.attempt = next(self._ways)
        self._attempts += 1
        self.parts: list[Hypothesis] = []


def _texts(part: Hypothesis, decode: Callable[[Sequence[int]], str]) -> list[Scored]:
    """The different texts of the n best outputs of a part with their log probabilities, best first."""
    ranked = sorted(part.alternatives, key=lambda each: each.log_probability)
    scores = {decode(each.ids): each.log_probability for each in ranked} or {decode(part.ids): part.score or 0.0}
    return sorted(scores.items(), key=lambda each: each[1], reverse=True)
