"""Decoding of a corpus for its statistics: greedy decoding, then Jacobi decoding of each sentence."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.engines.reference import Engine
from specdec_cli.errors import InputError
from specdec_cli.model.bundle import Bundle
from specdec_cli.visualization.corpus import Corpus, kinds_by_id, tokens_of
from specdec_cli.visualization.jacobi_graph import jacobi_graph

BLANK, TOO_LONG, UNLIKE = "blank", "too long for the model", "with another outcome than greedy decoding"
Watch = Callable[[Iterator[Hypothesis], int], Iterable[Hypothesis]]
"""A function (hypotheses, count) that returns the `count` hypotheses unchanged, and may show the progress meanwhile."""


def decode_corpus(bundle: Bundle, name: str, lines: Iterable[str], batch_size: int, watch: Watch) -> Corpus:
    """Decode `lines`, of one sentence each, by greedy and by Jacobi decoding, and return the statistics, named `name`.

    Blank lines, lines too long for the model, and sentences whose Jacobi iteration does not reach the output of greedy decoding
    (possible on a GPU) are skipped and counted. Greedy decoding has batches of `batch_size` sentences. `watch` gets the iterator of
    greedy outputs and their number, and returns the same outputs, to show progress. Raises InputError if no line is left.
    """
    engine = Engine(bundle, resolve(DecodingOptions(decoding="greedy", batch_size=batch_size), bundle))
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
    """The numbers of skipped lines by reason as text, such as "2 blank, 1 too long for the model"."""
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
