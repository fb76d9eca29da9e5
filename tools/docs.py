"""`python -m tools.docs`: write the generated parts of README.md, CONTRIBUTING.md and docs/.

Without options: tables of stored results, and the page of settings. `--outputs` also runs the commands in the
pages and records their output. `--measure DATA` measures the stored results again, on the data sets in the folder DATA.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from specdec_cli.files import write_atomically
from tools.pages import Generator, pages, regenerate


def generators() -> dict[str, Generator]:
    """The functions that generate parts of pages, by the names that the pages use for them (such as "summary")."""
    from tools import settings, tables
    from tools.papers.ends import paper_ends
    from tools.papers.tables import minutes, paper
    from tools.papers.views import paper_analysis, paper_edits, paper_histogram, paper_profile

    return {
        "summary": tables.summary,
        "comparison": tables.comparison,
        "without-vnni": tables.without_vnni,
        "table": tables.table,
        "corpus": tables.corpus,
        "paper": paper,
        "paper-minutes": minutes,
        "paper-analysis": paper_analysis,
        "paper-profile": paper_profile,
        "paper-histogram": paper_histogram,
        "paper-edits": paper_edits,
        "paper-ends": paper_ends,
        "keys": settings.keys,
        "kinds-of-errors": settings.kinds_of_errors,
        "presets": settings.presets,
        "recipes": settings.recipes,
    }


def generated() -> dict[Path, str]:
    """Generate the text of every page anew, by path, and write nothing; what is outside the generated parts stays."""
    return {page: regenerate(page.read_text(encoding="utf-8"), generators()) for page in pages()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program with command-line `arguments` (default: those of the process)."""
    parser = argparse.ArgumentParser(prog="python -m tools.docs", description=__doc__)
    parser.add_argument("--outputs", action="store_true", help="record the output of the commands in the pages")
    parser.add_argument("--measure", type=Path, metavar="DATA", help="measure the stored results: en-de/*.tsv, en-gec/* in DATA")
    parser.add_argument("--result", action="append", metavar="NAME", help="with --measure: only this result; repeatable")
    asked = parser.parse_args(arguments)
    if asked.measure is not None:
        from tools.results import measure_again, names

        for line in measure_again(asked.measure.resolve(), asked.result or names()):
            print(line, file=sys.stderr)
    if asked.outputs:
        _record()
    for path, text in generated().items():
        _write(path, text)


def _record() -> None:
    from tools.check import record
    from tools.shell import Shell

    with Shell() as shell:
        for page in pages():
            print(page.name, file=sys.stderr)
            _write(page, record(page, page.read_text(encoding="utf-8"), shell))


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_atomically(path, lambda partial: partial.write_text(text, encoding="utf-8"))


if __name__ == "__main__":
    main()
