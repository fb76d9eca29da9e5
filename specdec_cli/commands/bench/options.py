"""The options of `specdec bench`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from specdec_cli.benchmark.sweeps import SWEEP_KEYS
from specdec_cli.commands.options.decoding import BeamSizeOption, BlockSizeOption, LengthPenaltyOption, MaxLengthOption, MethodOptions
from specdec_cli.commands.options.groups import OptionGroup
from specdec_cli.commands.options.machine import BatchSizeOption, DeviceOption, OfflineOption, PrecisionOption, ThreadsOption
from specdec_cli.commands.options.model import MODEL_HELP
from specdec_cli.commands.options.text import NoSplitOption, QuietOption
from specdec_cli.commands.options.values import DECODING_PANEL, OUTPUT_PANEL
from specdec_cli.decoding.names import OPTIONS, Task

_COMPARED_PANEL = "What is compared"
FileArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE", help="TSV: source and reference. Else stdin, else a built-in sample. For correction also M2.", show_default=False
    ),
]
SourceOption = Annotated[
    Path | None, typer.Option("--input", metavar="FILE", help="Source lines, instead of TSV.", rich_help_panel=OUTPUT_PANEL)
]
ReferencesOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--reference", metavar="FILE", help="A reference for each line of --input. Repeatable, for rewriting.", rich_help_panel=OUTPUT_PANEL
    ),
]
TaskOption = Annotated[
    Task | None,
    typer.Option(
        "--task",
        metavar="NAME",
        help="Task, which decides the scores: translate, summarise, correct (grammatical errors) or simplify.",
        show_default="the bundle's",
        rich_help_panel=OUTPUT_PANEL,
    ),
]
KeepTokensOption = Annotated[
    bool,
    typer.Option(
        "--keep-tokens",
        help="With --task correct: decode tokenised text as it is; by default its tokens are joined first.",
        rich_help_panel=OUTPUT_PANEL,
    ),
]
LimitOption = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=1, help="Only the first N lines.", rich_help_panel=OUTPUT_PANEL)
]
RowsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--row",
        metavar="DECODING[:PRESET]",
        help="A row: a decoding, or a chain with commas between, of which each row of a batch takes the first that has a draft; after a "
        "colon its preset, rule or iterations; ctranslate2-greedy or ctranslate2-beam, with float32 or int8. Repeatable.",
        show_default="the usual ones that the bundle can do",
        rich_help_panel=_COMPARED_PANEL,
    ),
]
SweepOption = Annotated[
    list[str] | None,
    typer.Option(
        "--sweep",
        metavar="KEY=V1,V2,...",
        help=f"Rows for several values of {', '.join(SWEEP_KEYS[:-1])} or {SWEEP_KEYS[-1]}. Repeatable: all combinations.",
        rich_help_panel=_COMPARED_PANEL,
    ),
]
OracleLengthOption = Annotated[
    bool,
    typer.Option(
        "--oracle-length",
        help="Give jacobi and gs-jacobi the length of greedy's output beforehand, as the paper does for PJ and PGJ; that is not timed.",
        rich_help_panel=_COMPARED_PANEL,
    ),
]
RepetitionsOption = Annotated[
    int, typer.Option("--repetitions", metavar="N", min=1, help="Runs of every row; medians count.", rich_help_panel=_COMPARED_PANEL)
]
ProfileOption = Annotated[
    bool,
    typer.Option(
        "--profile", help="Print the time by module and that of a round, for rows that draft or search.", rich_help_panel=_COMPARED_PANEL
    ),
]
HistogramOption = Annotated[
    bool,
    typer.Option("--histogram", help="Print the distribution of the speedup of specdec over sentences.", rich_help_panel=_COMPARED_PANEL),
]
PlotOption = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Draw speedup against edit ratio, one point per line: .svg, .png or .pdf.",
        rich_help_panel=_COMPARED_PANEL,
    ),
]
TuneOption = Annotated[
    bool,
    typer.Option(
        "--tune",
        help="Try settings of specdec++ (of blockwise, if the bundle has heads) and store the best in the bundle as its presets, "
        "by BLEU and tokens per round. --sweep of top-beta or tolerance tries other values.",
        rich_help_panel=_COMPARED_PANEL,
    ),
]
SyntheticOption = Annotated[
    bool,
    typer.Option(
        "--synthetic",
        help="Measure this machine without a model: rounds of two usual shapes with random weights and recorded acceptance, "
        "beside CTranslate2 with its fastest settings.",
        rich_help_panel=_COMPARED_PANEL,
    ),
]
JsonFileOption = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write all numbers to this file.", rich_help_panel=OUTPUT_PANEL)
]
MarkdownOption = Annotated[bool, typer.Option("--markdown", help="Print Markdown.", rich_help_panel=OUTPUT_PANEL)]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        metavar="BUNDLE",
        help=MODEL_HELP,
        show_default="en-de, or en-gec with --task correct",
        rich_help_panel=DECODING_PANEL,
    ),
]


@dataclass(frozen=True, kw_only=True)
class InputOptions(OptionGroup):
    """Options of the input and its scores."""

    source: SourceOption = None
    references: ReferencesOption = None
    task: TaskOption = None
    keep_tokens: KeepTokensOption = False
    limit: LimitOption = None


@dataclass(frozen=True, kw_only=True)
class ComparedOptions(OptionGroup):
    """Options of rows and of what is shown of their results."""

    rows: RowsOption = None
    sweep: SweepOption = None
    oracle_length: OracleLengthOption = False
    repetitions: RepetitionsOption = 3
    profile: ProfileOption = False
    histogram: HistogramOption = False
    plot: PlotOption = None
    tune: TuneOption = False
    synthetic: SyntheticOption = False


class NumericOptions(MethodOptions):
    """The numeric options of decodings; other options are variants of rows."""

    options: ClassVar = tuple(option for option in OPTIONS if option.numeric)


@dataclass(frozen=True, kw_only=True)
class SettingOptions(OptionGroup):
    """Settings of all rows that support them."""

    block_size: BlockSizeOption = None
    own: NumericOptions
    beam_size: BeamSizeOption = None
    length_penalty: LengthPenaltyOption = None
    max_length: MaxLengthOption = None


@dataclass(frozen=True, kw_only=True)
class ComputingOptions(OptionGroup):
    """Options of batches, machine and splitting."""

    batch_size: BatchSizeOption = "1"
    device: DeviceOption = "auto"
    precision: PrecisionOption = "auto"
    threads: ThreadsOption = None
    no_split: NoSplitOption = False


@dataclass(frozen=True, kw_only=True)
class ReportOptions(OptionGroup):
    """Options of the output."""

    json_file: JsonFileOption = None
    markdown: MarkdownOption = False
    quiet: QuietOption = False
    offline: OfflineOption = False
