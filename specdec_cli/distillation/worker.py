"""The program of the subprocess that translates with CTranslate2. It never imports torch."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ctranslate2 import Translator, get_cuda_device_count  # type: ignore[attr-defined]

from specdec_cli.distillation.teachers import Resources, Search
from specdec_cli.errors import ModelError
from specdec_cli.processes import serve
from specdec_cli.text.tokenize.ctranslate2 import FolderTokenizer

# Bounds the memory of a batch of very short lines: each line has a key-value cache for each beam.
_MAX_BATCH_SENTENCES = 1000

Result = tuple[int, str, int, int, bool]
"""(index of the source line, output text, source tokens, output tokens, whether the output ended with EOS)."""


class Worker:
    """Translates with the CTranslate2 model and the tokenizer of a folder.

    Raises RuntimeError or ValueError if CTranslate2 reports an error, and ModelError if the folder has no tokenizer.
    """

    def __init__(self, folder: Path, search: Search, resources: Resources) -> None:
        self.search, self.resources = search, resources
        self._text = FolderTokenizer(folder)
        on_cpu = resources.device == "cpu" or (resources.device == "auto" and get_cuda_device_count() == 0)
        self._workers = resources.threads if on_cpu else 1
        self._translator = Translator(
            str(folder),
            device=resources.device,
            compute_type=search.compute_type,
            inter_threads=self._workers,
            intra_threads=1 if on_cpu else 0,
        )

    def translate(self, sources: Sequence[str]) -> Iterator[Result]:
        """Yield a result for every source line, in order of completion; `n_best` results of a line, the best first.

        A result is (index in `sources`, output text, source tokens, output tokens, whether the output ends with EOS); the last four
        are the fields of a Translation. A line that is too long has no output tokens.
        """
        pieces = [self._text.encode(source) for source in sources]
        running: deque[tuple[list[int], Any]] = deque()
        for batch in batches([len(line) + 1 for line in pieces], self.search.max_source_length, self.resources.tokens):
            running.append((batch, self._start([pieces[i] for i in batch])))
            if len(running) > 2 * self._workers:
                yield from self._finish(running.popleft(), pieces)
        while running:
            yield from self._finish(running.popleft(), pieces)
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
            num_hypotheses=self.search.n_best,
            max_decoding_length=self.search.max_length,
            # 0 turns off two defaults of CTranslate2: outputs of at least one token, and sources cut at 1,024 tokens.
            min_decoding_length=0,
            max_input_length=0,
            return_end_token=True,
        )

    def _finish(self, started: tuple[list[int], Any], pieces: list[list[str]]) -> Iterator[Result]:
        indices, results = started
        for index, result in zip(indices, results, strict=True):
            for tokens in result.result().hypotheses:
                finished = bool(tokens) and tokens[-1] == self._text.eos
                text = self._text.decode(tokens[:-1] if finished else tokens)
                yield index, text, len(pieces[index]) + 1, max(len(tokens), 1), finished


def batches(lengths: Sequence[int], max_length: int, batch_tokens: int) -> Iterator[list[int]]:
    """Yield batches of line indices, the longest lines first, so that the threads finish at about the same time.

    `lengths` are the lengths of the lines in tokens. A batch has at most `batch_tokens` tokens, padding included, or is a single
    line. Lines longer than `max_length` are left out.
    """
    batch: list[int] = []
    for index in sorted((i for i, length in enumerate(lengths) if length <= max_length), key=lambda i: -lengths[i]):
        if len(batch) == _MAX_BATCH_SENTENCES or (batch and (len(batch) + 1) * lengths[batch[0]] > batch_tokens):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


class _Server:
    """Handles the requests `open` and `translate`; errors of CTranslate2 and the tokenizers are raised as ModelError."""

    def open(self, folder: str, search: Mapping[str, Any], resources: Mapping[str, Any]) -> None:
        """Load the model in `folder`."""
        self._folder = folder
        try:
            self._worker = Worker(Path(folder), Search(**search), Resources(**resources))
        except (OSError, RuntimeError, ValueError) as error:
            raise ModelError(f"{folder}: {error}") from error

    def translate(self, sources: list[str]) -> Iterator[Result]:
        try:
            yield from self._worker.translate(sources)
        except (RuntimeError, ValueError) as error:
            raise ModelError(f"{self._folder}: {error}") from error


if __name__ == "__main__":
    server = _Server()
    serve({"open": server.open, "translate": server.translate})
