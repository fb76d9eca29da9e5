"""Command-line options of decoding, made from the fields of DecodingOptions that have a Flag."""

from collections.abc import Mapping
from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias, get_args

from specdec_cli.commands.options.groups import OptionGroup
from specdec_cli.commands.options.values import checks_number_or, decoding_option, number_or
from specdec_cli.decoding.methods import DECODINGS, OPTIONS, SEARCHES
from specdec_cli.decoding.options import DecodingOptions, alternatives, flags, ranges, words
from specdec_cli.opening.machine import MachineOptions

if TYPE_CHECKING:
    DecodingName: TypeAlias = str
else:
    DecodingName = Literal[DECODINGS]


def option(name: str, help_text: str = "", default: str = "") -> Any:
    """The option of the command line for a field of DecodingOptions; with another help, or another default in it.

    The words of a number stand beside it, as in N|auto.
    """
    flag = flags()[name][1]
    values: dict[str, Any] = {"metavar": flag.metavar or None, "help": help_text or flag.help}
    if shown := default or flag.default:
        values["show_default"] = shown
    if takes_text(name):
        values["callback"] = checks_number_or(*words(name))
    elif name in ranges() and ranges()[name].low >= 0:  # resolve() checks all ranges
        values["min"] = ranges()[name].low
    return decoding_option(f"--{name.replace('_', '-')}", **values)


def takes_text(name: str) -> bool:
    """Whether typer reads the value as text, which is a number from 1 or a word."""
    return name in ranges() and (bool(words(name)) or name in OPTIONS)


def _type(name: str) -> Any:
    """The type of an option as typer reads it."""
    kind, _ = flags()[name]
    optional = type(None) in alternatives(kind)
    if takes_text(name):
        return str | None
    if kind is bool:
        return bool
    read: Any = Literal[words(name)] if words(name) else next(get_args(each)[0] for each in alternatives(kind) if get_args(each))
    return read | None if optional else read


def parsed(name: str, value: Any) -> Any:
    """The value of a field of DecodingOptions from what typer read."""
    return number_or(value, *words(name)) if takes_text(name) else value


class DecodingFlags(OptionGroup):
    """The options of decoding, of the commands that decode text: `given` has those that the user gave, by the name of the field."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given

    @classmethod
    def parameters(cls) -> list[Parameter]:
        defaults = DecodingOptions()
        return [
            Parameter(name, Parameter.KEYWORD_ONLY, default=getattr(defaults, name), annotation=Annotated[_type(name), option(name)])
            for name in flags()
        ]

    @classmethod
    def build(cls, values: dict[str, Any]) -> Self:
        read = {name: parsed(name, values.pop(name)) for name in flags()}
        return cls({name: value for name, value in read.items() if value is not None})

    @property
    def search(self) -> str | None:
        """The search that these options ask for, by its name or by a setting of beam search; None if they ask for none."""
        if self.given["decoding"] in SEARCHES:
            return str(self.given["decoding"])
        return "beam" if self.given.keys() & {"beam_size", "length_penalty"} else None

    def options(self, machine: MachineOptions, *, with_scores: bool, trace: bool, n_best: int = 1, mode: str = "") -> DecodingOptions:
        """These options and those of `machine` for the engine; `with_scores`: the tokens get log probabilities; `mode`: that of a
        correction.

        With `trace`, sentences are decoded one by one, and always with drafts.
        """
        return DecodingOptions(
            **self.given,
            n_best=n_best,
            batch_size=1 if trace else machine.rows,
            memory=machine.batch_memory,
            with_scores=with_scores,
            always_draft=trace,
            seed=machine.seed,
            mode=mode,
        )
