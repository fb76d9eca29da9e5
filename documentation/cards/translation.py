"""The figures of the card of en-de: BLEU, chrF, and counts of faults, on each dev set."""

import re
from collections.abc import Iterable
from pathlib import Path

from documentation.cards.decoding import Decoded, decode
from documentation.tables import markdown
from specdec_cli.text.parallel import read_tsv

COMMAND = "specdec translate -m en-de --no-split --decoding greedy --precision int8"
SETS = {
    "tatoeba": "Tatoeba",
    "chat": "service dialogue",
    "manual": "manuals",
    "web": "web pages",
    "dialogue": "dialogue of games",
    "wiki": "encyclopaedia",
    "multi30k": "captions (Multi30k)",
    "newstest2013": "news (newstest2013)",
}
_NUMBER = re.compile(r"\d+")
_NAME = re.compile(r"(?<=\w )[A-Z][a-z]+\b")


def measure(data: Path) -> tuple[str, list[Decoded]]:
    """Decode the dev sets in `data`/en-de; return the Markdown table of figures, and the outputs."""
    decoded = []
    for key, name in SETS.items():
        pairs = list(read_tsv(data / "en-de" / f"dev.{key}.tsv"))
        sources = tuple(pair.source for pair in pairs)
        decoded.append(Decoded(name, sources, decode(COMMAND, sources), tuple(pair.target for pair in pairs)))
    headers = ("set", "lines", "BLEU", "chrF", "empty", "repeated", "numbers kept", "names kept")
    return f"Each set: `{COMMAND} < SOURCES`\n\n{markdown(headers, list(map(_row, decoded)), 1)}", decoded


def _row(one: Decoded) -> tuple[str, ...]:
    from sacrebleu import corpus_bleu, corpus_chrf

    references = [list(one.references)]
    scores = (corpus_bleu(list(one.outputs), references).score, corpus_chrf(list(one.outputs), references).score)
    quality = (f"{score:.2f}" for score in scores)
    return (one.name, f"{len(one.sources):,}", *quality, str(one.empty), str(one.repeated), kept(numbers(one)), kept(names(one)))


def numbers(one: Decoded) -> list[bool]:
    """For each number in digits of the sources, whether it is in the output."""
    pairs = zip(one.sources, one.outputs, strict=True)
    return [number in output for source, output in pairs for number in _NUMBER.findall(source)]


def names(one: Decoded) -> list[bool]:
    """For each capitalised word inside a source that the reference copies, whether it is in the output."""
    texts = zip(one.sources, one.outputs, one.references, strict=True)
    return [name in output for source, output, reference in texts for name in _NAME.findall(source) if name in reference.split()]


def kept(found: Iterable[bool]) -> str:
    """The number of true values, and of all, as text."""
    values = list(found)
    return f"{sum(values):,} of {len(values):,}"
