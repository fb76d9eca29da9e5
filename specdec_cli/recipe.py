"""Recipes: settings of training or corruption, read from TOML files and changed by `key=value`."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.fields import config_from_dict

T = TypeVar("T")
RECIPES = Path(__file__).parent / "recipes"
"""The folder of the shipped recipes."""


def find_recipe(name: str | None) -> Path | None:
    """The file of a recipe that is given as a path or as the name of a shipped recipe; None for None.

    Raises UsageError, naming the shipped recipes, if there is no such file or recipe.
    """
    if name is None or Path(name).exists():
        return None if name is None else Path(name)
    shipped = RECIPES / f"{name}.toml"
    if not shipped.exists():
        known = ", ".join(sorted(path.stem for path in RECIPES.glob("*.toml")))
        raise UsageError(f"--recipe {name}: no such file, and not one of the shipped recipes: {known}")
    return shipped


def load_recipe(kind: type[T], path: Path | None, changes: Sequence[str] = ()) -> T:
    """Read a recipe, a dataclass of type `kind`, from the TOML file `path`, and apply changes such as `run.seed=2`.

    Without `path`, all fields have their defaults. Raises UsageError for a change that is not `key=value`, or whose key is unknown or
    whose value is invalid, and ModelError naming the file and the key for an unreadable file, an unknown key or an invalid value in it.
    """
    values: dict[str, Any] = {}
    if path is not None:
        try:
            values = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
            raise ModelError(f"{path}: not a readable recipe ({error})") from error
    try:
        recipe = build(kind, values)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error
    return build_changed(kind, values, changes) if changes else recipe


def build_changed(kind: type[T], values: dict[str, Any], changes: Sequence[str]) -> T:
    """Build a dataclass of type `kind` from `values`, which are valid, and changes such as `run.seed=2`. Raises UsageError for a wrong
    change.
    """
    try:
        return build(kind, _apply_changes(values, changes))
    except ModelError as error:
        raise UsageError(f"--set: {error}") from error


def _apply_changes(values: dict[str, Any], changes: Sequence[str]) -> dict[str, Any]:
    """Apply changes such as `run.seed=2` to `values`, in place, and return it; a value that is not valid TOML is
    taken as text.

    Raises UsageError for a change that is not `key=value`, or that has a key below one with a plain value.
    """
    for change in changes:
        _apply(values, change)
    return values


def _apply(values: dict[str, Any], change: str) -> None:
    key, separator, text = change.partition("=")
    if not separator:
        raise UsageError(f"--set {change}: expected key=value, such as run.seed=2")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    except RecursionError as error:
        raise UsageError(f"--set {key}: its value is nested too deeply") from error
    *path, last = key.strip().split(".")
    for name in path:
        values = values.setdefault(name, {})
        if not isinstance(values, dict):
            raise UsageError(f"--set {change}: {name} is a value and has no keys")
    values[last] = value


def build(kind: type[T], values: Mapping[str, Any]) -> T:
    """Build a dataclass of type `kind`, and the dataclasses nested in it, from values read from TOML.

    Raises ModelError naming a key that is unknown or missing, or has an invalid value.
    """
    nested = {f.name: inner for f in fields(kind) if (inner := _dataclasses(f.type))}  # type: ignore[arg-type]
    prepared: dict[str, Any] = {}
    for key, value in values.items():
        if key not in {f.name for f in fields(kind)} and (places := _places(key, nested)):  # type: ignore[arg-type]
            raise ModelError(f"unknown key {key!r}; did you mean {' or '.join(places)}?")
        if key in nested:
            if not isinstance(value, Mapping):
                raise ModelError(f"{key!r} has keys of its own and cannot be {value!r}")
            try:
                prepared[key] = build(_of_kind(key, nested[key], value), value)
            except ModelError as error:
                raise ModelError(f"{key}: {error}") from error
        else:
            prepared[key] = tuple(value) if isinstance(value, list) else value
    return config_from_dict(kind, prepared)


def _places(key: str, nested: Mapping[str, Sequence[Any]]) -> list[str]:
    """The full names of `key` in the dataclasses in which it is a field, such as run.seed; `nested` has them by name."""
    return [f"{name}.{key}" for name, kinds in nested.items() if any(key == f.name for kind in kinds for f in fields(kind))]


def _dataclasses(hint: Any) -> list[Any]:
    """The dataclasses in `hint`: itself, or the members of a union."""
    return [one for one in get_args(hint) or [hint] if isinstance(one, type) and is_dataclass(one)]


def _of_kind(key: str, kinds: Sequence[Any], values: Mapping[str, Any]) -> Any:
    """The dataclass whose field `kind` has the value that `values` name; the first one if they name none. Raises ModelError."""
    if len(kinds) == 1 or "kind" not in values:
        return kinds[0]
    for one in kinds:
        if one.kind == values["kind"]:
            return one
    raise ModelError(f"{key}.kind must be {' or '.join(one.kind for one in kinds)}, not {values['kind']!r}")
