"""`make bench`: all that is claimed about speed, measured and written into the README with the machine it was measured on."""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from specdec_cli.benchmark.report import Table
from specdec_cli.commands.bench.view import machine_lines
from specdec_cli.files import write_atomically

BEGIN, END = "<!-- results -->", "<!-- end of results -->"
"""What is between these lines of the README is written anew."""
MOSTLY = 0.5
"""Share of rounds up to which a decoding that drafts is said to have chosen otherwise."""


@dataclass(frozen=True)
class Claim:
    """A bench to run and, from its rows, the one that is ours and those of CTranslate2 that it is compared with."""

    label: str
    arguments: tuple[str, ...]
    ours: str
    theirs: tuple[str, ...]


def claims(data: Path, lines: int) -> list[Claim]:
    """Of the models that ship, on `lines` lines of each dev set in the folder `data`; and of the machine, with random weights."""
    greedy, beam = "ctranslate2-greedy", "ctranslate2-beam"
    jfleg = data / "en-gec" / "dev.jfleg"
    references = [part for number in range(4) for part in ("--reference", str(jfleg / f"reference{number}"))]
    few = ("--limit", str(lines))
    gec, chat, file = ("--task", "correct"), data / "en-de" / "dev.chat.tsv", data / "en-de" / "dev.newstest2013.tsv"
    best = tuple(part for name in ("greedy", "auto", f"{greedy}:best", f"{beam}:best") for part in ("--row", name))
    batch = ("--row", "greedy", "--row", "auto", "--row", f"{greedy}:best", "--batch-size", "auto")
    return [
        Claim("en-gec, CWEB-G", (str(data / "en-gec" / "dev.cweb-g.m2"), *gec, *few, *best), "auto", (greedy,)),
        Claim("en-gec, JFLEG", ("--input", str(jfleg / "source"), *references, *gec, *few, *best), "auto", (greedy,)),
        Claim("en-de, dialogue", (str(chat), *few, *best), "auto", (greedy, beam)),
        Claim("en-de, a file of 3,000 lines of news, in batches", (str(file), *batch), "auto", (greedy,)),
        Claim("random weights, base", ("--synthetic",), "specdec", (greedy,)),
        Claim("random weights, big", ("--synthetic",), "input-guided", (beam,)),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(prog="python -m specdec_cli.commands.bench.results", description=__doc__)
    parser.add_argument("readme", type=Path)
    parser.add_argument("--data", type=Path, required=True, help="the folder of dev sets: en-de/*.tsv, en-gec/*")
    parser.add_argument("--lines", type=int, default=150, help="lines of each set that is decoded line by line")
    parser.add_argument("--repetitions", type=int, default=3)
    asked = parser.parse_args(arguments)
    before, _, rest = asked.readme.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    if not after:
        parser.error(f"{asked.readme} has no lines {BEGIN} and {END}")
    text = results(claims(asked.data, asked.lines), asked.repetitions)
    whole = f"{before}{BEGIN}\n{text}{END}{after}"
    write_atomically(asked.readme, lambda partial: partial.write_text(whole, encoding="utf-8"))


def results(wanted: Sequence[Claim], repetitions: int) -> str:
    """The table of all claims, in Markdown, and where they were measured."""
    records: dict[tuple[str, ...], dict[str, Any]] = {}
    rows = []
    with TemporaryDirectory(prefix="specdec-results-") as folder:
        for claim in wanted:
            if claim.arguments not in records:
                path = Path(folder) / f"{len(records)}.json"
                command = [sys.executable, "-m", "specdec_cli", "bench", *claim.arguments, "--repetitions", str(repetitions)]
                subprocess.run([*command, "--json", str(path), "--quiet"], check=True, stdout=subprocess.DEVNULL)
                records[claim.arguments] = json.loads(path.read_text(encoding="utf-8"))
            rows += _rows(claim, records[claim.arguments])
            print(*rows[-1], sep=" | ", file=sys.stderr)
    columns = ("what", "decoding", "tokens per round", "tokens/s", "against", "its setting", "tokens/s", "times as fast", "greedy's lines")
    first = next(iter(records.values()))
    environment = machine_lines(first["environment"])
    return Table(columns, tuple(rows), names=2).to_markdown() + "\n" + "  \n".join(environment) + "\n"


def _rows(claim: Claim, record: dict[str, Any]) -> list[tuple[str, ...]]:
    ours = next(row for row in record["rows"] if row["decoding"] == claim.ours)
    # A synthetic record has several geometries; a row is compared with those of its own.
    geometry = ours["settings"].get("geometry")
    others = [row for row in record["rows"] if row["settings"].get("geometry") == geometry and row["decoding"] in claim.theirs]
    identical = " of ".join(map(str, ours["identical"]))
    return [
        (
            claim.label,
            _decoding(ours),
            f"{ours['tokens_per_round']:.2f}",
            f"{ours['tokens_per_second']:,.0f}",
            other["decoding"],
            _setting(other["settings"]),
            f"{other['tokens_per_second']:,.0f}",
            f"{ours['tokens_per_second'] / other['tokens_per_second']:.2f}x",
            identical,
        )
        for other in others
    ]


def _decoding(row: dict[str, Any]) -> str:
    chosen, drafted = row["settings"].get("chosen", row["decoding"]), row["drafted"]
    if drafted is None or drafted > MOSTLY:
        return str(chosen)
    return f"{chosen}, which chose not to draft" if drafted == 0 else f"{chosen}, which chose to draft in {drafted:.1%} of rounds"


def _setting(settings: dict[str, Any]) -> str:
    kind = settings.get("compute_type", settings.get("precision"))
    workers = f"{settings['workers']} x " if settings.get("workers", 1) > 1 else ""
    batch = f", batches of {settings['batch_size']}" if settings.get("batch_size", 1) > 1 else ""
    return f"{kind}, {workers}{settings['threads']} threads{batch}"


if __name__ == "__main__":
    main()
