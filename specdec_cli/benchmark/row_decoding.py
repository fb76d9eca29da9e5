"""How a row decodes lines with either engine: the options, the settings for the report, and the function that decodes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from specdec_cli.benchmark.records import Output
from specdec_cli.benchmark.rows import Row, variant_option
from specdec_cli.decoding.methods import DEFAULT_MODE, LONGEST_DRAFT, METHODS, REWRITING, SEARCHES, TOLERANT
from specdec_cli.decoding.options import Decoding, DecodingOptions, Margin, Tolerant, own_options
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.model.bundle_info import BundleInfo, Described
from specdec_cli.pipeline.corrector import Correction, LineCorrector
from specdec_cli.pipeline.edit_filter import EditFilter
from specdec_cli.pipeline.translator import LineTranslator, Translation

Decode = Callable[[Sequence[str]], list[Output]]


def options_of(row: Row, info: BundleInfo) -> DecodingOptions:
    """The options of an engine for decoding with the settings of `row` and the bundle with the metadata `info`."""
    given, tolerates, searches = row.options, row.decoding in TOLERANT, row.decoding in SEARCHES
    return replace(
        given,
        decoding=row.decoding,
        block_size=given.block_size if row.drafts else None,
        top_beta=given.top_beta if tolerates else None,
        tolerance=given.tolerance if tolerates else None,
        preset=row.variant if variant_option(row.decoding) is None else None,
        beam_size=given.beam_size if searches else None,
        length_penalty=given.length_penalty if searches else None,
        with_scores=_edit_filter(row, info).minimum is not None,
        whole=True,
        mode="" if row.min_score is not None else given.mode or DEFAULT_MODE,
    )


def line_decoder(engine: SentenceDecoder, bundle: Described, row: Row, *, split: bool) -> Decode:
    """Make the function that decodes lines with `engine` as the command of the bundle's task does (translate or correct).

    If `row` has a `min_score`, lines are corrected for any task. With `split`, lines are split into sentences.
    """
    decode: Callable[[Sequence[str]], Iterator[Translation | Correction]]
    if bundle.info.task not in REWRITING and row.min_score is None:
        decode = LineTranslator(engine, bundle.tokenizer, split=split).translate
    else:
        kept = _edit_filter(row, bundle.info)
        decode = LineCorrector(engine, bundle.tokenizer, kept, split=split, ngrams=bundle.ngrams, lexicon=bundle.lexicon).correct
    return lambda lines: [Output(line.text, line.sentences, line.rounds) for line in decode(lines)]


def describe_settings(row: Row, decoding: Decoding, engine: SentenceDecoder, info: BundleInfo) -> dict[str, Any]:
    """The settings that affect the decoding of `row`, and a description of the engine, by name, for the report.

    `decoding` is that of the engine; `info` is the metadata of the bundle.
    """
    described: dict[str, Any] = {}
    if decoding.method in METHODS and METHODS[decoding.method].options:
        described = {**own_options(decoding), **({"oracle_length": True} if row.oracle_length else {})}
    elif row.variant:
        described = {"preset": row.variant}
    if row.decoding == "auto":
        described["chosen"] = decoding.method
    if block_size := decoding.block_size or (LONGEST_DRAFT if decoding.method == "lookup" else 0):
        described["block_size"] = block_size
    if (min_score := _edit_filter(row, info).minimum) is not None:
        described |= {"min_score": min_score} | ({"mode": row.options.mode} if row.options.mode else {})
    if isinstance(decoding.acceptance, Tolerant | Margin):
        described |= vars(decoding.acceptance)
    if decoding.method in SEARCHES:
        described |= {"beam_size": decoding.search.beam_size, "length_penalty": decoding.search.length_penalty}
    described |= {"max_length": decoding.max_length or None, "batch_size": decoding.batch_size, "threads": row.threads}
    return described | {"engine": engine.description}


def _edit_filter(row: Row, info: BundleInfo) -> EditFilter:
    """The filter of edits; searches accept edits of any score because they have no scores of tokens."""
    edit_filter = EditFilter.of(info, row.min_score, mode=row.options.mode or None)
    return replace(edit_filter, minimum=None, minimum_beside_others=None) if row.decoding in SEARCHES else edit_filter
