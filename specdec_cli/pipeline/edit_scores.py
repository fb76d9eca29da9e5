"""Scores of edits, which say how sure the model is of each."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import accumulate

from specdec_cli.decoding.sentence import Hypothesis
from specdec_cli.english.words import BE, DO, HAVE
from specdec_cli.model.bundle_info import ChangeKind
from specdec_cli.text.edits import Edit, apply_edits, split_words
from specdec_cli.text.spelling.ngrams import SCORE_WEIGHT, NgramModel
from specdec_cli.text.tokenize.tokenizer import Tokenizer

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
        decided = next((place for place, (own, unedited) in pairs if own != unedited), len(ends) - 1)
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
