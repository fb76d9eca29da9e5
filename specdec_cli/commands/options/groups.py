"""Groups of command-line options: one parameter of a command function stands for all options of a group."""

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from inspect import Parameter, signature
from typing import Any, Self, get_type_hints


class OptionGroup:
    """Base of dataclasses whose fields are command-line options (`Annotated` with `typer.Option`) or further groups of options."""

    @classmethod
    def parameters(cls) -> list[Parameter]:
        """A keyword-only parameter for each option of the group, in the order of the fields, as typer reads it."""
        found: list[Parameter] = []
        for name, kind, default in cls._fields():
            found += kind.parameters() if _is_group(kind) else [Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)]
        return found

    @classmethod
    def build(cls, values: dict[str, Any]) -> Self:
        """Make the group from the values of its options in `values`, by name, and remove them from `values` in place."""
        return cls(**{name: kind.build(values) if _is_group(kind) else values.pop(name) for name, kind, _ in cls._fields()})

    @classmethod
    def _fields(cls) -> list[tuple[str, Any, Any]]:
        """Name, type and default of each field."""
        hints = get_type_hints(cls, include_extras=True)
        return [(each.name, hints[each.name], each.default) for each in fields(cls)]  # type: ignore[arg-type]


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap `command` for typer: in the signature of the wrapper, the options of a group replace each parameter that is a group.

    A parameter of the command itself takes the place of an option of the same name, which then has its default in the group.
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hints[name] for name in signature(command).parameters if _is_group(hints[name])}
    own = signature(command).parameters.keys() - groups.keys()
    replaced = {each.name: each.default for group in groups.values() for each in group.parameters() if each.name in own}
    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if name in groups:
            parameters += [each for each in groups[name].parameters() if each.name not in own]
        else:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))

    @wraps(command)
    def expanded(**values: Any) -> None:
        given = {name: values.pop(name) for name in own}
        values |= replaced
        command(**{name: group.build(values) for name, group in groups.items()}, **given)

    expanded.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters} | {"return": None}
    return expanded


def _is_group(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, OptionGroup)
