"""`specdec translate`: translation of text, line by line."""

import time
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from specdec_cli.commands.input_output import check_lines, check_stdin, inputs_of
from specdec_cli.commands.options import (
    DecodingFlags,
    DraftOptions,
    FilesArgument,
    GlossaryOptions,
    InstructionOption,
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
from specdec_cli.opening.models import chosen_translator
from specdec_cli.text.segment.code import is_beside_code

if TYPE_CHECKING:
    from specdec_cli.commands.lines import Stream
    from specdec_cli.pipeline.translator import Translation

AllOption = Annotated[
    bool, output_option("--all", help="In PO and XLIFF files, translate again what is translated already; in CSV, the first row too.")
]
NBestOption = Annotated[int, output_option("--n-best", metavar="N", min=1, help="With --json and beam search: hypotheses for each line.")]


@with_groups
def translate(
    files: FilesArgument = None,
    model: TranslatorOption = None,
    source_language: SourceLanguageOption = "",
    target_language: TargetLanguageOption = "",
    instruction: InstructionOption = None,
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

    Markdown, subtitles, PO, XLIFF, HTML, Word, PowerPoint, OpenDocument, EPUB, JSON, YAML, properties, INI, CSV and texts of apps keep
    their structure. Lines are translated as they arrive, with --previous after all were read. The sentences of a line are translated one
    by one and joined again; a model that summarises decodes a line as one text.
    """
    started = time.perf_counter()

    from specdec_cli.commands.lines import read_inputs, read_whole, shown_progress
    from specdec_cli.commands.reports import tell_of_keyboard

    chosen = chosen_translator(model, source_language, target_language, offline=machine.offline, instruction=instruction)
    if n_best > 1 and not text.as_json:
        raise UsageError("--n-best is for --json, whose objects have all hypotheses")
    earlier.check()
    if text.without:
        from specdec_cli.pipeline.text_variants import RULES

        text.check_without(RULES)
    copies = earlier.exact_matches == "copy"
    text.check_raw({"--glossary": glossary.glossary, "--keep": glossary.keep, "--exact-matches copy": copies})
    text.check_columns(files or ())
    check_stdin(files or (), "--glossary", glossary.glossary)
    check_stdin(files or (), "--previous", earlier.previous)
    terms = glossary.read(n_best=n_best)
    if earlier.previous is not None and text.unwrap:
        raise UsageError("--previous compares the texts line by line and does not go with --unwrap")
    if earlier.given and cluster.ray is not None:
        raise UsageError("--tm and --previous do not go with --ray, which gives parts of the text to several machines")
    from specdec_cli.commands.translating import Translating

    translating = Translating(chosen, decoding, machine, text, n_best, earlier, (), terms, not glossary.no_labels)
    if cluster.ray is not None:
        from specdec_cli.commands.cluster import decode_on_cluster

        check_lines(files or [], text.format)
        decode_on_cluster("translate", replace(translating, model=chosen.absolute()), files or [], text, cluster, is_beside_code)
        return
    named = inputs_of(files or (), text.format)
    tell_of_keyboard(files or (), quiet=text.quiet)
    opened: list[Stream[Translation]] = []
    inputs = read_inputs(named, text, "translate", redo=redo, language=lambda: opened[0].model.info.source_language if opened else "")
    whole, texts = read_whole(inputs) if earlier.previous is not None else ([], [])
    stream = replace(translating, whole=tuple(texts)).open(machine)
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
