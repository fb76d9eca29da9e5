"""`specdec bench`: comparison of decodings on the same text."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specdec_cli.benchmark.geometries import GEOMETRIES, REAL_SIZES
from specdec_cli.benchmark.options import BenchOptions
from specdec_cli.benchmark.rows import SWEEP_KEYS, Row, Sweep, check_settings, choose_rows, parse_sweeps
from specdec_cli.commands.options import (
    MODEL_HELP,
    OptionGroup,
    decoding_option,
    option,
    output_option,
    with_groups,
)
from specdec_cli.commands.reports import progress_bar, teller
from specdec_cli.decoding.methods import REWRITING
from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.errors import SpecdecError, UsageError
from specdec_cli.model.bundle_info import Task
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
    from specdec_cli.benchmark.measure import Plan
    from specdec_cli.benchmark.results import Outcome
    from specdec_cli.benchmark.tables import Table

_SYNTHETIC = (
    *("synthetic", "geometries", "repetitions", "profile", "block_size", "beam_size"),
    *("device", "precision", "threads", "json_file", "markdown", "quiet"),
)
"""The names of the parameters of `bench` that may be given with --synthetic."""
_CHECKED = ("check_device", "file", "source", "limit", "models", "device", "json_file", "quiet", "offline")
"""The names of the parameters of `bench` that may be given with --check-device."""
FileArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE",
        help="TSV: source and reference, or M2 for correction. Without it stdin; at a terminal, or if that is empty, a built-in sample.",
        show_default=False,
    ),
]
_compared_option = partial(typer.Option, rich_help_panel="What is compared")


_FLAGS: dict[str, Any] = {
    "source": output_option("--input", metavar="FILE", help="Source lines, or TSV whose source column is used."),
    "references": output_option("--reference", metavar="FILE", help="A reference for each line of --input. Repeatable, for rewriting."),
    "task": output_option(
        "--task",
        metavar="NAME",
        help="Task, which decides the scores: translate, summarise, correct (grammatical errors) or simplify.",
        show_default="the bundle's",
    ),
    "keep_tokens": output_option(
        "--keep-tokens", help="With --task correct: decode tokenised text as it is; by default its tokens are joined first."
    ),
    "score": output_option(
        "--score",
        help="With --task correct: compare edits of tokens, or of characters (for Chinese; FILE is M2 of characters, or TSV with one or "
        "more references a line).",
    ),
    "limit": output_option("--limit", metavar="N", min=1, help="Only the first N lines."),
    "rows": _compared_option(
        "--row",
        metavar="DECODING[:PRESET]",
        help="A row: a decoding, or a chain with commas between, which uses the first draft that is not empty; after a "
        "colon its preset, rule or iterations; ctranslate2-greedy or ctranslate2-beam, in the number format of specdec's rows, with "
        "another one such as float32, or with best: the fastest number format, threads and batch size; transformers-greedy, -beam or "
        "-lookup for a folder of the Hugging Face hub. Repeatable.",
        show_default="the usual ones that the bundle supports",
    ),
    "sweep": _compared_option(
        "--sweep",
        metavar="KEY=V1,V2,...",
        help=f"Rows for several values of {', '.join(SWEEP_KEYS[:-1])} or {SWEEP_KEYS[-1]}. Repeatable: all combinations.",
    ),
    "oracle_length": _compared_option(
        "--oracle-length",
        help="Give jacobi and gs-jacobi the length of greedy's output beforehand, as Santilli et al. 2023 do; that is not timed.",
    ),
    "repetitions": _compared_option(
        "--repetitions", metavar="N", min=1, help="Runs of every row; the medians are reported.", show_default="3; 1 with --tune"
    ),
    "profile": _compared_option("--profile", help="Print the time by module and that of a round, for rows that draft or search."),
    "histogram": _compared_option("--histogram", help="Print the distribution of the speedups of lines, for rows that draft."),
    "plot": _compared_option(
        "--plot",
        metavar="FILE",
        help="Draw quality against speedup, one point per row; for rewriting, speedup against edit ratio, one point per line: "
        ".svg, .png or .pdf. Other figures beside it: a-histogram.svg, a-profile.svg, and one for each analysis.",
    ),
    "analyses": _compared_option(
        "--analysis",
        metavar="NAME",
        help="Analyse the outputs: significance (of differences in BLEU to a row), ends (precision of n-grams at the head and the "
        "tail), compounds (BLEU with split compounds) or flops (floating-point operations). Repeatable.",
    ),
    "baseline": _compared_option(
        "--baseline",
        metavar="DECODING[:PRESET]",
        help="Row that --analysis significance compares the others with, named as in --row: the first of that name.",
        show_default="the first row",
    ),
    "tune": _compared_option(
        "--tune",
        help="Try settings of specdec++ (of blockwise, if the bundle has heads) and store the best in the bundle as its presets, "
        "by BLEU and tokens per round. --sweep of top-beta or tolerance tries other values, and of block-size chooses the fastest.",
    ),
    "synthetic": _compared_option(
        "--synthetic",
        help="Measure this machine without a model: rounds of common shapes with random weights and recorded acceptance, "
        "compared with CTranslate2 at its fastest settings.",
    ),
    "geometries": _compared_option(
        "--geometry",
        metavar="NAME",
        help=f"With --synthetic: this shape: {', '.join(each.name for each in GEOMETRIES)}; or the size of a model in wide use, decoded "
        f"greedily beside CTranslate2 in int8, with memory and start: {', '.join(each.name for each in REAL_SIZES)}. Repeatable.",
        show_default=", ".join(each.name for each in GEOMETRIES),
    ),
    "check_device": _compared_option(
        "--check-device",
        help="Check the GPU: greedy decoding's tokens by every decoding, block size and batch size, and the speeds. It takes at most 6 "
        "minutes, writes to --json (check-gpu.json), and goes on from there.",
    ),
    "models": decoding_option(
        "--model",
        "-m",
        metavar="BUNDLE",
        help=f"{MODEL_HELP} Repeatable: models of one task are compared.",
        show_default=f"{TRANSLATOR}, the shipped bundle of the languages, or {CORRECTOR} with --task correct",
    ),
    "block_size": option("block_size"),
    "iterations": option("iterations"),
    "length_beam": option("length_beam"),
    "draft_model": option("draft_model"),
    "jacobi_length": option("jacobi_length"),
    "beam_size": option("beam_size", "Hypotheses that rows of beam search keep."),
    "length_penalty": option("length_penalty", "Rows of beam search divide the score of a hypothesis by its length to this power."),
    **{name: option(name) for name in ("max_length", "no_repeat_ngram_size", "repetition_penalty")},
    "json_file": output_option("--json", metavar="FILE", help="Write all numbers to this file."),
    "markdown": output_option("--markdown", help="Print Markdown."),
}
"""The options of the command line that bench alone has, by the name of the field; those of decoding stand for all rows that have them, and
those that take a word are given in the names of rows, after the colon.
"""


class BenchFlags(BenchOptions, OptionGroup):
    """The options of bench on the command line."""

    own_flags = _FLAGS


@with_groups
def bench(context: typer.Context, file: FileArgument = None, *, asked: BenchFlags) -> None:
    """Compare decodings, or models, on the same text: quality, rounds, time and memory.

    Each row runs in a process of its own; repetitions are interleaved. The exit code is 1 if the output of an exact decoding
    differs from greedy decoding.
    """
    if asked.geometries and not asked.synthetic:
        raise UsageError("--geometry is for --synthetic")
    if asked.check_device:
        _check_device(context, file or asked.source, asked)
    elif asked.synthetic:
        _synthetic(context, asked)
    else:
        _bench(file, asked)


def _bench(file: Path | None, asked: BenchOptions) -> None:
    """Measure the rows, and print, store and draw the results."""
    from specdec_cli.benchmark.measure import run
    from specdec_cli.benchmark.tables import main_table, tuning_table

    if asked.tune and not asked.models:
        raise UsageError("--tune changes the bundle: name it with --model")
    names: list[str | None] = [*asked.models] if asked.models else [CORRECTOR if asked.task == "correct" else None]
    languages = asked.source_language, asked.target_language
    models = [_chosen(name, languages, asked) for name in dict.fromkeys(names)]
    _check_targets(asked.json_file, asked.plot)
    for model in models:
        find_bundle(model, teller(asked.quiet))  # converts another toolkit's model
    plan = _make_plan(models, file, asked)
    outcome = run(plan, partial(_progress, quiet=asked.quiet))
    if asked.tune:
        from specdec_cli.benchmark.tune import choose, presets_of, store

        chosen = choose(outcome.results)
        _print_outcome(outcome, tuning_table(outcome.results, chosen), {}, asked.markdown)
        _write(asked.json_file, outcome.to_json() | {"presets": presets_of(chosen)})
        store(models[0], chosen, plan, asked.markdown)
    else:
        _print_outcome(outcome, main_table(outcome.results, plan.sweep), plan.sweep, asked.markdown)
        if not asked.quiet:
            _print_left_out(outcome.left_out)
        _write(asked.json_file, outcome.to_json())
        if asked.plot is not None:
            from specdec_cli.benchmark.views import draw

            title = f"{', '.join(model.name for model in models)}; {outcome.examples['name']}"
            draw(asked.plot, title, outcome.results, plan.sweep, outcome.examples["sentences"], outcome.views)
    _check_promises(outcome)


def _synthetic(context: typer.Context, asked: BenchOptions) -> None:
    """Measure random weights on this machine, and print and store the results."""
    from specdec_cli.benchmark.synthetic import measure_geometries, print_synthetic, to_record

    _check_alone(context, _SYNTHETIC, "--synthetic uses random text and a random model")
    _check_targets(asked.json_file, None)
    found = measure_geometries(asked, partial(_progress, quiet=asked.quiet))
    print_synthetic(found, asked.markdown)
    _write(asked.json_file, to_record(found))
    _check_promises(*found.values())


def _check_device(context: typer.Context, text: Path | None, asked: BenchOptions) -> None:
    """Check the GPU, and raise SpecdecError if something is not as it should be."""
    from specdec_cli.benchmark.check_gpu import OUT, check_device

    _check_alone(context, _CHECKED, "--check-device chooses its rows")
    if asked.models and len(asked.models) > 1:
        raise UsageError("--check-device checks one model; give --model once")
    out = asked.json_file or OUT
    _check_targets(out, None)
    model = chosen_translator(asked.models[0] if asked.models else TRANSLATOR, offline=asked.offline)
    if not check_device(find_bundle(model, teller(asked.quiet)), text, asked.limit, out, asked.device):
        raise SpecdecError(f"--check-device: not all is as it should be; see {out}")


def _check_alone(context: typer.Context, allowed: Sequence[str], problem: str) -> None:
    """Raise UsageError if the command line has other options than those `allowed`; `problem` says why."""
    given = [p for p in context.command.params if p.name and getattr(context.get_parameter_source(p.name), "name", "") == "COMMANDLINE"]
    others = [p.opts[0] if p.param_type_name == "option" else "FILE" for p in given if p.name not in allowed]
    if others:
        raise UsageError(f"{problem}; {', '.join(others)} cannot be given with it")


def _write(path: Path | None, record: Mapping[str, Any]) -> None:
    """Write the JSON of the results, if a file was given."""
    from specdec_cli.files import write_json

    if path is not None:
        write_json(path, record)


def _check_targets(json_file: Path | None, plot: Path | None) -> None:
    """Raise UsageError for a file that cannot be written, before anything is measured."""
    from specdec_cli.benchmark.views import check_plot
    from specdec_cli.files import check_target

    if plot is not None:
        check_plot(plot)
    for path in (json_file, plot):
        if path is not None:
            check_target(path)


def _check_promises(*outcomes: "Outcome") -> None:
    """Raise SpecdecError, whose exit code is 1, for an exact decoding whose output was not greedy's."""
    if broken := [problem for each in outcomes for problem in each.violations()]:
        raise SpecdecError("; ".join(broken))


def _chosen(name: str | None, languages: tuple[str, str], asked: BenchOptions) -> ModelChoice:
    chosen = chosen_translator(name, *languages, offline=asked.offline, instruction=asked.instruction)
    return replace(chosen, task=asked.task)


def _make_plan(models: Sequence[ModelChoice], file: Path | None, asked: BenchOptions) -> "Plan":
    """Read the input, and make the plan from the options, without loading the models.

    Raises UsageError for options that exclude each other, for models of different tasks, and for rows, sweeps and options that the
    models do not support; InputError as `read_input` does.
    """
    from specdec_cli.benchmark.inputs import read_input
    from specdec_cli.benchmark.measure import Plan
    from specdec_cli.benchmark.tune import check_tunable, tuning_plan
    from specdec_cli.benchmark.views import check_analyses

    task, sweep = asked.task or _task(models), parse_sweeps(asked.sweep or [])
    if asked.raw and (filtering := {"mode", "min-score"} & set(sweep)):
        raise UsageError(f"--raw is the model's own output and does not go with --sweep {' and '.join(sorted(filtering))}")
    of_lines = asked.profile or asked.histogram or (asked.plot is not None and task in REWRITING)
    if len(models) > 1 and (asked.tune or of_lines):
        raise UsageError("--tune, --profile, --histogram, and --plot of edits are of one model each; give --model once")
    if asked.profile and asked.engine == "native":
        raise UsageError("--profile shows modules of the reference engine")
    if asked.tune:
        check_tunable(models[0], task)
    if sweep and of_lines:
        raise UsageError("--profile, --histogram, and --plot of edits are of one setting each, and cannot be swept")
    examples = read_input(task, file, asked, bundle_direction(models[0]))
    named = {model.name if len(models) > 1 else "": model for model in models}
    rows = [row for name, model in named.items() for row in _rows(name, model, asked, task, sweep)]
    plan = Plan(asked, named, rows, task, examples, sweep)
    if plan.plot == "quality" and examples.references is None:
        raise UsageError("--plot of quality needs text with references")
    check_analyses(asked.analyses or (), asked.baseline, references=examples.references is not None)
    if asked.tune:
        plan = tuning_plan(plan)
    check_settings([*asked.settings.keys() - {"max_length"}, *["oracle_length"] * asked.oracle_length], plan.rows)
    return plan


def _rows(name: str, model: ModelChoice, asked: BenchOptions, task: Task, sweep: Sweep) -> tuple[Row, ...]:
    """The rows of a model, with `name` as that of the model, and the settings that the user gave. Raises UsageError."""
    beam_size, length_penalty = beam_defaults(model)
    options = DecodingOptions(**{"beam_size": beam_size, "length_penalty": length_penalty} | asked.settings)
    base = Row("greedy", options=options, oracle_length=asked.oracle_length, model=name)
    return choose_rows(asked.rows or [], sweep, base, bundle_order(model), rewriting=task in REWRITING)


def _task(models: Sequence[ModelChoice]) -> Task:
    """The task that all models have. Raises UsageError for different ones."""
    tasks = {model.name: bundle_task(model) for model in models}
    if len(set(tasks.values())) > 1:
        raise UsageError(f"the models have different tasks: {', '.join(f'{name} {task}' for name, task in tasks.items())}")
    return next(iter(tasks.values()))


def _print_outcome(outcome: "Outcome", table: "Table", sweep: Sweep, markdown: bool) -> None:
    """Print the machine, the input, the `table` of all results, and the other views.

    A `sweep` of the tolerant rule has another table of its values.
    """
    from specdec_cli.benchmark.tables import View, environment_lines, profile_table, tolerance_table
    from specdec_cli.benchmark.views import ANALYSES, histogram_table

    view, views = View(markdown), outcome.views
    view.paragraph(*environment_lines(outcome.environment, outcome.examples))
    view.table(table)
    if set(sweep) == {"top-beta", "tolerance"}:
        view.paragraph("Tokens per round / BLEU:")
        view.table(tolerance_table(outcome.results, sweep))
    if outcome.profiles:
        view.paragraph("Time by module, a sentence:")
        view.table(profile_table(outcome.profiles, outcome.examples["sentences"], outcome.iterations))
    for each in views.get("histograms", ()):
        view.paragraph(f"Speedup of {each['row']} over {each['baseline']}, sentence by sentence:")
        view.table(histogram_table(each["bins"]))
    for name, records in views.get("analyses", {}).items():
        view.paragraph(ANALYSES[name].title)
        view.table(ANALYSES[name].table(records))
    if outcome.signatures:
        view.paragraph(*(f"{name}: {signature}" for name, signature in outcome.signatures.items()))


def _print_left_out(left_out: Mapping[str, str]) -> None:
    """Print to stderr, for each reason in `left_out`, the names of the rows that were left out for it."""
    for reason in dict.fromkeys(left_out.values()):
        names = ", ".join(name for name, why in left_out.items() if why == reason)
        print(f"specdec: left out: {names} ({reason})", file=sys.stderr)


@contextmanager
def _progress(runs: int, quiet: bool) -> Iterator[Callable[[], None]]:
    """Context manager that shows a progress bar of `runs` runs; gives the function to call after each."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

    with progress_bar(quiet, BarColumn(), MofNCompleteColumn(), TextColumn("runs"), total=runs, measuring=True) as update:
        yield partial(update, advance=1)
