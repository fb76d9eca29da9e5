"""`python -m tools.cards DATA [NAME...]`: decode the dev sets with the shipped models, and write their figures into the cards.

A card is README.md in the folder of a bundle. Its generated parts are `figures`, and `examples` that are drawn at random.
"""

import argparse
import lzma
import random
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from specdec_cli.benchmark.inputs import Gold, read_gold, score_correction
from specdec_cli.files import write_text
from specdec_cli.metrics.tokenised import detokenise
from specdec_cli.text.corpus.parallel import apply_gold_edits, read_tsv
from specdec_cli.text.io.lines import STDIO, read_text_lines
from specdec_cli.text.locale.matching import lost_numbers, numbers_in_digits
from tools.pages import ROOT, regenerate
from tools.results import markdown

BUNDLES = ROOT / "specdec_cli" / "bundles"
TRANSLATE = "specdec translate -m {name} --no-split --decoding greedy --precision int8"
CORRECT = "specdec correct -m en-gec --no-split --decoding input-guided --mode {mode}"
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
MODES = ("careful", "balanced", "thorough")
EVERY = 900
"""Every 900th line of the correct text is held out of training, as in the recipe en-gec.sh."""
SEED, EXAMPLES = 17, 20
_THRICE = re.compile(r"\b(\w+)(?:\W+\1\b){2,}")
_NAME = re.compile(r"(?<=\w )[A-Z][a-z]+\b")
_HEADERS = (
    *("`--mode`", "JFLEG: GLEU", "CWEB-G: precision", "recall", "F0.5", "correct lines unchanged", "learners' sentences corrected"),
    *("empty", "repeated"),
)


@dataclass(frozen=True)
class Decoded:
    """A dev set: its name, sources, outputs, and a reference for each source."""

    name: str
    sources: tuple[str, ...]
    outputs: tuple[str, ...]
    references: tuple[str, ...]

    @property
    def empty(self) -> int:
        """The number of outputs without text."""
        return sum(not output.strip() for output in self.outputs)

    @property
    def repeated(self) -> int:
        """The number of outputs with a word three times in a row, where the source has none."""
        pairs = zip(self.sources, self.outputs, strict=True)
        return sum(bool(_THRICE.search(output)) and not _THRICE.search(source) for source, output in pairs)


def decode(command: str, lines: Sequence[str]) -> tuple[str, ...]:
    """The outputs of the command line `command` of specdec for `lines`. Raises CalledProcessError if it fails."""
    program = [sys.executable, "-m", "specdec_cli", *shlex.split(command)[1:], "--quiet"]
    done = subprocess.run(program, input="".join(f"{line}\n" for line in lines), stdout=subprocess.PIPE, encoding="utf-8", check=True)
    outputs = tuple(done.stdout.removesuffix("\n").split("\n"))
    if len(outputs) != len(lines):
        raise ValueError(f"{command}: {len(outputs)} lines of output for {len(lines)} of input")
    return outputs


def translation(name: str, data: Path) -> tuple[str, list[Decoded]]:
    """Decode the dev sets in `data`/en-de with the bundle `name`, en-de or de-en; return the Markdown table of figures, and the outputs."""
    command, decoded = TRANSLATE.format(name=name), []
    for key, title in SETS.items():
        pairs = [(pair.source, pair.target) for pair in read_tsv(data / "en-de" / f"dev.{key}.tsv")]
        sources, references = zip(*(pair if name == "en-de" else pair[::-1] for pair in pairs), strict=True)
        decoded.append(Decoded(title, sources, decode(command, sources), references))
    headers = ("set", "lines", "BLEU", "chrF", "empty", "repeated", "numbers kept", "names kept")
    return f"Each set: `{command} < SOURCES`\n\n{markdown(headers, list(map(_translation_row, decoded)), 1)}", decoded


def _translation_row(one: Decoded) -> tuple[str, ...]:
    from sacrebleu import corpus_bleu, corpus_chrf

    references = [list(one.references)]
    scores = (corpus_bleu(list(one.outputs), references).score, corpus_chrf(list(one.outputs), references).score)
    quality = (f"{score:.2f}" for score in scores)
    return (one.name, f"{len(one.sources):,}", *quality, str(one.empty), str(one.repeated), numbers_kept(one), names_kept(one))


def numbers_kept(one: Decoded) -> str:
    """How many of the numbers of the sources are in the outputs, as text; see `lost_numbers`."""
    total = sum(len(numbers_in_digits(source)) for source in one.sources)
    lost = sum(len(lost_numbers(source, output)) for source, output in zip(one.sources, one.outputs, strict=True))
    return f"{total - lost:,} of {total:,}"


def names_kept(one: Decoded) -> str:
    """How many of the capitalised words inside a source that the reference copies are in the outputs, as text."""
    texts = zip(one.sources, one.outputs, one.references, strict=True)
    found = [name in output for source, output, reference in texts for name in _NAME.findall(source) if name in reference.split()]
    return f"{sum(found):,} of {len(found):,}"


def correction(data: Path) -> tuple[str, list[Decoded]]:
    """Decode the dev sets in `data`/en-gec in each mode: JFLEG, CWEB-G, correct lines, and learners' errors.

    Returns the Markdown table of figures, and the outputs of the default mode.
    """
    folder = data / "en-gec"
    source = folder / "dev.jfleg" / "source"
    jfleg = read_gold(STDIO, source, sorted(source.parent.glob("reference*")))
    cweb = read_gold(folder / "dev.cweb-g.m2")
    with lzma.open(folder / "clean.tsv.xz", "rt", encoding="utf-8") as stream:
        clean = tuple(line.rstrip("\n").split("\t")[-1] for line in islice(stream, EVERY - 1, None, EVERY))
    learners = [line.split("\t") for line in read_text_lines(ROOT / "tests" / "data" / "learners.tsv")]
    rows, shown = [], []
    for mode in MODES:
        texts = _corrected(mode, jfleg, cweb, clean, learners)
        if mode == "balanced":
            shown = texts[:2]
        rows.append(_correction_row(mode, jfleg, cweb, texts))
    said = f"JFLEG has {len(jfleg.sources):,} lines, CWEB-G {len(cweb.sources):,}. Each set: `{CORRECT.format(mode='MODE')} < SOURCES`"
    return f"{said}\n\n{markdown(_HEADERS, rows, 1)}", shown


def _corrected(mode: str, jfleg: Gold, cweb: Gold, clean: Sequence[str], learners: Sequence[Sequence[str]]) -> list[Decoded]:
    """All sets, decoded in `mode`; of several accepted corrections, the reference is the output if it is one, else the first."""
    command = CORRECT.format(mode=mode)
    firsts = [detokenise(line.split()).raw for line in jfleg.references[0]]
    annotated = [detokenise(apply_gold_edits(one.source, next(iter(one.annotators.values())))).raw for one in cweb.annotated]
    sets = [("JFLEG", jfleg.sources, firsts), ("CWEB-G", cweb.sources, annotated), ("correct", clean, clean)]
    decoded = [Decoded(name, tuple(sources), decode(command, sources), tuple(right)) for name, sources, right in sets]
    sources = tuple(line[1] for line in learners)
    outputs = decode(command, sources)
    right = tuple(output if output in accepted else accepted[0] for output, (_, _, *accepted) in zip(outputs, learners, strict=True))
    return [*decoded, Decoded("learners", sources, outputs, right)]


def _correction_row(mode: str, jfleg: Gold, cweb: Gold, texts: Sequence[Decoded]) -> tuple[str, ...]:
    essays, web = (score_correction(gold, one.outputs).values for gold, one in zip((jfleg, cweb), texts, strict=False))
    right = [sum(map(str.__eq__, one.outputs, one.references)) for one in texts[2:]]
    shares = (f"{count:,} of {len(one.outputs):,}" for count, one in zip(right, texts[2:], strict=True))
    scores = (f"{essays['gleu']:.2f}", *(f"{web[key]:.2f}" for key in ("precision", "recall", "f05")))
    return (mode, *scores, *shares, str(sum(one.empty for one in texts)), str(sum(one.repeated for one in texts)))


def examples(decoded: Sequence[Decoded]) -> str:
    """Markdown with EXAMPLES lines of all `decoded` texts: source, output and reference. The seed is fixed and stated."""
    every = [(one.name, *texts) for one in decoded for texts in zip(one.sources, one.outputs, one.references, strict=True)]
    drawn = sorted(random.Random(SEED).sample(range(len(every)), min(EXAMPLES, len(every))))
    rows = [tuple(text.replace("|", "\\|") for text in every[place]) for place in drawn]
    said = f"{len(rows)} of all {len(every):,} lines, drawn by Python's `random.Random({SEED}).sample`:\n\n"
    return said + markdown(("set", "source", "output", "reference"), rows, 4)


def fill(card: Path, figures: str, drawn: str) -> None:
    """Replace the generated parts of a card by the Markdown texts `figures` and `drawn`."""
    text = regenerate(card.read_text(encoding="utf-8"), {"figures": lambda: figures, "examples": lambda: drawn})
    write_text(card, text)


_MEASURE: dict[str, Callable[[Path], tuple[str, list[Decoded]]]] = {
    "de-en": partial(translation, "de-en"),
    "en-de": partial(translation, "en-de"),
    "en-gec": correction,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program with command-line `arguments` (default: those of the process)."""
    parser = argparse.ArgumentParser(prog="python -m tools.cards", description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA", help="folder of data sets: en-de/dev.*.tsv, en-gec/dev.*")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{' or '.join(_MEASURE)}; all by default")
    asked = parser.parse_args(arguments)
    if unknown := set(asked.names) - set(_MEASURE):
        parser.error(f"no shipped model is called {', '.join(sorted(unknown))}")
    for name in asked.names or _MEASURE:
        figures, decoded = _MEASURE[name](asked.data)
        command = f"```text\npython -m tools.cards DATA {name}\n```\n"
        fill(BUNDLES / name / "README.md", f"{command}\n{figures}", examples(decoded))


if __name__ == "__main__":
    main()
