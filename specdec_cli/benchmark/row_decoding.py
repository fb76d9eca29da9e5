"""How a row decodes lines with either engine: the request, the settings for the report, and the function that decodes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from specdec_cli.benchmark.records import Output
from specdec_cli.benchmark.rows import Row, variant_option
from specdec_cli.decoding.acceptance_rules import Reluctant, Tolerant
from specdec_cli.decoding.names import DEFAULT_MODE, LONGEST_DRAFT, METHODS, REWRITING, SEARCHES, TOLERANT
from specdec_cli.model.bundle_info import BundleInfo
from specdec_cli.pipeline.corrector import Correction, Corrector
from specdec_cli.pipeline.decoder import SentenceDecoder
from specdec_cli.pipeline.edit_filter import EditFilter
from specdec_cli.pipeline.request import DecodingRequest
from specdec_cli.pipeline.settings import Described, Settings
from specdec_cli.pipeline.translator import Translation, Translator

Decode = Callable[[Sequence[str]], list[Output]]


def request_of(row: Row, info: BundleInfo) -> DecodingRequest:
    """The request to an engine for decoding with the settings of `row` and the bundle with the metadata `info`."""
    tolerates, searches = row.decoding in TOLERANT, row.decoding in SEARCHES
    return DecodingRequest(
        decoding=row.decoding,
        block_size=row.block_size if row.drafts else None,
        top_beta=row.top_beta if tolerates else None,
        tolerance=row.tolerance if tolerates else None,
        preset=row.variant if variant_option(row.decoding) is None else None,
        options=dict(row.options),
        beam_size=row.beam_size if searches else None,
        length_penalty=row.length_penalty if searches else None,
        max_length=row.max_length,
        batch_size=row.batch_size,
        with_scores=_edit_filter(row, info).minimum is not None,
        whole=True,
        mode="" if row.min_score is not None else row.mode or DEFAULT_MODE,
    )


def line_decoder(engine: SentenceDecoder, bundle: Described, row: Row, *, split: bool) -> Decode:
    """Make the function that decodes lines with `engine` as the command of the bundle's task does (translate or correct).

    If `row` has a `min_score`, lines are corrected for any task. With `split`, lines are split into sentences.
    """
    decode: Callable[[Sequence[str]], Iterator[Translation | Correction]]
    if bundle.info.task not in REWRITING and row.min_score is None:
        decode = Translator(engine, bundle.tokenizer, split=split).translate
    else:
        kept = _edit_filter(row, bundle.info)
        decode = Corrector(engine, bundle.tokenizer, kept, split=split, ngrams=bundle.ngrams, lexicon=bundle.lexicon).correct
    return lambda lines: [Output(line.text, line.sentences, line.rounds) for line in decode(lines)]


def describe_settings(row: Row, settings: Settings, engine: SentenceDecoder, info: BundleInfo) -> dict[str, Any]:
    """The settings that affect the decoding of `row`, and a description of the engine, by name, for the report.

    `settings` are the resolved settings of the engine; `info` is the metadata of the bundle.
    """
    described: dict[str, Any] = {}
    if settings.decoding in METHODS and METHODS[settings.decoding].options:
        described = {**settings.options, **({"oracle_length": True} if row.oracle_length else {})}
    elif row.variant:
        described = {"preset": row.variant}
    if row.decoding == "auto":
        described["chosen"] = settings.decoding
    if block_size := settings.block_size or (LONGEST_DRAFT if settings.decoding == "lookup" else 0):
        described["block_size"] = block_size
    if (min_score := _edit_filter(row, info).minimum) is not None:
        described |= {"min_score": min_score} | ({"mode": row.mode} if row.mode else {})
    if isinstance(settings.rule, Tolerant):
        described |= {"top_beta": settings.rule.top_beta, "tolerance": settings.rule.tolerance}
    if isinstance(settings.rule, Reluctant):
        described |= {"margin": settings.rule.margin}
    if settings.decoding in SEARCHES:
        described |= {"beam_size": settings.beam_size, "length_penalty": settings.length_penalty}
    described |= {"max_length": settings.max_length, "batch_size": settings.batch_size, "threads": row.threads}
    return described | {"engine": engine.description}


def _edit_filter(row: Row, info: BundleInfo) -> EditFilter:
    """The filter of edits; searches accept edits of any score because they have no scores of tokens."""
    edit_filter = EditFilter.of(info, row.min_score, mode=row.mode or None)
    return replace(edit_filter, minimum=None, minimum_beside_others=None) if row.decoding in SEARCHES else edit_filter
