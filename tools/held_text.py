"""`python -m tools.held_text DATA FOLDER [SET...]`: in how many held lines the outputs of the text layer differ from those in FOLDER.

The lines are the dev sets in DATA, and the project's lines that are right. Outputs of the engine are stored in FOLDER/engine by the ids of
their sources, for the weights but not for the engine: only text is compared. `--store` stores the outputs and their scores.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path

from specdec_cli.benchmark.inputs import Gold, read_gold, score_correction
from specdec_cli.decoding.methods import DEFAULT_MODE
from specdec_cli.files import write_text
from specdec_cli.metrics.scoring import Score, score
from specdec_cli.pipeline.corrector import LineCorrector
from specdec_cli.pipeline.translator import LineTranslator
from specdec_cli.text.corpus.parallel import read_tsv
from specdec_cli.text.io.lines import STDIO, read_text_lines
from tools.pages import ROOT
from tools.stored_engine import opened

WINDOW = 512
"""The lines that are decoded together: the least number that keeps the engine's threads busy."""
SCORES = "scores.json"
Line = Callable[[Sequence[str]], Iterator[str]]


@dataclass(frozen=True)
class Held:
    """A set of lines: its name, which begins with that of a bundle, its `lines`, how many are decoded together, and what scores outputs."""

    name: str
    lines: tuple[str, ...]
    score: Callable[[Sequence[str]], Score]
    window: int = WINDOW

    @property
    def bundle(self) -> str:
        """The bundle that decodes the lines."""
        return self.name.split(".")[0]


def held_sets(data: Path) -> Iterator[Held]:
    """The sets of a folder of data, and the project's own right lines."""
    for file in sorted((data / "en-de").glob("dev.*.tsv")):
        pairs = [(pair.source, pair.target) for pair in read_tsv(file)]
        for bundle, sides in (("en-de", pairs), ("de-en", [pair[::-1] for pair in pairs])):
            sources, references = zip(*sides, strict=True)
            yield Held(f"{bundle}.{file.name.split('.')[1]}", sources, partial(score, references=references))
    for name, gold in _golds(data / "en-gec"):
        yield Held(f"en-gec.{name}", gold.sources, partial(score_correction, gold))
    for name in ("right", "user"):
        lines = tuple(read_text_lines(ROOT / "tests" / "data" / f"{name}-lines.txt"))
        yield Held(f"en-gec.{name}-lines", lines, partial(_unchanged, lines), window=1)


def _golds(folder: Path) -> Iterator[tuple[str, Gold]]:
    """The sets for correction that are in a folder."""
    if (source := folder / "dev.jfleg" / "source").exists():
        yield "jfleg", read_gold(STDIO, source, sorted(source.parent.glob("reference*")))
    if (annotated := folder / "dev.cweb-g.m2").exists():
        yield "cweb-g", read_gold(annotated)


def _unchanged(lines: Sequence[str], outputs: Sequence[str]) -> Score:
    """The lines that are changed, of lines that are all right."""
    return Score({"changed": float(sum(map(str.__ne__, lines, outputs)))}, {})


def decoder(bundle: str, folder: Path) -> Line:
    """What decodes lines as the commands do, with the engine's outputs stored in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    if bundle == "en-gec":
        described, engine = opened(bundle, folder, with_scores=True, mode=DEFAULT_MODE)
        corrector = LineCorrector.of_bundle(engine, described, mode=DEFAULT_MODE)
        return lambda lines: (each.text for each in corrector.correct(lines))
    described, engine = opened(bundle, folder)
    translator = LineTranslator.of_bundle(engine, described)
    return lambda lines: (each.text for each in translator.translate(lines))


def outputs(held: Held, decode: Line) -> list[str]:
    """The outputs for the lines of a set."""
    return [text for first in range(0, len(held.lines), held.window) for text in decode(held.lines[first : first + held.window])]


def differing(found: Sequence[str], stored: Sequence[str]) -> list[int]:
    """The numbers of the lines whose outputs differ, from 1; lines that one side lacks differ."""
    pairs = zip_longest(found, stored)
    return [number for number, (text, other) in enumerate(pairs, 1) if text != other]


def store(held: Held, found: Sequence[str], folder: Path) -> str:
    """Store outputs and their scores; return these as text."""
    write_text(folder / held.name, "".join(f"{text}\n" for text in found))
    scores = json.loads((folder / SCORES).read_text(encoding="utf-8")) if (folder / SCORES).exists() else {}
    scores[held.name] = dict(held.score(found).values)
    write_text(folder / SCORES, json.dumps(scores, indent=1, sort_keys=True) + "\n")
    return json.dumps(scores[held.name])


def compare(held: Held, found: Sequence[str], folder: Path, shown: int) -> tuple[int, str]:
    """How many outputs differ from those that are stored, and a text that says so, with the first `shown` of them and, if there are any,
    the scores.
    """
    stored = list(read_text_lines(folder / held.name))
    numbers = differing(found, stored)
    text = f"{len(numbers)} of {len(found):,} lines differ"
    for number in numbers[:shown]:
        sides = [side[number - 1] if number <= len(side) else "(no line)" for side in (held.lines, stored, found)]
        text += "".join(f"\n  {number} {side}" for side in sides)
    return len(numbers), f"{text}; {json.dumps(dict(held.score(found).values))}" if numbers else text


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program with command-line `arguments` (default: those of the process); 1 if outputs differ."""
    parser = argparse.ArgumentParser(prog="python -m tools.held_text", description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA", help="folder of data sets: en-de/dev.*.tsv, en-gec/dev.*")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="folder of the stored outputs")
    parser.add_argument("sets", nargs="*", metavar="SET", help="sets, as en-de.chat, or all of a bundle, as en-de; all by default")
    parser.add_argument("--store", action="store_true", help="store the outputs and their scores")
    parser.add_argument(
        "--show", type=int, default=0, metavar="N", help="show the source and both outputs of the first N lines that differ"
    )
    wanted = parser.parse_args(arguments)
    wanted.folder.mkdir(parents=True, exist_ok=True)
    decoders, total = dict[str, Line](), 0
    for held in held_sets(wanted.data):
        if wanted.sets and not {held.name, held.bundle} & set(wanted.sets):
            continue
        if held.bundle not in decoders:
            decoders[held.bundle] = decoder(held.bundle, wanted.folder / "engine")
        decode = decoders[held.bundle]
        started = time.process_time()
        found = outputs(held, decode)
        cost = 1000 * (time.process_time() - started) / len(held.lines)
        if wanted.store:
            said = store(held, found, wanted.folder)
        else:
            count, said = compare(held, found, wanted.folder, wanted.show)
            total += count
        print(f"{held.name:22} {cost:6.2f} ms of the processor a line; {said}", flush=True)
    if not wanted.store:
        print(f"{total} lines differ")
    return int(total > 0)


if __name__ == "__main__":
    raise SystemExit(main())
