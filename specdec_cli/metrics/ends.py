"""Precision of n-grams at the head and at the tail of translations (Imamura and Sumita 2020, Table 3)."""

from collections.abc import Callable, Sequence

from specdec_cli.metrics.ngrams import ngrams


def end_precision(hypotheses: Sequence[str], references: Sequence[str], order: int, tokens: int | None = None) -> float | None:
    """The share (0 to 1) of the hypotheses' n-grams of size `order` that the reference of their line has, clipped as in BLEU.

    `tokens` limits each hypothesis to its first tokens, or to its last ones if it is negative (None: all tokens). Tokens are those of
    BLEU (13a). None if no hypothesis has an n-gram. Raises ValueError for unequal numbers of lines.
    """
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    tokenise: Callable[[str], str] = Tokenizer13a()  # type: ignore[no-untyped-call]
    found = total = 0
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        words = tokenise(hypothesis).split()
        if tokens is not None:
            words = words[:tokens] if tokens > 0 else words[tokens:]
        ours = ngrams(words, order)
        found += (ours & ngrams(tokenise(reference).split(), order)).total()
        total += ours.total()
    return found / total if total else None
