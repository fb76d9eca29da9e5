"""The figures in the card of en-gec, for each mode: scores on JFLEG and CWEB-G, correct lines left unchanged, and learners' errors."""

import lzma
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from specdec_cli.benchmark.rewriting import Gold, read_gold, read_lines_gold, score_correction
from specdec_cli.metrics.tokenised import detokenise
from specdec_cli.text.corpus.parallel import apply_gold_edits
from specdec_cli.text.io.lines import read_text_lines
from tools.cards.decoding import Decoded, decode
from tools.pages import ROOT
from tools.tables import markdown

COMMAND = "specdec correct -m en-gec --no-split --decoding input-guided --mode {mode}"
MODES = ("careful", "balanced", "thorough")
EVERY = 900
"""Every 900th line of the correct text is held out of training, as in the recipe en-gec.sh."""
_HEADERS = (
    *("`--mode`", "JFLEG: GLEU", "CWEB-G: precision", "recall", "F0.5", "correct lines unchanged", "learners' sentences corrected"),
    *("empty", "repeated"),
)


def measure(data: Path) -> tuple[str, list[Decoded]]:
    """Decode the dev sets in `data`/en-gec; return the Markdown table of figures, and the outputs of the default mode."""
    folder = data / "en-gec"
    source = folder / "dev.jfleg" / "source"
    jfleg = read_lines_gold(source, read_text_lines(source), sorted(source.parent.glob("reference*")), None, keep_tokens=False)
    cweb = read_gold(folder / "dev.cweb-g.m2", None, keep_tokens=False)
    with lzma.open(folder / "clean.tsv.xz", "rt", encoding="utf-8") as stream:
        clean = tuple(line.rstrip("\n").split("\t")[-1] for line in islice(stream, EVERY - 1, None, EVERY))
    learners = [line.split("\t") for line in read_text_lines(ROOT / "tests" / "data" / "learners.tsv")]
    rows, examples = [], []
    for mode in MODES:
        texts = _texts(mode, jfleg, cweb, clean, learners)
        if mode == "balanced":
            examples = texts[:2]
        rows.append(_row(mode, jfleg, cweb, texts))
    said = f"JFLEG has {len(jfleg.sources):,} lines, CWEB-G {len(cweb.sources):,}. Each set: `{COMMAND.format(mode='MODE')} < SOURCES`"
    return f"{said}\n\n{markdown(_HEADERS, rows, 1)}", examples


def _texts(mode: str, jfleg: Gold, cweb: Gold, clean: Sequence[str], learners: Sequence[Sequence[str]]) -> list[Decoded]:
    """All sets, decoded in `mode`; of several accepted corrections, the reference is the output if it is one, else the first."""
    firsts = [detokenise(line.split()).raw for line in jfleg.references[0]]
    annotated = [detokenise(apply_gold_edits(one.source, next(iter(one.annotators.values())))).raw for one in cweb.annotated]
    sets = [("JFLEG", jfleg.sources, firsts), ("CWEB-G", cweb.sources, annotated), ("correct", clean, clean)]
    decoded = [Decoded(name, tuple(sources), decode(COMMAND.format(mode=mode), sources), tuple(right)) for name, sources, right in sets]
    sources = tuple(line[1] for line in learners)
    outputs = decode(COMMAND.format(mode=mode), sources)
    right = tuple(output if output in accepted else accepted[0] for output, (_, _, *accepted) in zip(outputs, learners, strict=True))
    return [*decoded, Decoded("learners", sources, outputs, right)]


def _row(mode: str, jfleg: Gold, cweb: Gold, texts: Sequence[Decoded]) -> tuple[str, ...]:
    essays, pages = (score_correction(gold, one.outputs).values for gold, one in zip((jfleg, cweb), texts, strict=False))
    right = [sum(map(str.__eq__, one.outputs, one.references)) for one in texts[2:]]
    shares = (f"{count:,} of {len(one.outputs):,}" for count, one in zip(right, texts[2:], strict=True))
    scores = (f"{essays['gleu']:.2f}", *(f"{pages[key]:.2f}" for key in ("precision", "recall", "f05")))
    return (mode, *scores, *shares, str(sum(one.empty for one in texts)), str(sum(one.repeated for one in texts)))
