"""The figures of the cards of en-de and de-en: BLEU, chrF, and counts of faults, on each dev set."""

import re
from pathlib import Path

from specdec_cli.text.corpus.parallel import read_tsv
from specdec_cli.text.locale.numbers import find_numbers, lost_numbers
from tools.cards.decoding import Decoded, decode
from tools.tables import markdown

COMMAND = "specdec translate -m {name} --no-split --decoding greedy --precision int8"
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
_NAME = re.compile(r"(?<=\w )[A-Z][a-z]+\b")


def measure(name: str, data: Path) -> tuple[str, list[Decoded]]:
    """Decode the dev sets in `data`/en-de with the bundle `name`, en-de or de-en; return the Markdown table of figures, and the outputs."""
    command, decoded = COMMAND.format(name=name), []
    for key, title in SETS.items():
        pairs = [(pair.source, pair.target) for pair in read_tsv(data / "en-de" / f"dev.{key}.tsv")]
        sources, references = zip(*(pair if name == "en-de" else pair[::-1] for pair in pairs), strict=True)
        decoded.append(Decoded(title, sources, decode(command, sources), references))
    headers = ("set", "lines", "BLEU", "chrF", "empty", "repeated", "numbers kept", "names kept")
    return f"Each set: `{command} < SOURCES`\n\n{markdown(headers, list(map(_row, decoded)), 1)}", decoded


def _row(one: Decoded) -> tuple[str, ...]:
    from sacrebleu import corpus_bleu, corpus_chrf

    references = [list(one.references)]
    scores = (corpus_bleu(list(one.outputs), references).score, corpus_chrf(list(one.outputs), references).score)
    quality = (f"{score:.2f}" for score in scores)
    return (one.name, f"{len(one.sources):,}", *quality, str(one.empty), str(one.repeated), numbers_kept(one), names_kept(one))


def numbers_kept(one: Decoded) -> str:
    """How many of the numbers of the sources are in the outputs, as text; see `lost_numbers`."""
    total = sum(len(find_numbers(source)) for source in one.sources)
    lost = sum(len(lost_numbers(source, output)) for source, output in zip(one.sources, one.outputs, strict=True))
    return f"{total - lost:,} of {total:,}"


def names_kept(one: Decoded) -> str:
    """How many of the capitalised words inside a source that the reference copies are in the outputs, as text."""
    texts = zip(one.sources, one.outputs, one.references, strict=True)
    found = [name in output for source, output, reference in texts for name in _NAME.findall(source) if name in reference.split()]
    return f"{sum(found):,} of {len(found):,}"
