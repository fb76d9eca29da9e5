"""`specdec distill`: translation of source text by a teacher."""

from pathlib import Path
from typing import Annotated

import typer

from specdec_cli.commands.distillation_run import SHARD_LINES, distill_files, plan_distillation
from specdec_cli.commands.durations import duration
from specdec_cli.commands.options.cluster import ClusterOptions
from specdec_cli.commands.options.decoding import option
from specdec_cli.commands.options.groups import with_groups
from specdec_cli.commands.options.machine import DeviceOption, ThreadsOption
from specdec_cli.commands.options.text import QuietOption
from specdec_cli.commands.options.values import decoding_option, machine_option, output_option
from specdec_cli.commands.training_run import check_text
from specdec_cli.decoding.options import Sampled
from specdec_cli.distillation.run import Summary
from specdec_cli.distillation.shards import DISTILLED
from specdec_cli.distillation.teacher import Resources
from specdec_cli.errors import UsageError
from specdec_cli.processors import usable_processors
from specdec_cli.text.io.lines import STDIO

MaxSourceLengthOption = Annotated[
    int | None,
    decoding_option(
        "--max-source-length",
        metavar="N",
        min=1,
        help="Largest number of tokens of a source, EOS included; longer sources are dropped.",
        show_default="the bundle's",
    ),
]
QuantizationOption = Annotated[
    str,
    decoding_option(
        "--quantization",
        metavar="TYPE",
        help="Number format that the teacher computes in: float32, int8, bfloat16, float16 or another of CTranslate2's.",
    ),
]
NearestOption = Annotated[
    float | None,
    output_option(
        "--nearest",
        metavar="CHRF",
        min=0.0,
        max=100.0,
        help="Of the hypotheses that the beam keeps, write the one that is nearest to a target of the source in FILE, by chrF, if it has "
        "at least this chrF.",
        show_default="the teacher's best hypothesis",
    ),
]
KeepCopiesOption = Annotated[
    bool, output_option("--keep-copies", help="Keep output that equals its source; that of a corrector is always kept.")
]
ShardLinesOption = Annotated[
    int, output_option("--shard-lines", metavar="N", min=1, help="Sources in a shard; a stopped run loses at most one shard.")
]
BatchTokensOption = Annotated[int, machine_option("--batch-tokens", metavar="N", min=1, help="Source tokens in a batch, padding included.")]


WithOption = Annotated[
    list[str] | None,
    decoding_option("--with", metavar="BUNDLE", help="Another teacher with the same vocabulary; specdec decodes the ensemble. Repeatable."),
]


@with_groups
def distill(
    teacher: Annotated[str, typer.Argument(metavar="TEACHER", help="Bundle or CTranslate2 folder.", show_default=False)],
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="Output folder; a stopped run is resumed.", show_default=False)],
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="Source lines, or TSV whose source column is used.", show_default="stdin"),
    ] = None,
    others: WithOption = None,
    beam_size: Annotated[int | None, option("beam_size")] = None,
    length_penalty: Annotated[float | None, option("length_penalty")] = None,
    max_length: Annotated[int | None, option("max_length", default="the teacher's longest")] = None,
    max_source_length: MaxSourceLengthOption = None,
    quantization: QuantizationOption = "float32",
    keep_copies: KeepCopiesOption = False,
    nearest: NearestOption = None,
    sample: Annotated[bool, option("sample")] = False,
    temperature: Annotated[float | None, option("temperature")] = None,
    top_k: Annotated[int | None, option("top_k")] = None,
    seed: Annotated[
        int, machine_option("--seed", metavar="N", min=0, max=2**32 - 1, help="With --sample: seed of the random numbers.")
    ] = 1,
    shard_lines: ShardLinesOption = SHARD_LINES,
    batch_tokens: BatchTokensOption = 1024,
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
    *,
    cluster: ClusterOptions,
) -> None:
    """Translate source text with a teacher, to train a smaller model on the result.

    Each distinct source is translated once. At the end, OUTPUT/distilled.tsv has a line with source and translation for each;
    the shards beside it are complete at any time.
    """
    if cluster.ray is None:
        check_text([path for path in files or () if path != STDIO], parallel=nearest is not None)
    if not sample and (temperature is not None or top_k is not None):
        raise UsageError("--temperature and --top-k are for --sample")
    plan = plan_distillation(
        (teacher, *(others or ())),
        beam_size=beam_size,
        length_penalty=length_penalty,
        max_length=max_length,
        max_source_length=max_source_length,
        quantization=quantization,
        keep_copies=keep_copies,
        nearest=nearest,
        sampling=Sampled(1.0 if temperature is None else temperature, top_k or 0, seed) if sample else None,
        resources=Resources(device, threads or (1 if cluster.ray else usable_processors()), batch_tokens),
    )
    summary = distill_files(plan, output, files or [], shard_lines, quiet=quiet, cluster=cluster)
    if not quiet:
        _print_summary(summary)


def _print_summary(summary: Summary) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("lines read", f"{summary.kept + summary.dropped.total():,}")
    for reason, count in summary.dropped.most_common():
        table.add_row(f"dropped: {reason}", f"{count:,}")
    table.add_row(f"kept, in {DISTILLED}", f"{summary.kept:,}")
    table.add_row("teacher's tokens", f"{summary.tokens:,}")
    table.add_row("time of this run", duration(summary.seconds))
    Console(stderr=True).print(table)
