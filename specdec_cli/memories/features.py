"""Features by which similar sentences are found: words, and pairs of characters in scripts without spaces."""

import re
from collections.abc import Set
from hashlib import blake2b

_WORD = re.compile(r"\w+")
WITHOUT_SPACES = "\u0e00-\u0eff\u1000-\u109f\u2e80-\ud7af\uf900-\ufaff"
"""Characters of scripts without spaces, as ranges for a regular expression."""
_WITHOUT_SPACES = re.compile(f"[{WITHOUT_SPACES}]")


def features(text: str) -> Set[str]:
    """The words of `text` in lower case; of a word in a script without spaces, such as Chinese, the pairs of its
    characters. A text without a word has itself as its only feature.
    """
    words = set(_WORD.findall(text.lower()))
    if _WITHOUT_SPACES.search(text):
        for word in [word for word in words if len(word) > 2 and _WITHOUT_SPACES.search(word)]:
            words.remove(word)
            words.update(word[place : place + 2] for place in range(len(word) - 1))
    return words or {text}


def hashed(text: str) -> int:
    """A number of 64 bits for `text`, the same in every process."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
