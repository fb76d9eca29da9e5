"""`specdec bench`: comparison of decodings on the same text."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from specdec_cli.benchmark.rows import SWEEP_KEYS, Row, Sweep, choose_rows, parse_sweeps
from specdec_cli.commands.messages import teller
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
    SourceLanguageOption,
    TargetLanguageOption,
    ThreadsOption,
    decoding_option,
    number_or_auto,
    option,
    output_option,
    parsed,
    with_groups,
)
from specdec_cli.decoding.methods import BEAM_SIZE, REWRITING
from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.errors import SpecdecError, UsageError
from specdec_cli.model.bundle_info import Task
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import (
    CORRECTOR,
    TRANSLATOR,
    ModelChoice,
    beam_defaults,
    bundle_direction,
    bundle_order,
    bundle_task,
    chosen_translator,
    find_bundle,
)

if TYPE_CHECKING:
    from specdec_cli.benchmark.measure import Outcome, Plan
    from specdec_cli.benchmark.results import Result
    from specdec_cli.benchmark.synthetic import Measurement

_SYNTHETIC = (
    "synthetic",
    "repetitions",
    "profile",
    "block_size",
    "beam_size",
    "device",
    "precision",
    "threads",
    "json_file",
    "markdown",
    "quiet",
)
"""The names of the parameters of `bench` that may be given with --synthetic."""
_CHECKED = ("check_device", "file", "source", "limit", "models", "device", "json_file", "quiet", "offline")
"""The names of the parameters of `bench` that may be given with --check-device."""
_EXPLANATION = "Random weights, and drafts accepted as recorded: this measures what a round costs on this machine, and no model."
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
        "the fastest number format, threads and batch size; transformers-greedy, -beam or -lookup for a folder of the Hugging Face hub. "
        "Repeatable.",
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
CheckDeviceOption = Annotated[
    bool,
    _compared_option(
        "--check-device",
        help="Check the GPU: greedy decoding's tokens by every decoding, block size and batch size, and the speeds. It takes at most 6 "
        "minutes, writes to --json (check-gpu.json), and goes on from there.",
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
    check_device: CheckDeviceOption = False

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

    @property
    def machine(self) -> MachineOptions:
        """The machine that the options ask for."""
        size = number_or_auto(self.batch_size) or "auto"
        return MachineOptions(batch_size=size, device=self.device, precision=self.precision, engine=self.engine, threads=self.threads)


@dataclass(frozen=True, kw_only=True)
class ReportOptions(OptionGroup):
    """The options of bench for its output."""

    json_file: JsonFileOption = None
    markdown: MarkdownOption = False
    quiet: QuietOption = False
    offline: OfflineOption = False


@with_groups
def bench(
    context: typer.Context,
    file: FileArgument = None,
    *,
    text: InputOptions,
    compared: ComparedOptions,
    models: ModelOption = None,
    source_language: SourceLanguageOption = "",
    target_language: TargetLanguageOption = "",
    settings: SettingOptions,
    computing: ComputingOptions,
    report: ReportOptions,
) -> None:
    """Compare decodings, or models, on the same text: quality, rounds, time and memory.

    Each row runs in a process of its own; repetitions are interleaved. The exit code is 1 if the output of an exact decoding
    differs from greedy decoding.
    """
    if compared.check_device:
        _check_device(context, file or text.source, text.limit, models, computing, report)
        return
    if compared.synthetic:
        _synthetic(context, compared, settings, computing, report)
        return

    if compared.tune and not models:
        raise UsageError("--tune changes the bundle: name it with --model")
    asked: list[str | None] = [*models] if models else [CORRECTOR if text.task == "correct" else None]
    chosen = [chosen_translator(name, source_language, target_language, offline=report.offline) for name in dict.fromkeys(asked)]
    _check_targets(report.json_file, compared.plot)
    for model in chosen:
        find_bundle(model, teller(report.quiet))  # converts another toolkit's model
    plans = _make_plans(chosen, file, text, compared, settings, computing)
    if compared.tune:
        from specdec_cli.benchmark.tune import tuning_plan

        plan = tuning_plan(plans[0])
        _check_settings(settings, plan.rows)
        _tune(plan, report)
    else:
        _compare(plans, compared.plot, report)


def _compare(plans: "Sequence[Plan]", plot: Path | None, report: ReportOptions) -> None:
    """Measure the rows, and print, store and draw the results."""
    from specdec_cli.benchmark.measure import run

    outcome = run(plans, lambda runs: _progress(runs, report.quiet))
    _print_outcome(outcome, plans[0].sweep, report.markdown)
    if not report.quiet:
        _print_left_out(outcome.left_out)
    _write(report.json_file, outcome, outcome.views)
    if plot is not None:
        _draw(outcome, plot, f"{', '.join(plan.model.name for plan in plans)}; {outcome.examples['name']}")
    _check_promises(outcome.results, outcome.environment)


def _tune(plan: "Plan", report: ReportOptions) -> None:
    """Measure the grid, and print it and store the presets that are chosen."""
    from specdec_cli.benchmark.measure import run
    from specdec_cli.benchmark.tune import BLOCK_SIZE, choose, presets_of, print_tuning, store

    outcome = run([plan], lambda runs: _progress(runs, report.quiet))
    chosen = choose(outcome.results)
    print_tuning(outcome, chosen, report.markdown)
    _write(report.json_file, outcome, {"presets": presets_of(chosen)})
    store(plan.model, chosen, outcome.examples["lines"], report.markdown, block_size=BLOCK_SIZE in plan.sweep)
    _check_promises(outcome.results, outcome.environment)


def _synthetic(
    context: typer.Context, compared: ComparedOptions, settings: SettingOptions, computing: ComputingOptions, report: ReportOptions
) -> None:
    """Measure random weights on this machine, and print and store the results."""
    from specdec_cli.benchmark.synthetic import default_geometries, measure_geometries, to_record
    from specdec_cli.files import write_json

    _check_alone(context, _SYNTHETIC, "--synthetic uses random text and a random model")
    geometries, beam_size = default_geometries(number_or_auto(settings.block_size)), settings.beam_size or BEAM_SIZE
    _check_targets(report.json_file, None)
    machine = replace(computing.machine, batch_size=1, engine="auto")
    found = measure_geometries(geometries, machine, compared.runs, beam_size, compared.profile, lambda runs: _progress(runs, report.quiet))
    _print_synthetic(found, report.markdown)
    if report.json_file is not None:
        write_json(report.json_file, to_record(found))
    _check_promises([result for each in found for result in each.results], found[-1].outcome.environment)


def _check_device(
    context: typer.Context,
    text: Path | None,
    limit: int | None,
    models: list[str] | None,
    computing: ComputingOptions,
    report: ReportOptions,
) -> None:
    """Check the GPU, and raise SpecdecError if something is not as it should be."""
    from specdec_cli.benchmark.check_gpu import OUT, check_device

    _check_alone(context, _CHECKED, "--check-device chooses its rows")
    if models and len(models) > 1:
        raise UsageError("--check-device checks one model; give --model once")
    out = report.json_file or OUT
    _check_targets(out, None)
    folder = find_bundle(chosen_translator(models[0] if models else TRANSLATOR, offline=report.offline), teller(report.quiet))
    if not check_device(folder, text, limit, out, computing.device):
        raise SpecdecError(f"--check-device: not all is as it should be; see {out}")


def _check_alone(context: typer.Context, allowed: Sequence[str], problem: str) -> None:
    """Raise UsageError if the command line has other options than those `allowed`; `problem` says why."""
    given = [p for p in context.command.params if p.name and getattr(context.get_parameter_source(p.name), "name", "") == "COMMANDLINE"]
    others = [p.opts[0] if p.param_type_name == "option" else "FILE" for p in given if p.name not in allowed]
    if others:
        raise UsageError(f"{problem}; {', '.join(others)} cannot be given with it")


def _write(path: Path | None, outcome: "Outcome", beside: Mapping[str, Any]) -> None:
    """Write the JSON of the results, and what is stored beside the rows."""
    from specdec_cli.benchmark.tables import to_json
    from specdec_cli.files import write_json

    if path is not None:
        write_json(path, to_json(outcome.results, outcome.environment, outcome.examples, outcome.signatures) | dict(beside))


def _check_targets(json_file: Path | None, plot: Path | None) -> None:
    """Raise UsageError for a file that cannot be written, before anything is measured."""
    from specdec_cli.benchmark.views import check_plot
    from specdec_cli.files import check_target

    if plot is not None:
        check_plot(plot)
    for path in (json_file, plot):
        if path is not None:
            check_target(path)


def _check_promises(results: "Sequence[Result]", environment: Mapping[str, Any]) -> None:
    """Raise SpecdecError, whose exit code is 1, for an exact decoding whose output was not greedy's."""
    from specdec_cli.benchmark.results import exactness_violations

    # On other devices and in other precisions, products may depend on the number of rows, and no decoding is exact.
    if environment["device"] != "cpu" or environment["precision"] not in ("float32", "int8"):
        return
    broken = exactness_violations(results)
    if broken:
        raise SpecdecError("; ".join(broken))


def _make_plans(
    models: Sequence[ModelChoice],
    file: Path | None,
    text: InputOptions,
    compared: ComparedOptions,
    settings: SettingOptions,
    computing: ComputingOptions,
) -> "list[Plan]":
    """Read the input, and make the plan of each model from the options, without loading the models.

    Raises UsageError for options that exclude each other, for models of different tasks, and for rows, sweeps and options that the
    models do not support; InputError as `read_input` does.
    """
    from specdec_cli.benchmark.inputs import read_input
    from specdec_cli.benchmark.measure import Plan
    from specdec_cli.benchmark.views import check_analyses
    from specdec_cli.distillation.texts import read_sources

    task = text.task or _task(models)
    by_line = compared.plot is not None and task in REWRITING
    sweep = parse_sweeps(compared.sweep or [])
    _check_combinations(models, task, compared, computing, swept=bool(sweep), by_line=by_line)
    source = None if text.source is None else (text.source, read_sources([text.source]))
    by_characters, languages = text.score == "characters", bundle_direction(models[0])
    examples = read_input(task, file, source, text.references or (), text.limit, text.keep_tokens, by_characters, languages)
    if compared.plot is not None and not by_line and examples.references is None:
        raise UsageError("--plot of quality needs text with references")
    check_analyses(compared.analyses or (), compared.baseline, references=examples.references is not None)
    machine = computing.machine
    plan = Plan(
        model=models[0],
        examples=examples,
        rows=(),
        asked=bool(compared.rows),
        sweep=sweep,
        repetitions=compared.runs,
        machine=replace(machine, engine="reference") if compared.profile else machine,
        # For summarisation, a line is one text.
        split=not computing.no_split and task != "summarise",
        profile=compared.profile,
        histogram=compared.histogram,
        plot=None if compared.plot is None else "edits" if by_line else "quality",
        analyses=tuple(compared.analyses or ()),
        baseline=compared.baseline,
    )
    plans = [replace(plan, model=model, rows=_rows(model, compared, settings, task, sweep, named=len(models) > 1)) for model in models]
    _check_settings(settings, [row for plan in plans for row in plan.rows])
    return plans


def _check_combinations(
    models: Sequence[ModelChoice], task: Task, compared: ComparedOptions, computing: ComputingOptions, *, swept: bool, by_line: bool
) -> None:
    """Raise UsageError if options that exclude each other are given. `by_line`: --plot draws a point for each line (edits)."""
    if len(models) > 1 and (compared.tune or compared.profile or compared.histogram or by_line):
        raise UsageError("--tune, --profile, --histogram, and --plot of edits are of one model each; give --model once")
    if compared.profile and computing.engine == "native":
        raise UsageError("--profile shows modules of the reference engine")
    if compared.tune:
        from specdec_cli.benchmark.tune import check_tunable

        check_tunable(models[0], task)
    if swept and (compared.profile or compared.histogram or by_line):
        raise UsageError("--profile, --histogram, and --plot of edits are of one setting each, and cannot be swept")


def _check_settings(settings: SettingOptions, rows: Sequence[Row]) -> None:
    """Raise UsageError for a setting of drafts or of beam search that applies to none of `rows`."""
    drafting, searching = any(row.has_block_size for row in rows), any(row.searches for row in rows)
    for name, value, applies, which in (
        ("--block-size", settings.block_size, drafting, "rows that draft"),
        ("--beam-size", settings.beam_size, searching, "rows of beam search"),
        ("--length-penalty", settings.length_penalty, searching, "rows of beam search"),
    ):
        if value is not None and not applies:
            raise UsageError(f"{name} is for {which}")


def _rows(
    model: ModelChoice, compared: ComparedOptions, settings: SettingOptions, task: Task, sweep: Sweep, *, named: bool
) -> tuple[Row, ...]:
    """The rows of a model; with its name in each where rows of several models are `named`. Raises UsageError."""
    base = _base_row(model, settings, compared.oracle_length)
    base = replace(base, model=model.name) if named else base
    return choose_rows(compared.rows or [], sweep, base, bundle_order(model), rewriting=task in REWRITING)


def _task(models: Sequence[ModelChoice]) -> Task:
    """The task that all models have. Raises UsageError for different ones."""
    tasks = {model.name: bundle_task(model) for model in models}
    if len(set(tasks.values())) > 1:
        raise UsageError(f"the models have different tasks: {', '.join(f'{name} {task}' for name, task in tasks.items())}")
    return next(iter(tasks.values()))


def _base_row(model: ModelChoice, settings: SettingOptions, oracle_length: bool) -> Row:
    """A row with the settings of all rows."""
    beam_size, length_penalty = beam_defaults(model)
    options = DecodingOptions(**{"beam_size": beam_size, "length_penalty": length_penalty} | settings.given)
    return Row("greedy", options=options, oracle_length=oracle_length)


def _print_outcome(outcome: "Outcome", sweep: Sweep, markdown: bool) -> None:
    """Print the machine, the input, and the tables of all results; `sweep` has the values that were varied (empty: none)."""
    from specdec_cli.benchmark.tables import View, environment_lines, main_table, profile_table, sweep_table, tolerance_table
    from specdec_cli.benchmark.views import ANALYSES, histogram_table

    view = View(markdown)
    view.paragraph(*environment_lines(outcome.environment, outcome.examples))
    view.table(sweep_table(outcome.results, sweep) if sweep else main_table(outcome.results))
    if set(sweep) == {"top-beta", "tolerance"}:
        view.paragraph("Tokens per round / BLEU:")
        view.table(tolerance_table(outcome.results, sweep))
    if outcome.profiles:
        view.paragraph("Time by module, a sentence:")
        iterations = {result.row.label: result.measured("iterations") for result in outcome.results}
        view.table(profile_table(outcome.profiles, outcome.examples["sentences"], iterations))
    for (name, baseline), bins in outcome.histograms.items():
        view.paragraph(f"Speedup of {name} over {baseline}, sentence by sentence:")
        view.table(histogram_table(bins))
    for name, records in outcome.analyses.items():
        view.paragraph(ANALYSES[name].title)
        view.table(ANALYSES[name].table(records))
    if outcome.signatures:
        view.paragraph(*(f"{name}: {signature}" for name, signature in outcome.signatures.items()))


def _draw(outcome: "Outcome", plot: Path, title: str) -> None:
    """Draw all of `outcome` that has a figure: in `plot` the rows, and beside it histograms, profiles and analyses."""
    from specdec_cli.benchmark.views import ANALYSES, beside, draw_bars, draw_histograms, draw_points, draw_quality, profile_chart

    if outcome.quality is None:
        draw_points(outcome.points, plot, title)
    else:
        draw_quality(outcome.quality, plot, title)
    if outcome.histograms:
        draw_histograms(outcome.histograms, beside(plot, "histogram"), title)
    if outcome.profiles:
        draw_bars([profile_chart(outcome.profiles, outcome.examples["sentences"])], beside(plot, "profile"), title)
    for name, records in outcome.analyses.items():
        draw_bars(ANALYSES[name].charts(records), beside(plot, name), title)


def _print_left_out(left_out: Mapping[str, str]) -> None:
    """Print to stderr, for each reason in `left_out`, the names of the rows that were left out for it."""
    for reason in dict.fromkeys(left_out.values()):
        names = ", ".join(name for name, why in left_out.items() if why == reason)
        print(f"specdec: left out: {names} ({reason})", file=sys.stderr)


def _print_synthetic(found: "Sequence[Measurement]", markdown: bool) -> None:
    """Print the machine, and the shape and the table of each geometry, for a terminal or in Markdown."""
    from specdec_cli.benchmark.synthetic import description
    from specdec_cli.benchmark.tables import View, environment_lines, profile_table, synthetic_table

    view, last = View(markdown), found[-1].outcome
    view.paragraph(_EXPLANATION, *environment_lines(last.environment, last.examples))
    for each in found:
        view.paragraph(description(each.geometry))
        view.table(synthetic_table(each.results))
        if each.profile is not None:
            iterations = {result.row.name: result.measured("iterations") for result in each.results}
            view.table(profile_table({each.geometry.decoding: each.profile}, last.examples["sentences"], iterations))


@contextmanager
def _progress(runs: int, quiet: bool) -> Iterator[Callable[[], None]]:
    """Context manager that shows a progress bar of `runs` runs, on a terminal unless `quiet`; gives the function to call after each."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    shown = not quiet and sys.stdout.isatty() and sys.stderr.isatty()
    # Drawn only between runs: drawing during a run would take processor time.
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("runs"))
    with Progress(*columns, console=Console(stderr=True), auto_refresh=False, transient=True, disable=not shown) as bar:
        task = bar.add_task("bench", total=runs)

        def report() -> None:
            bar.advance(task)
            bar.refresh()

        bar.refresh()
        yield report
