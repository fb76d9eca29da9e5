"""A teacher that draws translations at random, by any decoding whose output is that of drawing token by token."""

from collections.abc import Iterator, Sequence
from hashlib import sha256

from specdec_cli.decoding.sentence import Sentence
from specdec_cli.distillation.teacher import Translation
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.text.tokenize.tokenizer import Tokenizer


class DrawingTeacher:
    """A Teacher that translates lines with `engine`, whose decoding samples.

    A line draws from a random stream of its own, given by its text: so shards, workers and resumed runs do not change what it gets.
    Lines of more than `max_source_length` tokens are not translated.
    """

    def __init__(self, engine: SentenceDecoder, tokenizer: Tokenizer, max_source_length: int) -> None:
        self._engine, self._tokenizer = engine, tokenizer
        self._longest = min(max_source_length, engine.longest_source)

    def translate(self, sources: Sequence[str]) -> Iterator[tuple[int, Translation]]:
        encoded = [self._tokenizer.add_special_tokens(ids) for ids in self._tokenizer.encode_batch(sources)]
        sentences = []
        for number, (text, ids) in enumerate(zip(sources, encoded, strict=True)):
            if len(ids) > self._longest:
                yield number, Translation("", len(ids), 0, finished=False)
            else:
                sentences.append(Sentence(number, ids, stream=_stream(text)))
        for found in self._engine.decode(sentences):
            finished = found.ids[-1] == self._engine.eos
            yield found.number, Translation(self._tokenizer.decode(found.ids), len(encoded[found.number]), len(found.ids), finished)


def _stream(text: str) -> tuple[int, int]:
    """The two words of 32 bits that choose the random stream of a text."""
    digest = sha256(text.encode()).digest()
    return int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:8], "little")
