"""`python -m tools.cards DATA [NAME...]`: decode the dev sets with the shipped models, and write their figures into the cards.

A card is README.md in the folder of a bundle. Its generated parts are `figures` and `examples`.
"""

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from specdec_cli.files import write_atomically
from tools.cards import correction, translation
from tools.cards.decoding import Decoded
from tools.cards.examples import examples
from tools.pages import ROOT, regenerate

BUNDLES = ROOT / "specdec_cli" / "bundles"
_MEASURE: dict[str, Callable[[Path], tuple[str, list[Decoded]]]] = {
    "de-en": partial(translation.measure, "de-en"),
    "en-de": partial(translation.measure, "en-de"),
    "en-gec": correction.measure,
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


def fill(card: Path, figures: str, drawn: str) -> None:
    """Replace the generated parts of a card by the Markdown texts `figures` and `drawn`."""
    text = regenerate(card.read_text(encoding="utf-8"), {"figures": lambda: figures, "examples": lambda: drawn})
    write_atomically(card, lambda path: path.write_text(text, encoding="utf-8"))


if __name__ == "__main__":
    main()
