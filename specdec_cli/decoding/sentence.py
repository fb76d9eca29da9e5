"""Input and output of decoding: sentences and hypotheses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from specdec_cli.text.tokenize.tokenizer import Tokenizer


@dataclass(frozen=True)
class Sentence:
    """A sentence to decode: a number that identifies it, and its source ids, ending with EOS.

    `draft` are the target ids of a text that the output may resemble, such as an earlier translation, ending with
    EOS; empty for none. `first` is the largest number of tokens of it that are drafted in the first round (0: no
    limit). The first `prefix` tokens of the draft begin the output, whatever the verifier would choose there and whatever
    the constraints force or exclude. The score of each is its log probability under the constraints, as that of any token: 0 if the
    constraints force it, minus infinity if they exclude it or force another.
    `stream` are two words of 32 bits, the random stream of the sentence in sampling.
    `copy` are the target ids, ending with EOS, that input-guided decoding copies in place of the source; empty for the source.
    `text` is the text of the source, from which a draft model with another vocabulary drafts; "" if it is not known.
    """

    number: int
    source: Sequence[int]
    draft: Sequence[int] = ()
    first: int = 0
    prefix: int = 0
    copy: Sequence[int] = ()
    stream: tuple[int, int] = (0, 0)
    text: str = ""


def make_sentence(
    tokenizer: Tokenizer, eos: int, number: int, text: str, ids: Sequence[int] | None = None, *, copied: str | None = None, **values: Any
) -> Sentence:
    """The sentence of a source text for the model of `tokenizer`, whose outputs end with `eos`; `ids` are those of the text, without
    special tokens, if they are known.

    Input-guided decoding copies the text `copied` (None: the source text), without what stands in the source beside the text: an
    instruction, or language tokens that the output does not have. `values` are other fields of Sentence. Raises ModelError if the
    tokenizer's library fails.
    """
    own = tokenizer.encode(text) if ids is None else ids
    copy: Sequence[int] = ()
    if copied is not None and copied != text:
        copy = tokenizer.add_target_tokens(tokenizer.encode(copied), eos)
    elif tokenizer.frames_source(eos):
        copy = tokenizer.add_target_tokens(own, eos)
    return Sentence(number, tokenizer.add_special_tokens(own), text=text, copy=copy, **values)


@dataclass(frozen=True)
class Alternative:
    """One of the n best outputs for a sentence: its ids, its log probability, and the score by which the search
    ranks it.
    """

    ids: list[int]
    log_probability: float
    score: float


@dataclass(frozen=True)
class Hypothesis:
    """The output for the sentence `number`: its ids (ending with EOS unless a limit cut it), and the number of
    rounds.

    `score` is the log probability of the ids, None if it was not computed. `log_probabilities` has one value per id;
    it is empty if the decoding does not compute them. `alternatives` are the n best outputs of a search, best first;
    the first equals this hypothesis. `decoding` is the name of the decoding used: "greedy" for a sentence that was
    decoded without drafts.
    """

    number: int
    ids: list[int]
    rounds: int
    score: float | None
    alternatives: tuple[Alternative, ...] = ()
    log_probabilities: tuple[float, ...] = ()
    decoding: str = ""
