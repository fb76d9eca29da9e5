"""Execution of benchmark rows by CTranslate2, with the same sentences, length limits, batches and threads as specdec."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ctranslate2 import Translator  # type: ignore[attr-defined]

from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.runs import Lines, Run, timed
from specdec_cli.decoding.methods import BEAM_SIZE
from specdec_cli.errors import ModelError
from specdec_cli.processors import peak_resident_mb
from specdec_cli.text.tokenize.ctranslate2 import FolderTokenizer


class CTranslate2Runner:
    """Runs rows with a CTranslate2 model in `folder`, which was converted from a bundle; never imports torch.

    CTranslate2 has the number format, workers and threads of `row`, which all rows of one runner have. `limits` maps padded source lengths
    to the largest output lengths (tokens), as in specdec's decoder. With `split`, lines are split into sentences. Raises ModelError if
    CTranslate2 cannot load the model or does not support the number format on the device.
    """

    def __init__(self, folder: Path, row: Row, device: str, limits: Mapping[int, int], split: bool) -> None:
        self._text = FolderTokenizer(folder)
        self._ids = {piece: number for number, piece in enumerate(self._text.tokenizer.vocabulary())}
        self._lines, self._on_gpu = Lines(self._text.tokenizer, limits, split), device == "cuda"
        try:
            self._translator = Translator(
                str(folder),
                device=device,
                compute_type=row.compute_type or "default",
                inter_threads=row.workers,
                intra_threads=0 if self._on_gpu else row.worker_threads or row.threads,
            )
        except (RuntimeError, ValueError) as error:
            raise ModelError(f"CTranslate2 with {row.compute_type} on {device}: {error}") from error

    def prepare(self, row: Row) -> dict[str, Any]:
        """The settings with which CTranslate2 decodes `row`, by name, for the report."""
        described: dict[str, Any] = {"compute_type": row.compute_type}
        if row.decoding == "ctranslate2-beam":
            described |= {"beam_size": row.options.beam_size, "length_penalty": row.options.length_penalty}
        split = {"workers": row.workers, "threads": row.worker_threads or row.threads}
        return described | {"max_length": row.options.max_length, "batch_size": row.options.batch_size} | split

    def run(self, row: Row, lines: Sequence[str]) -> Run:
        """Decode `lines` with the settings of `row`; return outputs, wall time and peak memory.

        The peak is that of this process's main memory since it started (see `peak_resident_mb`). On a GPU no memory is measured, and
        the peak is None.
        """
        run = timed(
            lambda part: self._lines.decode(part, lambda sentences, limit: self._decode(row, sentences, limit)),
            lines,
            row.options.batch_size == 1,
        )
        return replace(run, peak_memory_mb=None if self._on_gpu else peak_resident_mb())

    def _decode(self, row: Row, sentences: Sequence[Sequence[int]], limit: int) -> list[tuple[int, ...]]:
        """The output ids of each sentence."""
        results = self._translator.translate_batch(
            [self._text.source_pieces(ids) for ids in sentences],
            target_prefix=[self._text.target_prefix] * len(sentences) if self._text.target_prefix else None,
            max_batch_size=row.options.batch_size,
            beam_size=(row.options.beam_size or BEAM_SIZE) if row.searches else 1,
            length_penalty=row.options.length_penalty,
            max_decoding_length=limit,
            # 0 turns off two defaults of CTranslate2: outputs of at least one token, and sources cut at 1,024 tokens.
            min_decoding_length=0,
            max_input_length=0,
            return_end_token=True,
        )
        return [tuple(self._ids[piece] for piece in result.hypotheses[0]) for result in results]
