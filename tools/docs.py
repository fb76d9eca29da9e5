"""`python -m tools.docs`: write the generated parts of README.md, CONTRIBUTING.md and docs/.

Without options: tables of stored results, and the page of settings. `--outputs` also runs the commands in the
pages and records their output. `--measure DATA` measures the stored results again, on the data sets in the folder DATA.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import get_type_hints

from specdec_cli.corruption.corrupter import KINDS, CorruptionRecipe, ErrorCounts
from specdec_cli.fields import in_words
from specdec_cli.files import write_text
from specdec_cli.model.bundle_info import BundleInfo
from specdec_cli.model.config import PRESETS, TransformerConfig
from specdec_cli.model.drafter_config import DrafterConfig, HeadsConfig
from specdec_cli.processors import keep_order_of_sums
from specdec_cli.training.recipe import SET_BY_TOKENIZER, DrafterRecipe, OptimizerSettings, RunSettings, VerifierRecipe
from tools import large_corrector, paper_tables, results
from tools.gpu_checks import gpu_checks
from tools.gpu_decodings import gpu_decodings
from tools.pages import ROOT, Generator, pages, regenerate
from tools.results import markdown

RECIPES = ROOT / "specdec_cli" / "recipes"
GROUPS: Mapping[str, tuple[type, str]] = {
    "verifier": (VerifierRecipe, ""),
    "model": (TransformerConfig, "model."),
    "drafter": (DrafterRecipe, ""),
    "block": (DrafterConfig, "drafter."),
    "heads": (HeadsConfig, "drafter."),
    "optimizer": (OptimizerSettings, "optimizer."),
    "run": (RunSettings, "run."),
    "corruption": (CorruptionRecipe, ""),
    "errors": (ErrorCounts, "errors."),
    "bundle": (BundleInfo, ""),
}
"""The tables of keys by name: the dataclass whose fields are the keys, and the prefix of the keys on the command line."""
_BULLET = re.compile(r"^    - (?P<names>`\w+`(?:, `\w+`)*): (?P<text>.*?)(?=^    - |^\s*$|\Z)", re.MULTILINE | re.DOTALL)


def generators() -> dict[str, Generator]:
    """The functions that generate parts of pages, by the names that the pages use for them (such as "summary")."""
    return {
        "summary": results.summary,
        "comparison": results.comparison,
        "table": results.table,
        "drafts": results.drafts,
        "sizes": results.sizes,
        "large-corrector": large_corrector.table,
        "gpu-checks": gpu_checks,
        "gpu-decodings": gpu_decodings,
        "paper": paper_tables.paper,
        **{kind: partial(paper_tables.paper_view, kind) for kind in paper_tables.VIEWS},
        "paper-runs": paper_tables.paper_runs,
        "keys": keys,
        "kinds-of-errors": kinds_of_errors,
        "presets": presets,
        "recipes": recipes,
    }


def generated() -> dict[Path, str]:
    """Generate the text of every page anew, by path, and write nothing; what is outside the generated parts stays."""
    return {page: regenerate(page.read_text(encoding="utf-8"), generators()) for page in pages()}


def keys(group: str) -> str:
    """The Markdown table of the keys of `group` (a name in GROUPS): values, default and meaning of each. Fields that the tokenizer
    sets are left out.

    Raises ValueError for a field of which the docstring of the dataclass says nothing.
    """
    return markdown(("key", "values", "default", "meaning"), list(_rows(*GROUPS[group])), 4)


def descriptions(kind: type) -> dict[str, str]:
    """The descriptions of the fields of the dataclass `kind`, by field name, from the bullet lists in its docstring and those of its bases.

    Fields that the list does not name are left out, and so are references to other parts of the code.
    """
    found = [each for base in reversed(kind.__mro__) for each in _BULLET.finditer((base.__doc__ or "") + "\n")]
    return {name.strip("`"): _without_references(each["text"]) for each in found for name in each["names"].split(", ")}


def _without_references(text: str) -> str:
    """`text` on one line, without references such as "(see `Constraints`)"."""
    return re.sub(r"\(see `\w+`; ", "(", re.sub(r" \(see `\w+`\)", "", " ".join(text.split())))


def _rows(kind: type, prefix: str) -> Iterator[tuple[str, str, str, str]]:
    hints, meanings = get_type_hints(kind, include_extras=True), descriptions(kind)
    for each in fields(kind):
        if kind in (TransformerConfig, DrafterConfig) and each.name in SET_BY_TOKENIZER:
            continue
        default = each.default_factory() if each.default_factory is not MISSING else each.default
        values, shown = in_words(hints[each.name]), "" if default in ("", None) else f"`{_toml(default)}`"
        if each.name not in meanings:
            raise ValueError(f"the docstring of {kind.__name__} says nothing of `{each.name}`")
        if is_dataclass(default) or isinstance(default, Mapping):
            values, shown = f"keys: `{prefix}{each.name}.KEY`", ""
        yield f"`{prefix}{each.name}`", values.replace("|", "or"), shown, meanings[each.name]


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_toml, value))}]"
    return str(value)


def kinds_of_errors() -> str:
    """The Markdown table of the keys of `rates` in corruption recipes, with a description of each kind of error."""
    rows = [(f"`rates.{name}`", (kind.__doc__ or "").split("\n\n")[0].replace("\n", " ").strip()) for name, kind in KINDS.items()]
    return markdown(("key", "error"), rows, 2)


def presets() -> str:
    """The Markdown table of the presets of Transformer sizes, with a column for each key in which they differ."""
    shapes = {name: shape.to_dict() for name, shape in PRESETS.items()}
    varied = [key for key in next(iter(shapes.values())) if len({shape[key] for shape in shapes.values()}) > 1]
    return markdown(("preset", *varied), [(f"`{name}`", *(str(shape[key]) for key in varied)) for name, shape in shapes.items()], 1)


def recipes() -> str:
    """The Markdown table of the recipes and scripts in specdec_cli/recipes: a link, and the first sentence of the first comment."""
    rows = []
    for path in sorted(RECIPES.iterdir()):
        if path.suffix in (".toml", ".sh"):
            text = path.read_text(encoding="utf-8").removeprefix("#!/usr/bin/env bash\n")
            comment = " ".join(line.lstrip("# ") for line in text[: re.search(r"^[^#]|\Z", text, re.MULTILINE).start()].splitlines())  # type: ignore[union-attr]
            link = f"[{path.name.removesuffix('.toml')}](../specdec_cli/recipes/{path.name})"
            rows.append((link, re.split(r"(?<=\.)(?= |$)(?! \d)", comment, maxsplit=1)[0]))
    return markdown(("recipe", "is for"), rows, 2)


def write_pages() -> None:
    """Write the generated parts of all pages anew."""
    for path, text in generated().items():
        _write(path, text)


def _write(path: Path, text: str) -> None:
    if path.read_text(encoding="utf-8") != text:
        write_text(path, text)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program with command-line `arguments` (default: those of the process)."""
    parser = argparse.ArgumentParser(prog="python -m tools.docs", description=__doc__)
    parser.add_argument("--outputs", action="store_true", help="record the output of the commands in the pages")
    parser.add_argument("--measure", type=Path, metavar="DATA", help="measure the stored results: en-de/*.tsv, en-gec/* in DATA")
    parser.add_argument("--result", action="append", metavar="NAME", help="with --measure: only this result; repeatable")
    asked = parser.parse_args(arguments)
    keep_order_of_sums()
    if asked.measure is not None:
        for line in results.measure_again(asked.measure.resolve(), asked.result or results.names()):
            print(line, file=sys.stderr)
    if asked.outputs:
        from tools.consoles import Shell, record

        with Shell() as shell:
            for page in pages():
                print(page.name, file=sys.stderr)
                _write(page, record(page, page.read_text(encoding="utf-8"), shell))
    write_pages()


if __name__ == "__main__":
    main()
