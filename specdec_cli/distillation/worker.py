"""The process that runs CTranslate2; torch is never imported here."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ctranslate2 import Translator, get_cuda_device_count  # type: ignore[attr-defined]

from specdec_cli.distillation.teacher import Resources, Search
from specdec_cli.errors import ModelError
from specdec_cli.processes import serve
from specdec_cli.text.ctranslate2 import FolderText

# Lines of a few tokens would make a batch of thousands, each with its beams and their caches.
_MOST_SENTENCES = 1000

Answer = tuple[int, str, int, int, bool]


class Worker:
    """A CTranslate2 folder with its tokenizer, ready to translate.

    Raises RuntimeError or ValueError as CTranslate2 does, and ModelError where a tokenizer is missing.
    """

    def __init__(self, folder: Path, search: Search, resources: Resources) -> None:
        self.search, self.resources = search, resources
        self._text = FolderText(folder)
        on_cpu = resources.device == "cpu" or (resources.device == "auto" and get_cuda_device_count() == 0)
        self._workers = resources.threads if on_cpu else 1
        self._translator = Translator(
            str(folder),
            device=resources.device,
            compute_type=search.compute_type,
            inter_threads=self._workers,
            intra_threads=1 if on_cpu else 0,
        )

    def translate(self, sources: Sequence[str]) -> Iterator[Answer]:
        """An answer for every source line, as batches get ready."""
        pieces = [self._text.encode(source) for source in sources]
        waiting: deque[tuple[list[int], Any]] = deque()
        for batch in batches([len(line) + 1 for line in pieces], self.search.max_source_length, self.resources.batch_tokens):
            waiting.append((batch, self._start([pieces[i] for i in batch])))
            if len(waiting) > 2 * self._workers:
                yield from self._finish(waiting.popleft(), pieces)
        while waiting:
            yield from self._finish(waiting.popleft(), pieces)
        for index, line in enumerate(pieces):
            if len(line) + 1 > self.search.max_source_length:
                yield index, "", len(line) + 1, 0, False

    def _start(self, batch: list[list[str]]) -> Any:
        return self._translator.translate_batch(
            batch,
            target_prefix=[self._text.target_prefix] * len(batch) if self._text.target_prefix else None,
            asynchronous=True,
            beam_size=self.search.beam_size,
            length_penalty=self.search.length_penalty,
            max_decoding_length=self.search.max_length,
            # CTranslate2 forbids an EOS before one token, and cuts a source of more than 1,024, unless told not to.
            min_decoding_length=0,
            max_input_length=0,
            return_end_token=True,
        )

    def _finish(self, started: tuple[list[int], Any], pieces: list[list[str]]) -> Iterator[Answer]:
        indices, results = started
        for index, result in zip(indices, results, strict=True):
            tokens = result.result().hypotheses[0]
            finished = bool(tokens) and tokens[-1] == self._text.eos
            text = self._text.decode(tokens[:-1] if finished else tokens)
            yield index, text, len(pieces[index]) + 1, max(len(tokens), 1), finished


def batches(lengths: Sequence[int], longest: int, batch_tokens: int) -> Iterator[list[int]]:
    """Indices of lines of similar length, the longest first, so that the last batches are short ones.

    A batch is at most `batch_tokens` when padded, or one line. Lines of more than `longest` are left out.
    """
    batch: list[int] = []
    for index in sorted((i for i, length in enumerate(lengths) if length <= longest), key=lambda i: -lengths[i]):
        if len(batch) == _MOST_SENTENCES or (batch and (len(batch) + 1) * lengths[batch[0]] > batch_tokens):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


class _Server:
    """Answers `open` and `translate`; what CTranslate2 and the tokenizers complain of is told as ModelError."""

    def open(self, folder: str, search: Mapping[str, Any], resources: Mapping[str, Any]) -> None:
        """Load a folder."""
        self._folder = folder
        try:
            self._worker = Worker(Path(folder), Search(**search), Resources(**resources))
        except (OSError, RuntimeError, ValueError) as error:
            raise ModelError(f"{folder}: {error}") from error

    def translate(self, sources: list[str]) -> Iterator[Answer]:
        """The worker's answers."""
        try:
            yield from self._worker.translate(sources)
        except (RuntimeError, ValueError) as error:
            raise ModelError(f"{self._folder}: {error}") from error


if __name__ == "__main__":
    server = _Server()
    serve({"open": server.open, "translate": server.translate})
