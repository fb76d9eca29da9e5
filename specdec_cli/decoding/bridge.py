"""A bridge between two vocabularies: an output in tokens of one model as tokens of another one, by its text, word by word."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from specdec_cli.text.tokenize.tokenizer import Tokenizer

if TYPE_CHECKING:
    from specdec_cli.model.bundle_info import Described

_KNOWN_WORDS = 1 << 16
"""Words whose tokens are remembered, for each vocabulary."""
_BEFORE = "a"
"""A word before another one, which is encoded as it is in the middle of a text."""
_BEGINNINGS = ("a", "x", "q")
"""Letters to put before the end of a word, to encode it as the end of a word. The tokenizer may merge one of them with that end."""


def bridge_between(bundle: "Described", other: "Described") -> "Bridge | None":
    """The bridge from the vocabulary of `bundle` to that of a draft model; None if ids mean the same tokens in both."""
    tokenizer, others = bundle.tokenizer, other.tokenizer
    if (
        tokenizer.vocabulary() == others.vocabulary()
        and tokenizer.source_vocabulary() == others.source_vocabulary()
        and tokenizer.special_tokens == others.special_tokens
        and tokenizer.add_special_tokens([]) == others.add_special_tokens([])
        and bundle.shape.eos == other.shape.eos
    ):
        return None
    return Bridge(tokenizer, others)


class Bridge:
    """Converts the output of a verifier to tokens of a draft model, and what this one writes next to tokens of the verifier.

    The unit is the word, the text up to the next space, so that the tokens of a text are those of its words. All that comes out is only
    proposed.
    """

    def __init__(self, verifier: Tokenizer, draft: Tokenizer) -> None:
        self._verifier, self._draft = verifier, draft
        self._words = lru_cache(_KNOWN_WORDS)(lambda word, first: word_ids(verifier, word, is_first=first))
        self._rests = lru_cache(_KNOWN_WORDS)(lambda rest: rest_ids(verifier, rest))
        self._draft_words = lru_cache(_KNOWN_WORDS)(lambda word, first: word_ids(draft, word, is_first=first))
        # A token that begins a word and has no text alone is a space of SentencePiece.
        self._is_empty = lru_cache(_KNOWN_WORDS)(lambda token: not verifier.decode([token]))
        self._starts = verifier.word_starts()
        self._special = {token for token in (verifier.special_tokens.forced,) if token is not None}
        forced = draft.special_tokens.forced
        self._first = () if forced is None else (forced,)

    def source(self, text: str) -> list[int]:
        """The source ids of a text for the draft model."""
        return self._draft.add_special_tokens(self._draft.encode(text))

    def read(self, output: Sequence[int]) -> list[int]:
        """The tokens of the draft model for an output of the verifier, which need not be at its end, without decoder start."""
        text = self._verifier.decode(output)
        ids = list(self._first)
        if text:
            for number, word in enumerate(text.split(" ")):
                ids += self._draft_words(word, not number)
        return ids

    def continued(self, output: Sequence[int], read: Sequence[int], written: Sequence[int]) -> list[int]:
        """The verifier's tokens after `output` for the tokens that the draft model has `written` after those that it has `read`.

        A word that the output has begun goes on with the rest of its tokens if the tokens of the whole word begin with those of the
        output, else with the tokens of the rest.
        """
        begun, whole = self._draft.decode(read), self._draft.decode([*read, *written])
        if not whole.startswith(begun):
            return []
        rest, *words = whole[len(begun) :].split(" ")
        text = self._verifier.decode(output)
        last = text.rpartition(" ")[2]
        if output and self._starts[output[-1]] and self._is_empty(output[-1]):
            last = ""
            if words and not rest and not begun.endswith(" "):
                rest = words.pop(0)  # the draft model has not read the space
        ids: list[int] = [] if output else list(self._special)
        if rest:
            ids_of_word = self._words(last + rest, last == text)
            started = self._last_word(output)
            ids += ids_of_word[len(started) :] if ids_of_word[: len(started)] == started else self._rests(rest)
        for word in words:
            ids += self._words(word, False)
        return ids

    def _last_word(self, output: Sequence[int]) -> list[int]:
        """The tokens of the last word of an output."""
        start = len(output)
        while start:
            start -= 1
            if output[start] in self._special:
                start += 1
                break
            if self._starts[output[start]]:
                break
        return list(output[start:])


def word_ids(tokenizer: Tokenizer, word: str, *, is_first: bool) -> list[int]:
    """The target ids of a word at the beginning of a text, or behind a space."""
    if is_first:
        return tokenizer.encode_targets([word])[0]
    prefix, both = tokenizer.encode_targets([_BEFORE, f"{_BEFORE} {word}"])
    return both[len(prefix) :] if both[: len(prefix)] == prefix else []


def rest_ids(tokenizer: Tokenizer, rest: str) -> list[int]:
    """The target ids of the end of a word, without those of its beginning; [] if the tokenizer merges it with every beginning tried."""
    for beginning in _BEGINNINGS:
        prefix, both = tokenizer.encode_targets([beginning, beginning + rest])
        if both[: len(prefix)] == prefix:
            return both[len(prefix) :]
    return []
