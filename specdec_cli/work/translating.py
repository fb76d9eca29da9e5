"""The work of `specdec translate`: it opens the translator, translates lines and formats the results."""

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import typer

from specdec_cli.api import Translator
from specdec_cli.console.input_output import check_lines, inputs_of
from specdec_cli.console.options import DecodingFlags, DraftOptions, ShardOptions, TextOptions
from specdec_cli.console.reports import (
    DraftTotals,
    LanguageCheck,
    TermTotals,
    Totals,
    Warner,
    draft_fields,
    record,
    tell_of_keyboard,
    teller,
    term_fields,
    term_warnings,
    trace_on_stderr,
)
from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.documents.formats import DOCUMENTS, TEXT, Format, format_of
from specdec_cli.errors import InputError, UsageError, counted
from specdec_cli.files import json_text
from specdec_cli.memories.pairs import Entry, sentence_pairs
from specdec_cli.memories.previous import PreviousVersion
from specdec_cli.opening.engines import Computation
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice
from specdec_cli.pipeline.decoded_text import Candidate
from specdec_cli.pipeline.drafts import DraftGate, Drafts
from specdec_cli.pipeline.text_variants import RULES
from specdec_cli.pipeline.translator import LineTranslator, Translation
from specdec_cli.pipeline.variants import Variant
from specdec_cli.text.corpus.parallel import Pair, read_aligned
from specdec_cli.text.glossary import Term
from specdec_cli.text.io.lines import Line, read_lines
from specdec_cli.text.segment.code import is_beside_code
from specdec_cli.text.segment.paragraphs import join_wrapped, rewrapped, unwrapped_lines
from specdec_cli.work.lines import Stream, opener, read_inputs, read_whole, shown_progress


@dataclass(frozen=True)
class Translating:
    """A LineCommand that translates, as the options of `translate` say; `whole` are the lines of the whole text if there
    is an earlier version of it; `terms` are those of the glossary, None without one; with `uses_labels`, labels are
    translated as the bundle's list says.
    """

    model: ModelChoice
    decoding: DecodingFlags
    machine: MachineOptions
    text: TextOptions
    n_best: int
    earlier: DraftOptions
    whole: tuple[str, ...] = ()
    terms: Sequence[Term] | None = None
    uses_labels: bool = True

    def run(self, files: Sequence[Path], cluster: ShardOptions, *, redo: bool, started: float) -> None:
        """Translate `files`, or stdin without one, here or on a cluster; `started` is the time at which the command began."""
        text, earlier = self.text, self.earlier
        text.check_without(RULES)
        if cluster.ray is not None:
            from specdec_cli.work.cluster import decode_on_cluster  # a run without a cluster starts sooner

            check_lines(files, text.format)
            decode_on_cluster("translate", replace(self, model=self.model.absolute()), files, text, cluster, is_beside_code)
            return
        named = inputs_of(files, text.format)
        tell_of_keyboard(files, quiet=text.quiet)
        opened: list[Stream[Translation]] = []
        divides = earlier.previous is None and not self.decoding.given.get("sample")  # what is drawn depends on the place in the line
        inputs = read_inputs(
            named,
            text,
            "translate",
            redo=redo,
            divides=divides,
            language=lambda: opened[0].model.info.source_language if opened else "",
        )
        whole, texts = read_whole(inputs) if earlier.previous is not None else ([], [])
        stream = replace(self, whole=tuple(texts)).open(self.machine)
        opened.append(stream)
        writer = text.open_outputs(named, one_stream=text.as_json)
        stream.watch(writer)
        loaded = time.perf_counter()
        with writer, shown_progress(stream, text):
            for each in whole or inputs:
                decoded = stream.decode_input(each, writer, as_lines=each.document is None or text.as_json)
                if each.document is None or text.as_json:
                    deque(decoded, maxlen=0)
                else:
                    writer.write_document(each.document.translated([one.text for one in decoded]), each.files[0])
        if text.stats:
            stream.print_statistics(loaded - started, time.perf_counter() - loaded)

    def request(self, machine: MachineOptions) -> DecodingOptions:
        return self.decoding.options(machine, with_scores=self.text.as_json, trace=self.text.trace, n_best=self.n_best)

    def open(self, machine: MachineOptions, computation: Computation | None = None) -> Stream[Translation]:
        text, warner = self.text, Warner(self.text.quiet)
        opening, held = opener(self, machine, computation, teller(text.quiet), trace_on_stderr if text.trace else None)
        make = partial(
            LineTranslator.of_bundle,
            split=not text.no_split,
            terms=self.terms or (),
            labels=self.uses_labels,
            warn=warner.warn,
            on_tried=partial(show_tried, warner) if text.trace else None,
            raw=text.raw,
            without=text.without or (),
        )
        model = Translator.of(make, self.model.name, opening)
        if self.earlier.given:
            model.decoding.check_given()
            model.use_drafts(_open_drafts(self.earlier, model, self.whole, text.format))
        source_language = "" if model.info.task == "summarise" else model.info.source_language
        check = LanguageCheck(source_language, warner.warn_of)
        drafts, terms = DraftTotals() if self.earlier.given else None, None if self.terms is None else TermTotals()
        totals = Totals(drafts=drafts, terms=terms)

        def written(line: Line, translation: Translation) -> Iterator[tuple[str, str]]:
            check.read(line)
            if totals.drafts is not None:
                totals.drafts.add(translation.draft)
            if totals.terms is not None:
                totals.terms.add(translation.terms)
                for message in term_warnings(translation):
                    warner.warn_of(line, message)
            if not text.as_json:
                return rewrapped(line, translation.text)
            values = record(line, translation, model.decoding.method) | (_hypotheses(translation) if self.n_best > 1 else {})
            values |= draft_fields(translation.draft) | ({} if self.terms is None else term_fields(translation.terms))
            return iter([(json_text(values), "\n")])

        return Stream(model, warner, held, written, is_beside_code, totals=totals, counts_spans=text.stats)

    def failed(self, line: Line) -> Iterator[tuple[str, str]]:
        """Format a line that could not be translated: an empty line, because input and output have the same number of lines."""
        if not self.text.as_json:
            return iter([("", each.ending) for each in unwrapped_lines(line)])
        values = record(line, Translation("", warnings=("failed",)), "")
        return iter([(json_text(values), "\n")])


def show_tried(warner: Warner, index: int, tried: Sequence[Candidate], chosen: Variant) -> None:
    """Print the place of line `index`, and the variants of a text of it that were decoded, each with its output and problems."""
    typer.echo(f"{warner.window[index].location}: {counted(len(tried), 'variant')}", err=True)
    for each in tried:
        sources, outputs = (" | ".join(texts) for texts in (each.variant.segments.texts, each.outputs))
        problems = ["protected text lost"] if each.restored is None else [str(problem) for problem in each.restored.problems]
        sign, number = "+" if each.variant is chosen else "x", each.parts[0].number + 1 if each.parts else 1
        found = f": {', '.join(problems)}" if problems else ""
        typer.echo(f"{number:>4}   {sign} {each.variant.name}: {sources!r} -> {outputs!r}{found}", err=True)


def _open_drafts(options: DraftOptions, model: Translator, whole: Sequence[str], format: Format | None) -> Drafts:
    """Open the memory or the earlier version that `options` name, for the batches of `model`.

    `whole` are the lines of the whole new text, for an earlier version; this has the `format` (None: by the ending of its source's name).
    Raises InputError for files that cannot be read or do not belong together, and UsageError for two formats, and if a library is not
    installed.
    """
    gate, copies = DraftGate.for_batches(model.decoding.batch_size), options.exact_matches == "copy"
    if options.previous is not None:
        pairs = _previous_pairs(*options.previous, format or format_of(options.previous[0]), given=format is not None)
        old = list(sentence_pairs(pairs, split=model.splits, whole=not model.splits))
        return Drafts(PreviousVersion([(old, model.sentences(whole))], options.least_similarity), gate, copies)
    from specdec_cli.memories.memory import open_memory  # numpy is not in a light install

    assert options.tm
    info = model.info
    return Drafts(open_memory(options.tm[0], info.source_language, info.target_language, options.least_similarity), gate, copies)


def _previous_pairs(source: Path, target: Path, format: Format, *, given: bool) -> Iterable[Pair | Entry]:
    """The texts of the earlier version with their translations; `given` if both files have the `format` that the user gave."""
    other = format_of(target)
    if format == TEXT:
        return _paragraph_pairs(source, target)
    if format not in DOCUMENTS:
        return read_aligned(source, target)
    if not given and other in DOCUMENTS and other != format:
        raise UsageError(f"--previous: {source} is {format} and {target} is {other}; give two files of one format, or --format")
    from specdec_cli.memories.translated_pairs import translated_pairs  # numpy is not in a light install

    return translated_pairs(source, target, format)


def _paragraph_pairs(source: Path, target: Path) -> Iterable[Pair]:
    """Pair the first paragraph of `source` with the first one of `target`, and so on. Their line breaks may differ.

    Raises InputError if the two files have different numbers of paragraphs.
    """
    paragraphs = [[line.text for line in join_wrapped(read_lines([path])) if line.text.strip()] for path in (source, target)]
    if len(paragraphs[0]) != len(paragraphs[1]):
        raise InputError(f"{target}: the number of paragraphs is {len(paragraphs[1])}, but {len(paragraphs[0])} in {source}")
    return list(map(Pair, *paragraphs))


def _hypotheses(translation: Translation) -> dict[str, Any]:
    """The hypotheses of a line, for --json with --n-best; a copied line has one."""
    found = translation.hypotheses or ((translation.text, translation.score),)
    return {"hypotheses": [{"text": text, "score": None if score is None else round(score, 4)} for text, score in found]}
