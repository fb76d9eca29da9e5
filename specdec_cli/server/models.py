"""Models of the server, each with a decoder for its language or pair of languages."""

from collections.abc import Sequence
from functools import partial

from specdec_cli.errors import UsageError
from specdec_cli.pipeline.corrector import Correction, Corrector, EditFilter
from specdec_cli.pipeline.decoder import SentenceDecoder
from specdec_cli.pipeline.settings import Described
from specdec_cli.pipeline.translator import Translator
from specdec_cli.server.batching import BatchDecoder
from specdec_cli.server.service import Service
from specdec_cli.text.languages import short_code


def add_model(service: Service, bundle: Described, engine: SentenceDecoder, threads: int = 1) -> None:
    """Add a decoder for the model of `bundle` to `service`, and decode a text, so that the first request is fast.

    `engine` must allow calls by `threads` threads at the same time.

    Raises UsageError for a model that neither translates nor corrects, and for a second one of the same languages.
    """
    info = bundle.info
    pair = short_code(info.source_language), short_code(info.target_language)
    languages = info.source_language, info.target_language
    place = bundle.path.parent if bundle.path is not None else "the bundle"
    if info.task == "translate":
        if pair in service.translators:
            raise UsageError(f"{place}: another model translates from {pair[0]} to {pair[1]} already")
        translator = Translator(engine, bundle.tokenizer, languages=languages)
        list(translator.translate(["Hello."]))
        on_batch = partial(service.metrics.count_batch, "translate")
        service.translators[pair] = BatchDecoder(translator.translate, threads, on_batch=on_batch)
    elif info.task == "correct":
        if pair[0] in service.correctors:
            raise UsageError(f"{place}: another model corrects {pair[0]} already")
        corrector = Corrector(engine, bundle.tokenizer, EditFilter.of(info), languages=languages)
        list(corrector.correct(["Hello."]))
        on_batch = partial(service.metrics.count_batch, "correct")
        service.correctors[pair[0]] = BatchDecoder(partial(_correct_apart, corrector), threads, on_batch=on_batch)
    else:
        raise UsageError(f"{place}: its task is {info.task}; the server translates and corrects")


def _correct_apart(corrector: Corrector, lines: Sequence[str]) -> list[Correction]:
    """Correct lines of which none continues in the next one: they belong to different texts or paragraphs."""
    return list(corrector.correct([each for line in lines for each in (line, "")]))[::2]
