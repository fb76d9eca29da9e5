"""`specdec translate`: translation of text, line by line."""

import time
from typing import Annotated

from specdec_cli.console.input_output import check_stdin
from specdec_cli.console.options import (
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
    chosen = chosen_translator(model, source_language, target_language, offline=machine.offline, instruction=instruction)
    if n_best > 1 and not text.as_json:
        raise UsageError("--n-best is for --json, whose objects have all hypotheses")
    earlier.check()
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
    from specdec_cli.work.translating import Translating

    translating = Translating(chosen, decoding, machine, text, n_best, earlier, (), terms, not glossary.no_labels)
    translating.run(files or (), cluster, redo=redo, started=started)
