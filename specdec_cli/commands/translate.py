"""`specdec translate`: translation of text, line by line."""

import json
import time
from typing import TYPE_CHECKING, Annotated, Any

from specdec_cli.commands.model_choice import ModelChoice
from specdec_cli.commands.options.decoding import DecodingOptions
from specdec_cli.commands.options.groups import with_groups
from specdec_cli.commands.options.machine import MachineOptions
from specdec_cli.commands.options.model import ModelOption, SourceLanguageOption, TargetLanguageOption
from specdec_cli.commands.options.text import FilesArgument, TextOptions
from specdec_cli.commands.options.values import output_option
from specdec_cli.text.paragraphs import rewrapped

if TYPE_CHECKING:
    from specdec_cli.pipeline.translator import Translation

NBestOption = Annotated[int, output_option("--n-best", metavar="N", min=1, help="With --json and beam search: hypotheses for each line.")]


@with_groups
def translate(
    files: FilesArgument = None,
    model: ModelOption = "en-de",
    source_language: SourceLanguageOption = "",
    target_language: TargetLanguageOption = "",
    *,
    decoding: DecodingOptions,
    n_best: NBestOption = 1,
    machine: MachineOptions,
    text: TextOptions,
) -> None:
    """Translate text line by line; blank lines stay blank.

    Lines are translated as they arrive. The sentences of a line are translated one by one and joined again; a model that
    summarises decodes a line as one text.
    """
    started = time.perf_counter()

    from specdec_cli.commands.stream import Stream, record
    from specdec_cli.pipeline.translator import Translator

    lines = text.read(files or ())
    request = decoding.request(machine, with_scores=text.as_json, trace=text.trace, n_best=n_best)
    chosen = ModelChoice(model, source_language, target_language, machine.offline, text.quiet)
    stream = Stream(chosen, machine, request, trace=text.trace, quiet=text.quiet)
    info, tokenizer = stream.bundle.info, stream.bundle.tokenizer
    summarises = info.task == "summarise"
    languages = None if summarises else (info.source_language, info.target_language)
    split = not (text.no_split or summarises)
    translator = Translator(stream.engine, tokenizer, split=split, warn=stream.warn, languages=languages)
    writer = text.open_writer(files or ())
    stream.watch(writer)
    loaded = time.perf_counter()
    with writer:
        for line, translation in stream.run(lines, translator.translate):
            if not text.as_json:
                for output, ending in rewrapped(line, translation.text):
                    writer.write(output, ending, line.file)
                continue
            values = record(line, translation, stream.settings.decoding) | (_hypotheses(translation) if n_best > 1 else {})
            writer.write(json.dumps(values, ensure_ascii=False), source=line.file)
    if text.stats:
        stream.print_statistics(loaded - started, time.perf_counter() - loaded)


def _hypotheses(translation: "Translation") -> dict[str, Any]:
    """The hypotheses of a line, for --json with --n-best."""
    return {"hypotheses": [{"text": text, "score": round(score, 4)} for text, score in translation.hypotheses]}
