"""Tokenised BLEU with split compounds, which papers on WMT14 report (Vaswani et al. 2017; Ghazvininejad et al. 2019)."""

import re
from collections.abc import Callable, Sequence
from typing import Any

# The hyphen between two parts of a word becomes a token of its own.
_HYPHEN = re.compile(r"(?<=\S)-(?=\S)")


def compound_bleu(hypotheses: Sequence[str], references: Sequence[str], language: str) -> float:
    """BLEU (0 to 100) of tokens of the Moses tokeniser for `language`, where a hyphen inside a word is a token of its own.

    Raises ValueError for unequal numbers of lines.
    """
    from sacrebleu.metrics.bleu import BLEU

    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} lines and {len(references)} references")
    tokenise = _tokeniser(language)
    # The lines are tokenised here, so that sacrebleu only splits at spaces.
    metric = BLEU(tokenize="none", force=True)
    return float(metric.corpus_score([tokenise(line) for line in hypotheses], [[tokenise(line) for line in references]]).score)


def _tokeniser(language: str) -> Callable[[str], str]:
    from sacremoses import MosesTokenizer

    moses: Any = MosesTokenizer(lang=language)  # type: ignore[no-untyped-call]

    def tokenise(line: str) -> str:
        text = str(moses.tokenize(line, return_str=True, escape=False))
        return _HYPHEN.sub(" ##AT##-##AT## ", text)

    return tokenise
