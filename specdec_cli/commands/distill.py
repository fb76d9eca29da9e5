"""`specdec distill`: translation of training text by a teacher, in shards that a stopped run keeps."""

from pathlib import Path
from typing import Annotated

import typer

from specdec_cli.console.options import (
    ClusterOptions,
    DeviceOption,
    InstructionOption,
    QuietOption,
    ThreadsOption,
    decoding_option,
    machine_option,
    option,
    output_option,
    with_groups,
)
from specdec_cli.console.reports import duration, print_table
from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.devices import by_device, has_gpu
from specdec_cli.distillation.run import DISTILLED, SHARD_LINES, DistillationPlan, Filters, Summary
from specdec_cli.distillation.teachers import Resources, Search
from specdec_cli.errors import UsageError
from specdec_cli.processors import usable_processors
from specdec_cli.text.corpus.parallel import check_text
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
    int, output_option("--shard-lines", metavar="N", min=1, help="Sources in a shard; a run that is killed loses at most one shard.")
]
BatchTokensOption = Annotated[
    int | None,
    machine_option(
        "--batch-tokens",
        metavar="N",
        min=1,
        help="Source tokens in a batch, padding included.",
        show_default=by_device("teacher_tokens"),
    ),
]


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
    instruction: InstructionOption = None,
    beam_size: Annotated[int | None, option("beam_size")] = None,
    length_penalty: Annotated[float | None, option("length_penalty")] = None,
    max_length: Annotated[int | None, option("max_length", default="the teacher's longest")] = None,
    max_source_length: MaxSourceLengthOption = None,
    quantization: QuantizationOption = "float32",
    keep_copies: KeepCopiesOption = False,
    nearest: NearestOption = None,
    sample: Annotated[bool, option("sample")] = False,
    draft_model: Annotated[str | None, option("draft_model")] = None,
    temperature: Annotated[float | None, option("temperature")] = None,
    top_k: Annotated[int | None, option("top_k")] = None,
    seed: Annotated[
        int, machine_option("--seed", metavar="N", min=0, max=2**32 - 1, help="With --sample: seed of the random numbers.")
    ] = 1,
    shard_lines: ShardLinesOption = SHARD_LINES,
    batch_tokens: BatchTokensOption = None,
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
        if device == "cuda" and not has_gpu():
            raise UsageError("--device cuda: no CUDA device is available")
    if not sample and (temperature is not None or top_k is not None):
        raise UsageError("--temperature and --top-k are for --sample")
    plan = DistillationPlan(
        search=Search(compute_type=quantization),
        resources=Resources(device, threads or (1 if cluster.ray else usable_processors()), batch_tokens),
        filters=Filters(keep_copies=keep_copies),
        shard_lines=shard_lines,
        nearest=nearest,
    )
    options = DecodingOptions(
        beam_size=beam_size,
        length_penalty=length_penalty,
        max_length=max_length,
        sample=sample,
        draft_model=draft_model,
        temperature=temperature,
        top_k=top_k,
        seed=seed,
    )
    from specdec_cli.work.distilling import distill_files, plan_distillation

    plan = plan_distillation((teacher, *(others or ())), options, plan, max_source_length, instruction)
    summary = distill_files(plan, output, files or [], cluster, quiet=quiet)
    if not quiet:
        _print_summary(summary)


def _print_summary(summary: Summary) -> None:
    rows = [
        ("lines read", f"{summary.kept + summary.dropped.total():,}"),
        *((f"dropped: {reason}", f"{count:,}") for reason, count in summary.dropped.most_common()),
        (f"kept, in {DISTILLED}", f"{summary.kept:,}"),
        ("teacher's tokens", f"{summary.tokens:,}"),
        ("time of this run", duration(summary.seconds)),
    ]
    print_table(rows)
