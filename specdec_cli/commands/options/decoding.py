"""Command-line options of decoding: its name, block size, tolerance, beam search, length."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeAlias

from specdec_cli.commands.options.groups import OptionGroup
from specdec_cli.commands.options.machine import MachineOptions
from specdec_cli.commands.options.values import checks_number_or, decoding_option, number_or, number_or_auto
from specdec_cli.decoding.names import DECODINGS, METHODS, OPTIONS, SEARCHES, DecodingOption, OptionValue

if TYPE_CHECKING:
    from specdec_cli.pipeline.request import DecodingRequest

    DecodingName: TypeAlias = str
    DecodingOrAuto: TypeAlias = str
else:
    DecodingName, DecodingOrAuto = Literal[DECODINGS], Literal[("auto", *DECODINGS)]
INEXACT = [method.name for method in METHODS.values() if not method.exact]
Preset = Literal["exact", "high-quality", "high-efficiency"]

DecodingNameOption = Annotated[
    DecodingOrAuto,
    decoding_option(
        "--decoding",
        metavar="NAME",
        help=f"How to decode: {', '.join(('auto', *DECODINGS))}. All but {', '.join(INEXACT[:-1])} and {INEXACT[-1]} give greedy's output. "
        "drafter verifies nothing; its rounds are drafting passes.",
    ),
]
BlockSizeOption = Annotated[
    str | None,
    decoding_option(
        "--block-size",
        metavar="N|auto",
        callback=checks_number_or("auto"),
        help="Largest number of tokens drafted in a round; auto adapts it to cost and acceptance. There is no limit by default if "
        "input-guided or jacobi is chosen by name, and the default of gs-jacobi and hybrid-jacobi is then 3.",
        show_default="auto",
    ),
]
TopBetaOption = Annotated[
    int | None,
    decoding_option(
        "--top-beta", metavar="N", min=1, help="Accept a drafted token only among the verifier's N best.", show_default="the preset's"
    ),
]
ToleranceOption = Annotated[
    float | None,
    decoding_option(
        "--tolerance",
        metavar="X",
        min=0.0,
        help="Accept a drafted token only if its log probability is at most X below the best.",
        show_default="the preset's",
    ),
]
PresetOption = Annotated[
    Preset | None,
    decoding_option(
        "--preset",
        metavar="NAME",
        help="Values of --top-beta and --tolerance: exact, high-quality or high-efficiency.",
        show_default="high-quality, for specdec++",
    ),
]
_beam_size = partial(decoding_option, "--beam-size", metavar="N", min=1, show_default="the bundle's, else 5")
_length_penalty = partial(decoding_option, "--length-penalty", metavar="X", show_default="the bundle's, else 1.0")
BeamSizeOption = Annotated[int | None, _beam_size(help="Decode with beam search, which keeps N hypotheses.")]
LengthPenaltyOption = Annotated[
    float | None, _length_penalty(help="Decode with beam search, which divides the score of a hypothesis by its length to this power.")
]
RowBeamSizeOption = Annotated[int | None, _beam_size(help="Hypotheses that rows of beam search keep.")]
RowLengthPenaltyOption = Annotated[
    float | None, _length_penalty(help="Rows of beam search divide the score of a hypothesis by its length to this power.")
]
_max_length = partial(
    decoding_option, "--max-length", metavar="N", min=1, help="Largest number of tokens emitted for a sentence, EOS included."
)
MaxLengthOption = Annotated[int | None, _max_length(show_default="the bundle's, else about three times the source's")]
TeacherLengthOption = Annotated[int | None, _max_length(show_default="the teacher's longest")]


class MethodOptions(OptionGroup):
    """An option group of the options that only some decodings have; `given` has the values that the user gave, by option name."""

    options: ClassVar[Sequence[DecodingOption]] = OPTIONS

    def __init__(self, given: Mapping[str, OptionValue]) -> None:
        self.given = given

    @classmethod
    def parameters(cls) -> list[Parameter]:
        """A keyword-only parameter for each option of the group, with the default None, as typer reads it."""
        return [Parameter(option.name, Parameter.KEYWORD_ONLY, default=None, annotation=_annotation(option)) for option in cls.options]

    @classmethod
    def build(cls, values: dict[str, Any]) -> Self:
        """Make the group from the values of its options in `values`, and remove them from `values` in place; None means not given."""
        asked = {option.name: (option, values.pop(option.name)) for option in cls.options}
        parsed = {name: number_or(value, *option.choices) if option.numeric else value for name, (option, value) in asked.items()}
        return cls({name: value for name, value in parsed.items() if value is not None})


def _annotation(option: DecodingOption) -> Any:
    """The type of an option of some decodings, as typer reads it."""
    described = decoding_option(
        f"--{option.name.replace('_', '-')}",
        metavar=option.metavar,
        callback=checks_number_or(*option.choices) if option.numeric else None,
        help=option.help,
        show_default=option.shown_default,
    )
    return Annotated[str | None if option.numeric else Literal[option.choices] | None, described]


@dataclass(frozen=True, kw_only=True)
class DecodingOptions(OptionGroup):
    """The options of decoding, of the commands that decode text."""

    decoding: DecodingNameOption = "auto"
    block_size: BlockSizeOption = None
    top_beta: TopBetaOption = None
    tolerance: ToleranceOption = None
    preset: PresetOption = None
    own: MethodOptions
    beam_size: BeamSizeOption = None
    length_penalty: LengthPenaltyOption = None
    max_length: MaxLengthOption = None

    @property
    def search(self) -> str | None:
        """The search that these options ask for, by its name or by a setting of beam search; None if they ask for none."""
        if self.decoding in SEARCHES:
            return self.decoding
        return None if self.beam_size is None and self.length_penalty is None else "beam"

    def request(self, machine: MachineOptions, *, with_scores: bool, trace: bool, n_best: int = 1, mode: str = "") -> "DecodingRequest":
        """These options and those of `machine` as a request to the engine; `with_scores`: the tokens get log probabilities; `mode`:
        that of a correction.

        With `trace`, sentences are decoded one by one, and always with drafts.
        """
        from specdec_cli.pipeline.request import DecodingRequest

        return DecodingRequest(
            decoding=self.decoding,
            block_size=number_or_auto(self.block_size),
            top_beta=self.top_beta,
            tolerance=self.tolerance,
            preset=self.preset,
            options=self.own.given,
            beam_size=self.beam_size,
            length_penalty=self.length_penalty,
            n_best=n_best,
            max_length=self.max_length,
            batch_size=1 if trace else machine.rows,
            memory=machine.batch_memory,
            with_scores=with_scores,
            always_draft=trace,
            mode=mode,
        )
