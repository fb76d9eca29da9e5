"""`specdec bench`: comparison of decodings on the same text."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from specdec_cli.benchmark.geometries import GEOMETRIES, REAL_SIZES
from specdec_cli.benchmark.options import BenchOptions
from specdec_cli.benchmark.rows import SWEEP_KEYS
from specdec_cli.commands.training import require_training
from specdec_cli.console.options import MODEL_HELP, OptionGroup, decoding_option, option, output_option, with_groups
from specdec_cli.errors import UsageError
from specdec_cli.opening.models import CORRECTOR, TRANSLATOR

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
        _check_alone(context, _CHECKED, "--check-device chooses its rows")
        require_training()  # the check measures training too
        from specdec_cli.work.gpu_check import check_gpu

        check_gpu(file or asked.source, asked)
        return
    if asked.synthetic:
        _check_alone(context, _SYNTHETIC, "--synthetic uses random text and a random model")
    from specdec_cli.work.benching import bench_rows, bench_synthetic

    if asked.synthetic:
        bench_synthetic(asked)
    else:
        bench_rows(file, asked)


def _check_alone(context: typer.Context, allowed: Sequence[str], problem: str) -> None:
    """Raise UsageError if the command line has other options than those `allowed`; `problem` says why."""
    given = [p for p in context.command.params if p.name and getattr(context.get_parameter_source(p.name), "name", "") == "COMMANDLINE"]
    others = [p.opts[0] if p.param_type_name == "option" else "FILE" for p in given if p.name not in allowed]
    if others:
        raise UsageError(f"{problem}; {', '.join(others)} cannot be given with it")
