"""`specdec bench`: comparison of decodings on the same text."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from specdec_cli.commands.bench.options import (
    ComparedOptions,
    ComputingOptions,
    FileArgument,
    InputOptions,
    ModelOption,
    ReportOptions,
    SettingOptions,
)
from specdec_cli.commands.messages import teller
from specdec_cli.commands.options import SourceLanguageOption, TargetLanguageOption, number_or_auto, with_groups
from specdec_cli.decoding.methods import BEAM_SIZE
from specdec_cli.errors import SpecdecError, UsageError
from specdec_cli.opening.models import CORRECTOR, chosen_translator, find_bundle

if TYPE_CHECKING:
    from specdec_cli.benchmark.summary import Result
    from specdec_cli.commands.bench.run import Plan


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
    if compared.synthetic:
        _synthetic(context, compared, settings, computing, report)
        return

    from specdec_cli.commands.bench.planning import check_settings, make_plans
    from specdec_cli.commands.bench.tune import tuning_plan

    if compared.tune and not models:
        raise UsageError("--tune changes the bundle: name it with --model")
    asked: list[str | None] = [*models] if models else [CORRECTOR if text.task == "correct" else None]
    chosen = [chosen_translator(name, source_language, target_language, offline=report.offline) for name in dict.fromkeys(asked)]
    _check_targets(report.json_file, compared.plot)
    for model in chosen:
        find_bundle(model, teller(report.quiet))  # converts another toolkit's model
    plans = make_plans(chosen, file, text, compared, settings, computing)
    if compared.tune:
        plan = tuning_plan(plans[0])
        check_settings(settings, plan.rows)
        _tune(plan, report)
    else:
        _compare(plans, compared.plot, report)


def _compare(plans: "Sequence[Plan]", plot: Path | None, report: ReportOptions) -> None:
    """Measure the rows, and print, store and draw the results."""
    from specdec_cli.benchmark.report import to_json
    from specdec_cli.commands.bench.figures import draw_outcome
    from specdec_cli.commands.bench.run import run
    from specdec_cli.commands.bench.view import print_left_out, print_outcome, progress
    from specdec_cli.files import write_json

    outcome = run(plans, lambda runs: progress(runs, report.quiet))
    print_outcome(outcome, plans[0].sweep, report.markdown)
    if not report.quiet:
        print_left_out(outcome.left_out)
    if report.json_file is not None:
        record = to_json(outcome.results, outcome.environment, outcome.examples, outcome.signatures)
        write_json(report.json_file, record | outcome.views)
    if plot is not None:
        draw_outcome(outcome, plot, f"{', '.join(plan.model.name for plan in plans)}; {outcome.examples['name']}")
    _check_promises(outcome.results, outcome.environment)


def _tune(plan: "Plan", report: ReportOptions) -> None:
    """Measure the grid, and print it and store the presets that are chosen."""
    from specdec_cli.benchmark.report import to_json
    from specdec_cli.commands.bench.run import run
    from specdec_cli.commands.bench.tune import BLOCK_SIZE, choose, presets_of, print_tuning, store
    from specdec_cli.commands.bench.view import progress
    from specdec_cli.files import write_json

    outcome = run([plan], lambda runs: progress(runs, report.quiet))
    chosen = choose(outcome.results)
    print_tuning(outcome, chosen, report.markdown)
    if report.json_file is not None:
        record = to_json(outcome.results, outcome.environment, outcome.examples, outcome.signatures)
        write_json(report.json_file, record | {"presets": presets_of(chosen)})
    store(plan.model, chosen, outcome.examples["lines"], report.markdown, block_size=BLOCK_SIZE in plan.sweep)
    _check_promises(outcome.results, outcome.environment)


def _synthetic(
    context: typer.Context, compared: ComparedOptions, settings: SettingOptions, computing: ComputingOptions, report: ReportOptions
) -> None:
    """Measure random weights on this machine, and print and store the results."""
    from specdec_cli.benchmark.geometries import default_geometries
    from specdec_cli.commands.bench.synthetic import Request, check_alone, print_outcome, run, to_record
    from specdec_cli.commands.bench.view import progress
    from specdec_cli.files import write_json

    check_alone(context)
    geometries, beam_size = default_geometries(number_or_auto(settings.block_size)), settings.beam_size or BEAM_SIZE
    machine = (computing.device, computing.precision, computing.threads)
    request = Request(geometries, compared.runs, beam_size, *machine, compared.profile)
    _check_targets(report.json_file, None)
    outcome = run(request, lambda runs: progress(runs, report.quiet))
    print_outcome(outcome, report.markdown)
    if report.json_file is not None:
        write_json(report.json_file, to_record(outcome))
    _check_promises(outcome.results, outcome.environment)


def _check_targets(json_file: Path | None, plot: Path | None) -> None:
    """Raise UsageError for a file that cannot be written, before anything is measured."""
    from specdec_cli.benchmark.scatter import check_plot
    from specdec_cli.files import check_target

    if plot is not None:
        check_plot(plot)
    for path in (json_file, plot):
        if path is not None:
            check_target(path)


def _check_promises(results: "Sequence[Result]", environment: Mapping[str, Any]) -> None:
    """Raise SpecdecError, whose exit code is 1, for an exact decoding whose output was not greedy's."""
    from specdec_cli.benchmark.summary import exactness_violations

    # On other devices and in other precisions, products may depend on the number of rows, and no decoding is exact.
    if environment["device"] != "cpu" or environment["precision"] not in ("float32", "int8"):
        return
    broken = exactness_violations(results)
    if broken:
        raise SpecdecError("; ".join(broken))
