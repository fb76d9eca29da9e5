"""Conversion of the options of `specdec bench` to a plan for each model."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from specdec_cli.benchmark.analyses import check_analyses
from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.sweeps import Sweep
from specdec_cli.commands.bench.input import read_input
from specdec_cli.commands.bench.options import ComparedOptions, ComputingOptions, InputOptions, SettingOptions
from specdec_cli.commands.bench.row_choice import choose_rows, parse_sweeps
from specdec_cli.commands.bench.run import Plan
from specdec_cli.commands.bench.tune import check_tunable
from specdec_cli.commands.options import number_or_auto
from specdec_cli.decoding.methods import REWRITING
from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle_info import Task
from specdec_cli.opening.machine import batch_rows
from specdec_cli.opening.models import ModelChoice, beam_defaults, bundle_direction, bundle_order, bundle_task


def make_plans(
    models: Sequence[ModelChoice],
    file: Path | None,
    text: InputOptions,
    compared: ComparedOptions,
    settings: SettingOptions,
    computing: ComputingOptions,
) -> list[Plan]:
    """Read the input, and make the plan of each model from the options, without loading the models.

    Raises UsageError for options that exclude each other, for models of different tasks, and for rows, sweeps and options that the
    models do not support; InputError as `read_input` does.
    """
    task = text.task or _task(models)
    by_line = compared.plot is not None and task in REWRITING
    sweep = parse_sweeps(compared.sweep or [])
    _check_combinations(models, task, compared, computing, swept=bool(sweep), by_line=by_line)
    by_characters, languages = text.score == "characters", bundle_direction(models[0])
    examples, scorer = read_input(task, file, text.source, text.references or (), text.limit, text.keep_tokens, by_characters, languages)
    if compared.plot is not None and not by_line and examples.references is None:
        raise UsageError("--plot of quality needs text with references")
    check_analyses(compared.analyses or (), compared.baseline, references=examples.references is not None)
    plan = Plan(
        model=models[0],
        examples=examples,
        scorer=scorer,
        rows=(),
        asked=bool(compared.rows),
        sweep=sweep,
        repetitions=compared.runs,
        batch_size=batch_rows(number_or_auto(computing.batch_size) or "auto"),
        device=computing.device,
        precision=computing.precision,
        engine="reference" if compared.profile else computing.engine,
        threads=computing.threads,
        # For summarisation, a line is one text.
        split=not computing.no_split and task != "summarise",
        profile=compared.profile,
        histogram=compared.histogram,
        plot=None if compared.plot is None else "edits" if by_line else "quality",
        analyses=tuple(compared.analyses or ()),
        baseline=compared.baseline,
    )
    plans = [replace(plan, model=model, rows=_rows(model, compared, settings, task, sweep, named=len(models) > 1)) for model in models]
    check_settings(settings, [row for plan in plans for row in plan.rows])
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
        check_tunable(models[0], task)
    if swept and (compared.profile or compared.histogram or by_line):
        raise UsageError("--profile, --histogram, and --plot of edits are of one setting each, and cannot be swept")


def check_settings(settings: SettingOptions, rows: Sequence[Row]) -> None:
    """Raise UsageError for a setting of drafts or of beam search that applies to none of `rows`."""
    drafting, searching = any(row.drafts for row in rows), any(row.searches for row in rows)
    for option, value, applies, which in (
        ("--block-size", settings.block_size, drafting, "rows that draft"),
        ("--beam-size", settings.beam_size, searching, "rows of beam search"),
        ("--length-penalty", settings.length_penalty, searching, "rows of beam search"),
    ):
        if value is not None and not applies:
            raise UsageError(f"{option} is for {which}")


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
