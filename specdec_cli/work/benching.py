"""The work of `specdec bench`: the plan of its rows, their measurement, and what is printed, stored and drawn of it."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

from specdec_cli.benchmark.inputs import read_input
from specdec_cli.benchmark.measure import Plan, run
from specdec_cli.benchmark.options import BenchOptions
from specdec_cli.benchmark.results import Outcome
from specdec_cli.benchmark.rows import Row, Sweep, check_settings, choose_rows, parse_sweeps
from specdec_cli.benchmark.synthetic import measure_geometries, print_synthetic, to_record
from specdec_cli.benchmark.tables import Table, View, environment_lines, main_table, profile_table, tolerance_table, tuning_table
from specdec_cli.benchmark.tune import check_tunable, choose, presets_of, store, tuning_plan
from specdec_cli.benchmark.views import ANALYSES, check_analyses, check_plot, draw, histogram_table
from specdec_cli.console.reports import progress_bar, teller
from specdec_cli.decoding.methods import REWRITING
from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.errors import SpecdecError, UsageError
from specdec_cli.files import check_target, write_json
from specdec_cli.model.bundle_info import Task
from specdec_cli.opening.models import (
    CORRECTOR,
    ModelChoice,
    beam_defaults,
    bundle_direction,
    bundle_order,
    bundle_task,
    chosen_translator,
    find_bundle,
)
from specdec_cli.text.io.writing import check_not_input


def bench_rows(file: Path | None, asked: BenchOptions) -> None:
    """Measure the rows, and print, store and draw the results."""
    if asked.tune and not asked.models:
        raise UsageError("--tune changes the bundle: name it with --model")
    names: list[str | None] = [*asked.models] if asked.models else [CORRECTOR if asked.task == "correct" else None]
    languages = asked.source_language, asked.target_language
    models = [_chosen(name, languages, asked) for name in dict.fromkeys(names)]
    _check_targets(asked.json_file, asked.plot)
    inputs = [path for path in (file, asked.source, *(asked.references or ())) if path is not None]
    for target in (asked.json_file, asked.plot):
        if target is not None:
            check_not_input(target, inputs)
    for model in models:
        find_bundle(model, teller(asked.quiet))  # converts another toolkit's model
    plan = _make_plan(models, file, asked)
    outcome = run(plan, partial(_progress, quiet=asked.quiet))
    if asked.tune:
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
            title = f"{', '.join(model.name for model in models)}; {outcome.examples['name']}"
            draw(asked.plot, title, outcome.results, plan.sweep, outcome.examples["sentences"], outcome.views)
    _check_promises(outcome)


def bench_synthetic(asked: BenchOptions) -> None:
    """Measure random weights on this machine, and print and store the results."""
    _check_targets(asked.json_file, None)
    found = measure_geometries(asked, partial(_progress, quiet=asked.quiet))
    print_synthetic(found, asked.markdown)
    _write(asked.json_file, to_record(found))
    _check_promises(*found.values())


def _write(path: Path | None, record: Mapping[str, Any]) -> None:
    """Write the JSON of the results, if a file was given."""
    if path is not None:
        write_json(path, record)


def _check_targets(json_file: Path | None, plot: Path | None) -> None:
    """Check before the measurements that the output files can be written. Raises UsageError."""
    if plot is not None:
        check_plot(plot)
    for path in (json_file, plot):
        if path is not None:
            check_target(path)


def _check_promises(*outcomes: Outcome) -> None:
    """Raise SpecdecError (exit code 1) if the output of an exact decoding differs from that of greedy decoding."""
    if broken := [problem for each in outcomes for problem in each.violations()]:
        raise SpecdecError("; ".join(broken))


def _chosen(name: str | None, languages: tuple[str, str], asked: BenchOptions) -> ModelChoice:
    chosen = chosen_translator(name, *languages, offline=asked.offline, instruction=asked.instruction)
    return replace(chosen, task=asked.task)


def _make_plan(models: Sequence[ModelChoice], file: Path | None, asked: BenchOptions) -> Plan:
    """Read the input, and make the plan from the options, without loading the models.

    Raises UsageError for options that exclude each other, for models of different tasks, and for rows, sweeps and options that the
    models do not support; InputError as `read_input` does.
    """
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


def _print_outcome(outcome: Outcome, table: Table, sweep: Sweep, markdown: bool) -> None:
    """Print the machine, the input, the `table` of all results, and the other views.

    A `sweep` of the tolerant rule has another table of its values.
    """
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
    with progress_bar(quiet, BarColumn(), MofNCompleteColumn(), TextColumn("runs"), total=runs, measuring=True) as update:
        yield partial(update, advance=1)
