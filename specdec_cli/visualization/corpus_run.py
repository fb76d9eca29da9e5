"""From lines of text to a corpus whose tokens are counted: greedy decoding, then Jacobi decoding of each sentence."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.errors import InputError
from specdec_cli.model.bundle import Bundle
from specdec_cli.pipeline.engine import Engine
from specdec_cli.pipeline.request import DecodingRequest
from specdec_cli.pipeline.settings import resolve
from specdec_cli.visualization.corpus import Corpus, kinds_by_id, tokens_of
from specdec_cli.visualization.jacobi_graph import jacobi_graph

BLANK, TOO_LONG, UNLIKE = "blank", "too long for the model", "with another outcome than greedy decoding"
Watch = Callable[[Iterator[Hypothesis], int], Iterable[Hypothesis]]
"""Hands on what it is given, of which there are so many, and may show how far it is."""


def decode_corpus(bundle: Bundle, name: str, lines: Iterable[str], batch_size: int, watch: Watch) -> Corpus:
    """Decode `lines`, a sentence each; what cannot be decoded is skipped and counted.

    Where arithmetic depends on shapes, as on a GPU, an iteration may never reach greedy decoding's output: skipped, too.
    Raises InputError if nothing is left.
    """
    engine = Engine(bundle, resolve(DecodingRequest(decoding="greedy", batch_size=batch_size), bundle))
    tokenizer, eos = bundle.tokenizer, bundle.verifier.config.eos
    kinds = kinds_by_id(tokenizer.vocabulary(), tokenizer.word_starts(), eos)
    skipped: Counter[str] = Counter()
    sources = _sources(bundle, lines, engine.verifier.longest_source, skipped)
    sentences = {}
    for found in watch(engine.decode([Sentence(number, ids) for number, ids in enumerate(sources)]), len(sources)):
        picture = jacobi_graph(engine.verifier, tokenizer, sources[found.number], found.ids)
        if any(cell and cell.mark == "wrong" for cell in picture.rows[-1]):
            skipped[UNLIKE] += 1
        else:
            sentences[found.number] = tokens_of(picture, [kinds[token] for token in found.ids])
    if not sentences:
        raise InputError(f"{name}: no sentence to decode" + (f" ({in_words(skipped)})" if skipped else ""))
    return Corpus(name, tuple(sentences[number] for number in sorted(sentences)), dict(skipped))


def in_words(skipped: Mapping[str, int]) -> str:
    """How many lines were skipped, by reason."""
    return ", ".join(f"{count:,} {reason}" for reason, count in skipped.items())


def _sources(bundle: Bundle, lines: Iterable[str], longest: int, skipped: Counter[str]) -> list[list[int]]:
    sources = []
    for line in lines:
        ids = bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode(line.strip()))
        reason = BLANK if not line.strip() else TOO_LONG if len(ids) > longest else None
        if reason is None:
            sources.append(ids)
        else:
            skipped[reason] += 1
    return sources
