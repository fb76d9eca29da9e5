"""Options that mean the same in every command: one type and one help text each.

A default of None stands for what the bundle says; the value `auto` for what suits model and machine.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from specdec_cli.decoding.names import DECODINGS, ITERATIONS, JACOBI_LENGTH, LENGTH_BEAM, MATCH, STOP, OptionValue

if TYPE_CHECKING:
    Decoding: TypeAlias = str
    DecodingOrAuto: TypeAlias = str
    Match: TypeAlias = str
    Stop: TypeAlias = str
else:
    Decoding, DecodingOrAuto = Literal[DECODINGS], Literal[("auto", *DECODINGS)]
    Match, Stop = Literal[MATCH.choices], Literal[STOP.choices]
Preset = Literal["exact", "high-quality", "high-efficiency"]
Device = Literal["auto", "cpu", "cuda"]
Precision = Literal["auto", "float32", "bfloat16", "float16", "int8"]
EngineName = Literal["auto", "native", "reference"]

DECODING_PANEL = "Model and decoding"
MACHINE_PANEL = "Machine"
OUTPUT_PANEL = "Input and output"
MODEL_HELP = "A bundle (folder or name), or another toolkit's model (folder, file or hub name)."


def number_or_auto(value: str | None) -> int | Literal["auto"] | None:
    """The value of an option that takes N or `auto`. Raises typer.BadParameter (exit code 2) for anything else."""
    if value is None:
        return None
    if value == "auto":
        return "auto"
    if not (value.isascii() and value.isdigit() and int(value) > 0):
        raise typer.BadParameter(f"{value!r} is neither a number from 1 nor 'auto'")
    return int(value)


def batch_rows(value: int | Literal["auto"] | None) -> int:
    """Sentences that are decoded together, `auto` settled."""
    return value if isinstance(value, int) else 64


def batch_memory(megabytes: int | None) -> int:
    """Bytes that batches may take: as many as were given, else half of what is free; 0, no bound, where that is not known."""
    if megabytes is not None:
        return megabytes * 2**20
    described = Path("/proc/meminfo")
    lines = described.read_text().splitlines() if described.exists() else []
    free = next((line.split()[1] for line in lines if line.startswith("MemAvailable:")), "0")
    return int(free) * 2**10 // 2


def not_nan(value: float | None) -> float | None:
    """The value of an option that takes a number. Raises typer.BadParameter for NaN, which no range excludes."""
    if value != value:
        raise typer.BadParameter("nan is no number")
    return value


def number_or_max(value: str | None) -> int | Literal["max"] | None:
    """The value of an option that takes N or `max`. Raises typer.BadParameter (exit code 2) for anything else."""
    if value == "max":
        return "max"
    try:
        number = number_or_auto(value)
    except typer.BadParameter:
        number = "auto"
    if number == "auto":
        raise typer.BadParameter(f"{value!r} is neither a number from 1 nor 'max'")
    return number


def given(**values: OptionValue | None) -> dict[str, OptionValue]:
    """The values that are not None, by name."""
    return {name: value for name, value in values.items() if value is not None}


def _length_checked(value: str | None) -> str | None:
    number_or_max(value)
    return value


def _checked(value: str | None) -> str | None:
    number_or_auto(value)
    return value


FilesArgument = Annotated[list[Path] | None, typer.Argument(metavar="FILE", help="Text files, .gz and .xz too; stdin without any.")]
ModelOption = Annotated[
    str,
    typer.Option("--model", "-m", metavar="MODEL", help=MODEL_HELP, rich_help_panel=DECODING_PANEL),
]
SourceLanguageOption = Annotated[
    str,
    typer.Option(
        "--source-language",
        metavar="CODE",
        help="For a model of many languages.",
        show_default="the bundle's",
        rich_help_panel=DECODING_PANEL,
    ),
]
TargetLanguageOption = Annotated[
    str,
    typer.Option(
        "--target-language",
        metavar="CODE",
        help="For a model of many languages.",
        show_default="the bundle's",
        rich_help_panel=DECODING_PANEL,
    ),
]
DecodingOption = Annotated[
    DecodingOrAuto,
    typer.Option(
        "--decoding",
        metavar="NAME",
        help=f"How to decode. One of {', '.join(('auto', *DECODINGS))}; all but beam, bidirectional, mask-predict, specdec++ "
        "and drafter give greedy's output. drafter verifies nothing; its rounds are drafting passes.",
        rich_help_panel=DECODING_PANEL,
    ),
]
BlockSizeOption = Annotated[
    str | None,
    typer.Option(
        "--block-size",
        metavar="N|auto",
        callback=_checked,
        help="Tokens that are drafted a round, at most; auto: as many as pay. By name, input-guided and jacobi have no bound, and "
        "gs-jacobi and hybrid-jacobi take blocks of 3.",
        show_default="auto",
        rich_help_panel=DECODING_PANEL,
    ),
]
TopBetaOption = Annotated[
    int | None,
    typer.Option(
        "--top-beta",
        metavar="N",
        min=1,
        help="Accept a drafted token among the verifier's N best.",
        show_default="the preset's",
        rich_help_panel=DECODING_PANEL,
    ),
]
ToleranceOption = Annotated[
    float | None,
    typer.Option(
        "--tolerance",
        metavar="X",
        min=0.0,
        help="Accept a drafted token whose log probability is at most X below the best.",
        show_default="the preset's",
        rich_help_panel=DECODING_PANEL,
    ),
]
PresetOption = Annotated[
    Preset | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        help="Set --top-beta and --tolerance together. One of exact, high-quality, high-efficiency.",
        rich_help_panel=DECODING_PANEL,
    ),
]
MatchOption = Annotated[
    Match | None,
    typer.Option(
        "--match",
        metavar=MATCH.metavar,
        help=MATCH.help,
        show_default=MATCH.shown_default,
        rich_help_panel=DECODING_PANEL,
    ),
]
StopOption = Annotated[
    Stop | None,
    typer.Option(
        "--stop",
        metavar=STOP.metavar,
        help=STOP.help,
        show_default=STOP.shown_default,
        rich_help_panel=DECODING_PANEL,
    ),
]
JacobiLengthOption = Annotated[
    str | None,
    typer.Option(
        "--jacobi-length",
        metavar=JACOBI_LENGTH.metavar,
        callback=_length_checked,
        help=JACOBI_LENGTH.help,
        show_default=JACOBI_LENGTH.shown_default,
        rich_help_panel=DECODING_PANEL,
    ),
]
IterationsOption = Annotated[
    int | None,
    typer.Option(
        "--iterations",
        metavar=ITERATIONS.metavar,
        min=1,
        help=ITERATIONS.help,
        show_default=ITERATIONS.shown_default,
        rich_help_panel=DECODING_PANEL,
    ),
]
LengthBeamOption = Annotated[
    int | None,
    typer.Option(
        "--length-beam",
        metavar=LENGTH_BEAM.metavar,
        min=1,
        help=LENGTH_BEAM.help,
        show_default=LENGTH_BEAM.shown_default,
        rich_help_panel=DECODING_PANEL,
    ),
]
BeamSizeOption = Annotated[
    int | None,
    typer.Option(
        "--beam-size",
        metavar="N",
        min=1,
        help="Hypotheses that beam search keeps.",
        show_default="the bundle's, else 5",
        rich_help_panel=DECODING_PANEL,
    ),
]
LengthPenaltyOption = Annotated[
    float | None,
    typer.Option(
        "--length-penalty",
        metavar="X",
        help="Beam search divides a score by length to this power.",
        show_default="the bundle's, else 1.0",
        rich_help_panel=DECODING_PANEL,
    ),
]
MaxLengthOption = Annotated[
    int | None,
    typer.Option(
        "--max-length",
        metavar="N",
        min=1,
        help="Tokens emitted a sentence at most, the end of sentence included.",
        show_default="three times the source's",
        rich_help_panel=DECODING_PANEL,
    ),
]
BatchSizeOption = Annotated[
    str,
    typer.Option(
        "--batch-size", metavar="N|auto", callback=_checked, help="Sentences that are decoded together.", rich_help_panel=MACHINE_PANEL
    ),
]
MemoryOption = Annotated[
    int | None,
    typer.Option(
        "--memory",
        metavar="MB",
        min=1,
        help="Memory that batches and the lines in flight may take, beside the model.",
        show_default="half of what is free",
        rich_help_panel=MACHINE_PANEL,
    ),
]
DeviceOption = Annotated[Device, typer.Option("--device", help="Where to compute.", rich_help_panel=MACHINE_PANEL)]
PrecisionOption = Annotated[
    Precision,
    typer.Option(
        "--precision",
        help="Number format of the arithmetic; auto takes the fastest that still gives greedy's output at that precision.",
        rich_help_panel=MACHINE_PANEL,
    ),
]
EngineOption = Annotated[
    EngineName,
    typer.Option(
        "--engine",
        help="What computes: reference (PyTorch, every decoding), or native (without PyTorch, int8 on a CPU: greedy, lookup, "
        "input-guided). auto is reference.",
        rich_help_panel=MACHINE_PANEL,
    ),
]
ThreadsOption = Annotated[
    int | None,
    typer.Option(
        "--threads", metavar="N", min=1, max=1024, help="Threads to compute with.", show_default="all cores", rich_help_panel=MACHINE_PANEL
    ),
]
SeedOption = Annotated[
    int, typer.Option("--seed", metavar="N", min=0, max=2**32 - 1, help="Seed of everything that is random.", rich_help_panel=MACHINE_PANEL)
]
NoSplitOption = Annotated[
    bool,
    typer.Option("--no-split", help="Take a line as one sentence; do not look for sentences in it.", rich_help_panel=OUTPUT_PANEL),
]
UnwrapOption = Annotated[
    bool,
    typer.Option(
        "--unwrap",
        help="Join the lines of a wrapped paragraph, decode it as one, and wrap it again; --json has an object a paragraph.",
        rich_help_panel=OUTPUT_PANEL,
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write here.", show_default="stdout", rich_help_panel=OUTPUT_PANEL),
]
OutputDirOption = Annotated[
    Path | None,
    typer.Option(
        "--output-dir",
        metavar="FOLDER",
        help="Write a file for each FILE here, of the same name; of what is compressed a plain one.",
        show_default=False,
        rich_help_panel=OUTPUT_PANEL,
    ),
]
MaxLineBytesOption = Annotated[
    int,
    typer.Option("--max-line-bytes", metavar="N", min=1, help="Refuse longer lines.", rich_help_panel=OUTPUT_PANEL),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object a line instead of text.", rich_help_panel=OUTPUT_PANEL)]
StatsOption = Annotated[
    bool, typer.Option("--stats", help="At the end, print tokens per round, time and memory to stderr.", rich_help_panel=OUTPUT_PANEL)
]
TraceOption = Annotated[
    bool,
    typer.Option(
        "--trace",
        help="Show each round on stderr: draft, accepted, bifurcation. Drafts even where plain greedy decoding is faster.",
        rich_help_panel=OUTPUT_PANEL,
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing on stderr but errors.", rich_help_panel=OUTPUT_PANEL)]
OfflineOption = Annotated[bool, typer.Option("--offline", help="Never use the network.", rich_help_panel=MACHINE_PANEL)]
