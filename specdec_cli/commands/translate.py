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
    from specdec_cli.commands.lines import Stream
    from specdec_cli.decoding.options import Decoding, DecodingOptions
    from specdec_cli.pipeline.translator import Translation
    from specdec_cli.text.glossary import Term

AllOption = Annotated[bool, output_option("--all", help="In PO and XLIFF files, translate again what is translated already.")]
NBestOption = Annotated[int, output_option("--n-best", metavar="N", min=1, help="With --json and beam search: hypotheses for each line.")]


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
    terms: "Sequence[Term] | None" = None
    uses_labels: bool = True

    def request(self, machine: MachineOptions) -> "DecodingOptions":
        return self.decoding.options(machine, with_scores=self.text.as_json, trace=self.text.trace, n_best=self.n_best)

    def open(self, machine: MachineOptions, decoding: "Decoding | None" = None) -> "Stream[Translation]":
        from specdec_cli.api import Translator
        from specdec_cli.commands.lines import Stream, record, tracer, with_held
        from specdec_cli.commands.messages import LanguageCheck, Warner, teller
        from specdec_cli.commands.statistics import DraftTotals, TermTotals, draft_fields, open_drafts, term_fields, term_warnings
        from specdec_cli.pipeline.translator import LineTranslator

        text, warner = self.text, Warner(self.text.quiet)
        options, held = with_held(decoding or self.request(machine))
        make = partial(LineTranslator.of_bundle, split=not text.no_split, terms=self.terms or (), labels=self.uses_labels, warn=warner.warn)
        model = Translator.of(make, self.model, machine, options, teller(text.quiet), tracer if text.trace else None)
        if self.earlier.given:
            model.decoding.check_given()
            model.use_drafts(open_drafts(self.earlier, model, self.whole, text.format))
        source_language = "" if model.info.task == "summarise" else model.info.source_language
        check = LanguageCheck(source_language, warner.warn_of)

        def written(line: Line, translation: "Translation") -> Iterator[tuple[str, str]]:
            check.read(line)
            if totals.drafts is not None:
                totals.drafts.add(translation.draft)
            if totals.terms is not None:
                totals.terms.add(translation.terms)
                for message in term_warnings(translation.terms):
                    warner.warn_of(line, message)
            if not text.as_json:
                return rewrapped(line, translation.text)
            values = record(line, translation, model.decoding.method) | (_hypotheses(translation) if self.n_best > 1 else {})
            values |= draft_fields(translation.draft) | ({} if self.terms is None else term_fields(translation.terms))
            return iter([(json_text(values), "\n")])

        stream = Stream(model, warner, held, written, is_beside_code, counts_spans=text.stats)
        totals = stream.totals
        totals.drafts = DraftTotals() if self.earlier.given else None
        totals.terms = None if self.terms is None else TermTotals()
        return stream

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

    from specdec_cli.commands.lines import read_inputs, read_whole

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
    stream = replace(translating, whole=tuple(texts)).open(machine)
    writer = text.open_outputs(groups, one_stream=text.as_json)
    stream.watch(writer)
    loaded = time.perf_counter()
    with writer:
        for each in whole or inputs:
            decoded = stream.decode_input(each, writer, as_lines=each.document is None or text.as_json)
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
