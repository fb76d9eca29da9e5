"""Sentences and their translations, out of longer texts that are translations of each other."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from specdec_cli.text.corpus.parallel import Pair
from specdec_cli.text.segment.layout import split_marks
from specdec_cli.text.segment.sentences import split_sentences
from specdec_cli.text.tags.markup import tags_around, without_tags

LONGEST = 2000
"""Most characters of a text of a memory; longer ones are left out, as they are longer than an output can be."""
_SEVERAL = re.compile(r"(?<!\S)[^\s.!?…]*+[.!?…]\S*+\s++\S|[\u3002\uff01\uff1f].")


class Entry(NamedTuple):
    """A text and its translation; `guessed` if these are sentences at the same place of longer texts.

    `tagged` are both with their inline tags, except for the same tags around both. They are "" if there are no tags, if the texts have
    different ones, or if it is not known where they belong.
    """

    source: str
    target: str
    guessed: bool = False
    tagged: tuple[str, str] = ("", "")


def sentence_pairs(pairs: Iterable[Pair | Entry], *, split: bool = True, whole: bool = True) -> Iterator[Entry]:
    """Yield source and target of each pair of texts, and of their sentences if both texts have as many (and more than
    one). All are without pairs of inline tags, as the model reads them.

    A pair that is a guess stays one. Both texts are stripped of white space, and of markers such as bullets if they have
    the same ones. Without `whole`, a pair of several sentences is left out itself; without `split`, no pair is split.
    Blank texts and texts of more than LONGEST characters are left out.
    """
    for pair in pairs:
        source, target = _unmarked(*(without_tags(text).text.strip() for text in (pair.source, pair.target)))
        if not (source and target) or max(len(source), len(target)) > LONGEST:
            continue
        sources = split_sentences(source).texts if split and _SEVERAL.search(source) else (source,)
        targets = split_sentences(target).texts if len(sources) > 1 else (target,)
        several = len(sources) == len(targets) > 1
        if several:
            yield from (Entry(*each, guessed=True) for each in zip(sources, targets, strict=True))
        if whole or not several:
            tagged = _tagged(pair.source.strip(), pair.target.strip(), source, target)
            yield Entry(source, target, isinstance(pair, Entry) and pair.guessed, tagged)


def _tagged(source: str, target: str, plain_source: str, plain_target: str) -> tuple[str, str]:
    """The texts with their tags (see Entry), given those without."""
    if (source, target) == (plain_source, plain_target):
        return "", ""
    own, other = without_tags(source), without_tags(target)
    if (own.text, other.text) != (plain_source, plain_target) or sorted(own.removed) != sorted(other.removed):
        return "", ""
    before, after = tags_around(source)
    if not (before or after):
        return source, target
    if tags_around(target) != (before, after) or not (target.startswith(before) and target.endswith(after)):
        return "", ""
    return source[len(before) : len(source) - len(after)], target[len(before) : len(target) - len(after)]


def _unmarked(source: str, target: str) -> tuple[str, str]:
    if source[:1].isalnum() and source[-1:] not in "|/>\\#=\"'}":
        return source, target
    marked, other = split_marks(source), split_marks(target)
    if (marked.head, marked.tail) != (other.head, other.tail) or not marked.body or not other.body:
        return source, target
    return marked.body, other.body
