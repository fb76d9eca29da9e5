"""The generated parts of docs/settings.md: the keys of `--set`, read from dataclasses, and the recipes that ship."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

from specdec_cli.benchmark.report import Table
from specdec_cli.corruption.kinds import KINDS
from specdec_cli.corruption.recipe import CorruptionRecipe, ErrorCounts
from specdec_cli.fields import in_words
from specdec_cli.model.bundle_info import BundleInfo
from specdec_cli.model.config import PRESETS, TransformerConfig
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.model.heads_config import HeadsConfig
from specdec_cli.training.recipe import SET_BY_TOKENIZER, DrafterRecipe, OptimizerSettings, RunSettings, VerifierRecipe
from tools.pages import ROOT

FOLDER = ROOT / "specdec_cli" / "recipes"
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


def keys(group: str) -> str:
    """The Markdown table of the keys of `group` (a name in GROUPS): values, default and meaning of each. Fields that the tokenizer
    sets are left out.

    Raises ValueError for a field of which the docstring of the dataclass says nothing.
    """
    kind, prefix = GROUPS[group]
    rows = list(_rows(kind, prefix))
    return Table(("key", "values", "default", "meaning"), tuple(rows), names=4).to_markdown()


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
        values, shown = in_words(hints[each.name]), _shown(default)
        if each.name not in meanings:
            raise ValueError(f"the docstring of {kind.__name__} says nothing of `{each.name}`")
        if is_dataclass(default) or isinstance(default, Mapping):
            values, shown = f"keys: `{prefix}{each.name}.KEY`", ""
        yield f"`{prefix}{each.name}`", values.replace("|", "or"), shown, meanings[each.name]


def _shown(default: object) -> str:
    return "" if default in ("", None) else f"`{_toml(default)}`"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_toml, value))}]"
    return str(value)


def kinds_of_errors() -> str:
    """The Markdown table of the keys of `rates` in corruption recipes, with a description of each kind of error."""
    rows = [(f"`rates.{name}`", (kind.__doc__ or "").split("\n\n")[0].replace("\n", " ").strip()) for name, kind in KINDS.items()]
    return Table(("key", "error"), tuple(rows), names=2).to_markdown()


def presets() -> str:
    """The Markdown table of the presets of Transformer sizes, with a column for each key in which they differ."""
    shapes = {name: shape.to_dict() for name, shape in PRESETS.items()}
    varied = [key for key in next(iter(shapes.values())) if len({shape[key] for shape in shapes.values()}) > 1]
    rows = [(f"`{name}`", *(str(shape[key]) for key in varied)) for name, shape in shapes.items()]
    return Table(("preset", *varied), tuple(rows)).to_markdown()


def recipes() -> str:
    """A Markdown section for each recipe in specdec_cli/recipes: its first comment, and its settings in the form of `--set`."""
    return "\n".join(_recipe(path) for path in sorted(FOLDER.iterdir()) if path.suffix in (".toml", ".sh"))


def _recipe(path: Path) -> str:
    name = path.name.removesuffix(".toml")
    text = path.read_text(encoding="utf-8")
    lines = text.removeprefix("#!/usr/bin/env bash\n").splitlines()
    about = []
    for line in lines:
        if not line.startswith("#"):
            break
        about.append(line.lstrip("# "))
    settings = "" if path.suffix == ".sh" else " ".join(_settings(tomllib.loads(text)))
    shown = f"\n```text\n{settings}\n```\n" if settings else ""
    return f"### [{name}](../specdec_cli/recipes/{path.name})\n\n{' '.join(about)}\n{shown}"


def _settings(values: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _settings(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}={_toml(value)}"
