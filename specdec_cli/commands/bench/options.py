"""The command-line options of `specdec bench`."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from specdec_cli.benchmark.sweeps import SWEEP_KEYS
from specdec_cli.commands.options import (
    MODEL_HELP,
    BatchSizeOption,
    DeviceOption,
    EngineOption,
    NoSplitOption,
    OfflineOption,
    OptionGroup,
    PrecisionOption,
    QuietOption,
    ThreadsOption,
    decoding_option,
    option,
    output_option,
    parsed,
)
from specdec_cli.model.bundle_info import Task
from specdec_cli.opening.models import CORRECTOR, TRANSLATOR

_compared_option = partial(typer.Option, rich_help_panel="What is compared")
FileArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE",
        help="TSV: source and reference, or M2 for correction. Without it stdin; at a terminal, or if that is empty, a built-in sample.",
        show_default=False,
    ),
]
SourceOption = Annotated[Path | None, output_option("--input", metavar="FILE", help="Source lines, or TSV whose source column is used.")]
ReferencesOption = Annotated[
    list[Path] | None, output_option("--reference", metavar="FILE", help="A reference for each line of --input. Repeatable, for rewriting.")
]
TaskOption = Annotated[
    Task | None,
    output_option(
        "--task",
        metavar="NAME",
        help="Task, which decides the scores: translate, summarise, correct (grammatical errors) or simplify.",
        show_default="the bundle's",
    ),
]
KeepTokensOption = Annotated[
    bool,
    output_option("--keep-tokens", help="With --task correct: decode tokenised text as it is; by default its tokens are joined first."),
]
ScoreOption = Annotated[
    Literal["tokens", "characters"],
    output_option(
        "--score",
        help="With --task correct: compare edits of tokens, or of characters (for Chinese; FILE is M2 of characters, or TSV with one or "
        "more references a line).",
    ),
]
LimitOption = Annotated[int | None, output_option("--limit", metavar="N", min=1, help="Only the first N lines.")]
RowsOption = Annotated[
    list[str] | None,
    _compared_option(
        "--row",
        metavar="DECODING[:PRESET]",
        help="A row: a decoding, or a chain with commas between, which uses the first draft that is not empty; after a "
        "colon its preset, rule or iterations; ctranslate2-greedy or ctranslate2-beam, with a number format such as int8, or with best: "
        "the fastest number format, threads and batch size. Repeatable.",
        show_default="the usual ones that the bundle supports",
    ),
]
SweepOption = Annotated[
    list[str] | None,
    _compared_option(
        "--sweep",
        metavar="KEY=V1,V2,...",
        help=f"Rows for several values of {', '.join(SWEEP_KEYS[:-1])} or {SWEEP_KEYS[-1]}. Repeatable: all combinations.",
    ),
]
OracleLengthOption = Annotated[
    bool,
    _compared_option(
        "--oracle-length",
        help="Give jacobi and gs-jacobi the length of greedy's output beforehand, as Santilli et al. 2023 do; that is not timed.",
    ),
]
RepetitionsOption = Annotated[
    int | None,
    _compared_option(
        "--repetitions", metavar="N", min=1, help="Runs of every row; the medians are reported.", show_default="3; 1 with --tune"
    ),
]
ProfileOption = Annotated[
    bool, _compared_option("--profile", help="Print the time by module and that of a round, for rows that draft or search.")
]
HistogramOption = Annotated[
    bool,
    _compared_option(
        "--histogram",
        help="Print the distribution of the speedups of lines, for rows that draft.",
    ),
]
PlotOption = Annotated[
    Path | None,
    _compared_option(
        "--plot",
        metavar="FILE",
        help="Draw quality against speedup, one point per row; for rewriting, speedup against edit ratio, one point per line: "
        ".svg, .png or .pdf. Other figures beside it: a-histogram.svg, a-profile.svg, and one for each analysis.",
    ),
]
AnalysisOption = Annotated[
    list[str] | None,
    _compared_option(
        "--analysis",
        metavar="NAME",
        help="Analyse the outputs: significance (of differences in BLEU to a row), ends (precision of n-grams at the head and the "
        "tail), compounds (BLEU with split compounds) or flops (floating-point operations). Repeatable.",
    ),
]
BaselineOption = Annotated[
    str | None,
    _compared_option(
        "--baseline",
        metavar="DECODING[:PRESET]",
        help="Row that --analysis significance compares the others with, named as in --row: the first of that name.",
        show_default="the first row",
    ),
]
TuneOption = Annotated[
    bool,
    _compared_option(
        "--tune",
        help="Try settings of specdec++ (of blockwise, if the bundle has heads) and store the best in the bundle as its presets, "
        "by BLEU and tokens per round. --sweep of top-beta or tolerance tries other values, and of block-size chooses the fastest.",
    ),
]
SyntheticOption = Annotated[
    bool,
    _compared_option(
        "--synthetic",
        help="Measure this machine without a model: rounds of common shapes with random weights and recorded acceptance, "
        "compared with CTranslate2 at its fastest settings.",
    ),
]
JsonFileOption = Annotated[Path | None, output_option("--json", metavar="FILE", help="Write all numbers to this file.")]
MarkdownOption = Annotated[bool, output_option("--markdown", help="Print Markdown.")]
ModelOption = Annotated[
    list[str] | None,
    decoding_option(
        "--model",
        "-m",
        metavar="BUNDLE",
        help=f"{MODEL_HELP} Repeatable: models of one task are compared.",
        show_default=f"{TRANSLATOR}, the shipped bundle of the languages, or {CORRECTOR} with --task correct",
    ),
]


@dataclass(frozen=True, kw_only=True)
class InputOptions(OptionGroup):
    """The options of bench for its input and the scores of outputs."""

    source: SourceOption = None
    references: ReferencesOption = None
    task: TaskOption = None
    keep_tokens: KeepTokensOption = False
    score: ScoreOption = "tokens"
    limit: LimitOption = None


@dataclass(frozen=True, kw_only=True)
class ComparedOptions(OptionGroup):
    """The options of bench for the rows that are compared, and for what is shown of their results."""

    rows: RowsOption = None
    sweep: SweepOption = None
    oracle_length: OracleLengthOption = False
    repetitions: RepetitionsOption = None
    profile: ProfileOption = False
    histogram: HistogramOption = False
    plot: PlotOption = None
    analyses: AnalysisOption = None
    baseline: BaselineOption = None
    tune: TuneOption = False
    synthetic: SyntheticOption = False

    @property
    def runs(self) -> int:
        """The number of runs of every row."""
        return self.repetitions or (1 if self.tune else 3)


@dataclass(frozen=True, kw_only=True)
class SettingOptions(OptionGroup):
    """The options of bench that set a value for all rows whose decoding has it. Those that take a word are given in the names of rows,
    after the colon.
    """

    block_size: Annotated[str | None, option("block_size")] = None
    iterations: Annotated[str | None, option("iterations")] = None
    length_beam: Annotated[str | None, option("length_beam")] = None
    jacobi_length: Annotated[str | None, option("jacobi_length")] = None
    beam_size: Annotated[int | None, option("beam_size", "Hypotheses that rows of beam search keep.")] = None
    length_penalty: Annotated[
        float | None,
        option("length_penalty", "Rows of beam search divide the score of a hypothesis by its length to this power."),
    ] = None
    max_length: Annotated[int | None, option("max_length")] = None

    @property
    def given(self) -> dict[str, Any]:
        """The values that the user gave, by the name of the field of DecodingOptions."""
        return {name: parsed(name, value) for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class ComputingOptions(OptionGroup):
    """The options of bench for batch size, machine and splitting of lines."""

    batch_size: BatchSizeOption = "1"
    device: DeviceOption = "auto"
    precision: PrecisionOption = "auto"
    engine: EngineOption = "auto"
    threads: ThreadsOption = None
    no_split: NoSplitOption = False


@dataclass(frozen=True, kw_only=True)
class ReportOptions(OptionGroup):
    """The options of bench for its output."""

    json_file: JsonFileOption = None
    markdown: MarkdownOption = False
    quiet: QuietOption = False
    offline: OfflineOption = False
