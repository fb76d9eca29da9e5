"""`specdec translate`: translation of text, line by line."""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from specdec_cli.commands.inputs import check_lines, check_stdin, group_files
from specdec_cli.commands.options import (
    DecodingFlags,
    DraftOptions,
    FilesArgument,
    GlossaryOptions,
    MachineFlags,
    ShardOptions,
    SourceLanguageOption,
    TargetLanguageOption,
    TextOptions,
    TranslatorOption,
    output_option,
    with_groups,
)
from specdec_cli.errors import UsageError
from specdec_cli.files import json_text
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice, chosen_translator
from specdec_cli.text.io.lines import Line
from specdec_cli.text.segment.code import is_beside_code
from specdec_cli.text.segment.paragraphs import rewrapped, unwrapped_lines

if TYPE_CHECKING:
    from specdec_cli.commands.lines import OpenedDecoding
    from specdec_cli.decoding.options import Decoding, DecodingOptions
    from specdec_cli.documents.document import Document
    from specdec_cli.pipeline.translator import Translation
    from specdec_cli.text.glossary import Term

AllOption = Annotated[bool, output_option("--all", help="In PO and XLIFF files, translate again what is translated already.")]
NBestOption = Annotated[int, output_option("--n-best", metavar="N", min=1, help="With --json and beam search: hypotheses for each line.")]


@dataclass(frozen=True)
class Translating:
    """A LineDecoding that translates, as the options of `translate` say; `whole` are the lines of the whole text if there
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
    terms: "Sequence[Term] | None" = None
    uses_labels: bool = True

    def request(self, machine: MachineOptions) -> "DecodingOptions":
        return self.decoding.options(machine, with_scores=self.text.as_json, trace=self.text.trace, n_best=self.n_best)

    def open(self, machine: MachineOptions, decoding: "Decoding | None" = None) -> "OpenedDecoding[Translation]":
        from specdec_cli.commands.lines import OpenedDecoding, Stream, record
        from specdec_cli.commands.messages import LanguageCheck
        from specdec_cli.commands.statistics import DraftTotals, TermTotals, draft_fields, open_drafts, term_fields, term_warnings
        from specdec_cli.documents.drafts import drafts_of_document
        from specdec_cli.pipeline.translator import Translator
        from specdec_cli.text.glossary import open_glossary

        request = decoding or self.request(machine)
        stream = Stream(self.model, machine, request, trace=self.text.trace, quiet=self.text.quiet, counts_spans=self.text.stats)
        info, tokenizer = stream.bundle.info, stream.bundle.tokenizer
        summarises = info.task == "summarise"
        languages = None if summarises else (info.source_language, info.target_language)
        split = not (self.text.no_split or summarises)
        translator = Translator(stream.engine, tokenizer, split=split, warn=stream.warn, languages=languages)
        self.earlier.check_decoding(stream.decoding)
        if self.earlier.given:
            stream.totals.drafts = DraftTotals()
            sentences = translator.sentences(self.whole)
            translator.use_drafts(open_drafts(self.earlier, info, stream.decoding.batch_size, sentences, self.text.format, split=split))
        if self.terms is not None:
            stream.totals.terms = TermTotals()
            translator.use_glossary(open_glossary(self.terms, stream.bundle.shape.order))
        if self.uses_labels:
            translator.use_labels(stream.bundle.labels)

        check = LanguageCheck("" if summarises else info.source_language, stream.warn_of)

        def written(line: Line, translation: "Translation") -> Iterator[tuple[str, str]]:
            check.read(line)
            if stream.totals.drafts is not None:
                stream.totals.drafts.add(translation.draft)
            if stream.totals.terms is not None:
                stream.totals.terms.add(translation.terms)
                for message in term_warnings(translation.terms):
                    stream.warn_of(line, message)
            if not self.text.as_json:
                return rewrapped(line, translation.text)
            values = record(line, translation, stream.decoding.method) | (_hypotheses(translation) if self.n_best > 1 else {})
            values |= draft_fields(translation.draft) | ({} if self.terms is None else term_fields(translation.terms))
            return iter([(json_text(values), "\n")])

        def begin(document: "Document") -> None:
            found = drafts_of_document(document, translator.sentences, stream.decoding.batch_size, split=split)
            translator.use_drafts(found)
            if found is not None and stream.totals.drafts is None:
                stream.totals.drafts = DraftTotals()

        own_drafts = not self.earlier.given and stream.decoding.takes_drafts
        parts = partial(translator.translate, separate=True)
        return OpenedDecoding(stream, translator.translate, written, is_beside_code, parts, begin=begin if own_drafts else None)

    def failed(self, line: Line) -> Iterator[tuple[str, str]]:
        """Empty output for a line that could not be translated, so that the output has as many lines as the input."""
        from specdec_cli.commands.lines import record
        from specdec_cli.pipeline.translator import Translation

        if not self.text.as_json:
            return iter([("", each.ending) for each in unwrapped_lines(line)])
        values = record(line, Translation("", warnings=("failed",)), "")
        return iter([(json_text(values), "\n")])


@with_groups
def translate(
    files: FilesArgument = None,
    model: TranslatorOption = None,
    source_language: SourceLanguageOption = "",
    target_language: TargetLanguageOption = "",
    *,
    decoding: DecodingFlags,
    n_best: NBestOption = 1,
    earlier: DraftOptions,
    glossary: GlossaryOptions,
    machine: MachineFlags,
    text: TextOptions,
    cluster: ShardOptions,
    redo: AllOption = False,
) -> None:
    """Translate text line by line, and documents.

    Markdown, subtitles, PO, XLIFF, HTML and Word documents keep their structure. Lines are translated as they arrive, with --previous
    after all were read. The sentences of a line are translated one by one and joined again; a model that summarises decodes a line as
    one text.
    """
    started = time.perf_counter()

    from specdec_cli.commands.lines import decode_input, read_inputs, read_whole

    chosen = chosen_translator(model, source_language, target_language, offline=machine.offline)
    if n_best > 1 and not text.as_json:
        raise UsageError("--n-best is for --json, whose objects have all hypotheses")
    earlier.check()
    check_stdin(files or (), "--glossary", glossary.glossary)
    check_stdin(files or (), "--previous", earlier.previous)
    terms = glossary.read(n_best=n_best)
    if earlier.previous is not None and text.unwrap:
        raise UsageError("--previous compares the texts line by line and does not go with --unwrap")
    if earlier.given and cluster.ray is not None:
        raise UsageError("--tm and --previous do not go with --ray, which gives parts of the text to several machines")
    translating = Translating(chosen, decoding, machine, text, n_best, earlier, (), terms, not glossary.no_labels)
    if cluster.ray is not None:
        from specdec_cli.commands.cluster import decode_on_cluster

        check_lines(files or [], text.format)
        decode_on_cluster("translate", replace(translating, model=chosen.absolute()), files or [], text, cluster, is_beside_code)
        return
    groups = group_files(files or (), text.format)
    inputs = read_inputs(groups, text, "translate", redo=redo)
    whole, texts = read_whole(inputs) if earlier.previous is not None else ([], [])
    opened = replace(translating, whole=tuple(texts)).open(machine)
    stream = opened.stream
    writer = text.open_outputs(groups, one_stream=text.as_json)
    stream.watch(writer)
    loaded = time.perf_counter()
    with writer:
        for each in whole or inputs:
            decoded = decode_input(opened, each, writer, as_lines=each.document is None or text.as_json)
            if each.document is None or text.as_json:
                deque(decoded, maxlen=0)
            else:
                writer.write_document(each.document.translated([one.text for one in decoded]), each.group.files[0])
    if text.stats:
        stream.print_statistics(loaded - started, time.perf_counter() - loaded)


def _hypotheses(translation: "Translation") -> dict[str, Any]:
    """The hypotheses of a line, for --json with --n-best; a copied line has one."""
    found = translation.hypotheses or ((translation.text, translation.score),)
    return {"hypotheses": [{"text": text, "score": None if score is None else round(score, 4)} for text, score in found]}
