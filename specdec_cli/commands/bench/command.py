"""`specdec bench`: decodings compared on the same text."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specdec_cli.commands import options
from specdec_cli.commands.loading import beam_defaults, bundle_order, bundle_task
from specdec_cli.commands.model_choice import ModelChoice
from specdec_cli.decoding.names import BEAM_SIZE, Task
from specdec_cli.errors import SpecdecError, UsageError

if TYPE_CHECKING:
    from specdec_cli.benchmark.summary import Result
    from specdec_cli.commands.bench.synthetic import Request

_COMPARED_PANEL = "What is compared"
FileArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE", help="TSV: source and reference. Else stdin, else a built-in sample. For gec also M2.", show_default=False
    ),
]
SourceOption = Annotated[
    Path | None, typer.Option("--input", metavar="FILE", help="Source lines, instead of TSV.", rich_help_panel=options.OUTPUT_PANEL)
]
ReferencesOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--reference",
        metavar="FILE",
        help="A reference for each line of --input. Repeatable, for rewriting.",
        rich_help_panel=options.OUTPUT_PANEL,
    ),
]
TaskOption = Annotated[
    Task | None,
    typer.Option(
        "--task",
        metavar="NAME",
        help="How it is scored: translation, summarisation, gec (grammatical error correction) or simplification.",
        show_default="the bundle's",
        rich_help_panel=options.OUTPUT_PANEL,
    ),
]
KeepTokensOption = Annotated[
    bool,
    typer.Option(
        "--keep-tokens",
        help="For gec: decode text as it stands; otherwise tokens are joined first.",
        rich_help_panel=options.OUTPUT_PANEL,
    ),
]
LimitOption = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=1, help="Only the first N lines.", rich_help_panel=options.OUTPUT_PANEL)
]
RowsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--row",
        metavar="DECODING[:PRESET]",
        help="A row: a decoding, or some with commas between, each tried in turn; its preset or rule after a colon; "
        "ctranslate2-greedy or ctranslate2-beam, with float32 or int8. Repeatable.",
        show_default="the usual ones that the bundle can do",
        rich_help_panel=_COMPARED_PANEL,
    ),
]
SweepOption = Annotated[
    list[str] | None,
    typer.Option(
        "--sweep",
        metavar="KEY=V1,V2,...",
        help="Rows for several values of block-size, top-beta, tolerance, min-score, batch-size, threads or beam-size. Repeatable: a grid.",
        rich_help_panel=_COMPARED_PANEL,
    ),
]
OracleLengthOption = Annotated[
    bool,
    typer.Option(
        "--oracle-length",
        help="Let jacobi and gs-jacobi know the length of greedy's output beforehand, as the paper does for PJ and PGJ; it is found "
        "untimed.",
        rich_help_panel=_COMPARED_PANEL,
    ),
]
RepetitionsOption = Annotated[
    int, typer.Option("--repetitions", metavar="N", min=1, help="Runs of every row; medians count.", rich_help_panel=_COMPARED_PANEL)
]
ProfileOption = Annotated[
    bool, typer.Option("--profile", help="Time by module and of a round, for rows that draft or search.", rich_help_panel=_COMPARED_PANEL)
]
HistogramOption = Annotated[
    bool,
    typer.Option("--histogram", help="How the speedup of specdec is spread over sentences.", rich_help_panel=_COMPARED_PANEL),
]
PlotOption = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Draw speedup against edit ratio, a point a line: .svg, .png or .pdf.",
        rich_help_panel=_COMPARED_PANEL,
    ),
]
TuneOption = Annotated[
    bool,
    typer.Option(
        "--tune",
        help="Try settings of specdec++ (heads: blockwise) and keep the best as the bundle's presets, by BLEU and tokens per round. "
        "--sweep top-beta or tolerance tries other values.",
        rich_help_panel=_COMPARED_PANEL,
    ),
]
SyntheticOption = Annotated[
    bool,
    typer.Option(
        "--synthetic",
        help="Measure this machine and no model: rounds of two usual shapes with random weights, drafts accepted as recorded, "
        "beside CTranslate2 at its best.",
        rich_help_panel=_COMPARED_PANEL,
    ),
]
JsonFileOption = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write all numbers here.", rich_help_panel=options.OUTPUT_PANEL)
]
MarkdownOption = Annotated[bool, typer.Option("--markdown", help="Print Markdown.", rich_help_panel=options.OUTPUT_PANEL)]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        metavar="BUNDLE",
        help=options.MODEL_HELP,
        show_default="en-de, or en-gec with --task gec",
        rich_help_panel=options.DECODING_PANEL,
    ),
]


def bench(
    context: typer.Context,
    file: FileArgument = None,
    source: SourceOption = None,
    references: ReferencesOption = None,
    task: TaskOption = None,
    keep_tokens: KeepTokensOption = False,
    limit: LimitOption = None,
    rows: RowsOption = None,
    sweep: SweepOption = None,
    oracle_length: OracleLengthOption = False,
    repetitions: RepetitionsOption = 3,
    profile: ProfileOption = False,
    histogram: HistogramOption = False,
    plot: PlotOption = None,
    tune: TuneOption = False,
    synthetic: SyntheticOption = False,
    model: ModelOption = None,
    source_language: options.SourceLanguageOption = "",
    target_language: options.TargetLanguageOption = "",
    block_size: options.BlockSizeOption = None,
    jacobi_length: options.JacobiLengthOption = None,
    beam_size: options.BeamSizeOption = None,
    length_penalty: options.LengthPenaltyOption = None,
    max_length: options.MaxLengthOption = None,
    batch_size: options.BatchSizeOption = "1",
    device: options.DeviceOption = "auto",
    precision: options.PrecisionOption = "auto",
    threads: options.ThreadsOption = None,
    no_split: options.NoSplitOption = False,
    json_file: JsonFileOption = None,
    markdown: MarkdownOption = False,
    quiet: options.QuietOption = False,
    offline: options.OfflineOption = False,
) -> None:
    """Compare decodings on the same text: quality, rounds, time and memory.

    Rows run in processes of their own, in turn. The exit code is 1 if a decoding that promises greedy's output gave another.
    """
    if synthetic:
        from specdec_cli.benchmark.geometries import default_geometries
        from specdec_cli.commands.bench.synthetic import Request, check_alone

        check_alone(context)
        geometries = default_geometries(options.number_or_auto(block_size))
        _synthetic(
            Request(geometries, repetitions, beam_size or BEAM_SIZE, device, precision, threads, profile), json_file, markdown, quiet
        )
        return

    from specdec_cli.benchmark.report import to_json
    from specdec_cli.benchmark.rows import Row
    from specdec_cli.benchmark.scatter import check_plot, draw
    from specdec_cli.commands.bench.input import TASKS, read_input
    from specdec_cli.commands.bench.run import Plan, run
    from specdec_cli.commands.bench.settled_rows import settle_rows, settle_sweep
    from specdec_cli.commands.bench.tune import check_tunable, choose, presets_of, print_tuning, store, tuning_plan
    from specdec_cli.commands.bench.view import print_outcome, progress
    from specdec_cli.files import write_json

    chosen = ModelChoice(model or ("en-gec" if task == "gec" else "en-de"), source_language, target_language, offline, quiet)
    task = task or TASKS.get(bundle_task(chosen), "translation")
    if tune and model is None:
        raise UsageError("--tune changes the bundle: name it with --model")
    if tune:
        check_tunable(chosen, task)
    varied = settle_sweep(sweep or [])
    if json_file is not None:
        _check_target("--json", json_file)
    if plot is not None:
        check_plot(plot)
        _check_target("--plot", plot)
    if varied and (profile or histogram or plot):
        raise UsageError("--profile, --histogram and --plot are of one setting each, and cannot be swept")
    usual_size, usual_penalty = beam_defaults(chosen)
    base = Row(
        "greedy",
        block_size=options.number_or_auto(block_size),
        jacobi_length=options.number_or_max(jacobi_length),
        oracle_length=oracle_length,
        beam_size=beam_size or usual_size,
        length_penalty=usual_penalty if length_penalty is None else length_penalty,
        max_length=max_length,
    )
    examples, scorer = read_input(task, file, source, references or (), limit, keep_tokens)
    plan = Plan(
        model=chosen,
        examples=examples,
        scorer=scorer,
        rows=settle_rows(rows or [], varied, base, bundle_order(chosen), rewriting=task in ("gec", "simplification")),
        asked=bool(rows),
        sweep=varied,
        repetitions=repetitions,
        batch_size=options.number_or_auto(batch_size) or 1,
        device=device,
        precision=precision,
        threads=threads,
        # A line to summarise is one text.
        split=not no_split and task != "summarisation",
        profile=profile,
        histogram=histogram,
        plot=plot is not None,
    )
    if tune:
        plan = tuning_plan(plan)
    outcome = run(plan, lambda runs: progress(runs, quiet))
    tuned = choose(outcome.results) if tune else {}
    if tune:
        print_tuning(outcome, tuned, markdown)
    else:
        print_outcome(outcome, varied, markdown)
    if not quiet:
        for reason in dict.fromkeys(outcome.left_out.values()):
            names = ", ".join(name for name, why in outcome.left_out.items() if why == reason)
            typer.echo(f"specdec: left out: {names} ({reason})", err=True)
    if json_file is not None:
        record = to_json(outcome.results, outcome.environment, outcome.examples, outcome.signatures)
        write_json(json_file, record | ({"presets": presets_of(tuned)} if tune else {}))
    if plot is not None:
        draw(outcome.points, plot, f"{chosen.name}, {outcome.examples['name']}")
    if tune:
        store(chosen, tuned, outcome.examples["lines"], markdown)
    _check(outcome.results, outcome.environment)


def _synthetic(request: "Request", json_file: Path | None, markdown: bool, quiet: bool) -> None:
    from specdec_cli.commands.bench.synthetic import print_outcome, run, to_record
    from specdec_cli.commands.bench.view import progress
    from specdec_cli.files import write_json

    if json_file is not None:
        _check_target("--json", json_file)
    outcome = run(request, lambda runs: progress(runs, quiet))
    print_outcome(outcome, markdown)
    if json_file is not None:
        write_json(json_file, to_record(outcome))
    _check(outcome.results, outcome.environment)


def _check_target(option: str, path: Path) -> None:
    """Better now than after all has been measured. Raises UsageError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{option} {path}: {error.strerror}") from error
    if path.is_dir():
        raise UsageError(f"{option} {path}: is a folder")


def _check(results: "Sequence[Result]", environment: Mapping[str, Any]) -> None:
    """Raises SpecdecError, whose exit code is 1, for a decoding that did not keep its promise."""
    from specdec_cli.benchmark.summary import exactness_violations

    # Elsewhere products may differ with the number of rows; there the table tells, and nothing is promised.
    if environment["device"] != "cpu" or environment["precision"] not in ("float32", "int8"):
        return
    broken = exactness_violations(results)
    if broken:
        raise SpecdecError("; ".join(broken))
