"""Runs of rows by `generate` of transformers, with the same sentences, ids, length limits, batches and threads as specdec."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.runs import Lines, Run, timed
from specdec_cli.decoding.methods import BEAM_SIZE
from specdec_cli.errors import MissingLibraryError, UsageError
from specdec_cli.model.bundle_info import describe_bundle
from specdec_cli.model.formats import find_format
from specdec_cli.opening.machine import MachineOptions, prepare_torch
from specdec_cli.opening.models import ModelChoice, find_bundle
from specdec_cli.processors import peak_resident_mb

LOOKED_UP = 10
"""Tokens that prompt lookup drafts without --block-size."""


def check_transformers(row: Row, model: ModelChoice) -> None:
    """Raise UsageError if transformers cannot decode `row`: it is not installed, or `model` is not a folder in its format."""
    if find_spec("transformers") is None:
        raise MissingLibraryError(f"--row {row.name} needs transformers", "dev")
    folder = Path(model.name)
    if not folder.is_dir() or find_format(folder) != "huggingface":
        raise UsageError(f"--row {row.name}: {model.name} is not the folder of a model of the Hugging Face hub")


class TransformersRunner:
    """Runs rows with the model of the Hugging Face hub in the folder of `model`, from which the bundle of the other rows was converted.

    It computes in the precision of `machine`, in float32 for int8. `limits` and `split` are those of Lines.
    """

    def __init__(self, model: ModelChoice, row: Row, machine: MachineOptions, limits: Mapping[int, int], split: bool) -> None:
        check_transformers(row, model)
        import torch
        import transformers

        prepare_torch(row.threads)
        described = describe_bundle(find_bundle(model), model.source_language, model.target_language)
        self._tokenizer, self._shape = described.tokenizer, described.shape
        self._lines, self._on_gpu = Lines(self._tokenizer, limits, split), machine.device == "cuda"
        self._precision = "float32" if machine.precision == "int8" else machine.precision
        loaded = transformers.AutoModelForSeq2SeqLM.from_pretrained(model.name, local_files_only=True)
        self._model: Any = loaded.to(device=machine.device, dtype=getattr(torch, self._precision)).eval()

    def prepare(self, row: Row) -> dict[str, Any]:
        """The settings with which transformers decodes `row`, by name, for the report."""
        own: dict[str, Any] = {}
        if row.searches:
            own = {"beam_size": row.options.beam_size or BEAM_SIZE, "length_penalty": row.options.length_penalty}
        elif row.has_block_size:
            own = {"block_size": row.options.block_size or LOOKED_UP}
        common = {"max_length": row.options.max_length, "batch_size": _batch_size(row), "threads": row.threads}
        return own | common | {"precision": self._precision, "engine": f"transformers {version('transformers')}"}

    def run(self, row: Row, lines: Sequence[str]) -> Run:
        """Decode `lines` with the settings of `row`; return outputs, wall time and peak memory, on a GPU its memory."""
        import torch

        run = timed(
            lambda part: self._lines.decode(part, lambda sentences, limit: self._decode(row, sentences, limit)),
            lines,
            row.options.batch_size == 1,
        )
        return replace(run, peak_memory_mb=torch.cuda.max_memory_allocated() / 2**20 if self._on_gpu else peak_resident_mb())

    def _decode(self, row: Row, sentences: Sequence[Sequence[int]], limit: int) -> list[tuple[int, ...]]:
        """The output ids of each sentence, in batches of sentences of similar lengths."""
        size, found = _batch_size(row), dict[int, tuple[int, ...]]()
        order = sorted(range(len(sentences)), key=lambda number: len(sentences[number]))
        for first in range(0, len(order), size):
            numbers = order[first : first + size]
            found |= dict(zip(numbers, self._generate(row, [sentences[number] for number in numbers], limit), strict=True))
        return [found[number] for number in range(len(sentences))]

    def _generate(self, row: Row, sentences: Sequence[Sequence[int]], limit: int) -> list[tuple[int, ...]]:
        import torch

        rows = [torch.tensor(self._tokenizer.add_special_tokens(ids)) for ids in sentences]
        source = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=self._model.config.pad_token_id)
        mask = torch.nn.utils.rnn.pad_sequence([torch.ones_like(each) for each in rows], batch_first=True)
        special, options = self._tokenizer.special_tokens, dict[str, Any]()
        if special.forced is not None:
            options["forced_bos_token_id"] = special.forced
        if special.start is not None:
            options["decoder_start_token_id"] = special.start
        if row.searches:
            options |= {"num_beams": row.options.beam_size or BEAM_SIZE, "length_penalty": row.options.length_penalty}
        else:
            options["num_beams"] = 1
        if row.has_block_size:
            options["prompt_lookup_num_tokens"] = row.options.block_size or LOOKED_UP
        with torch.inference_mode():
            device = self._model.device
            limits = {"max_length": limit + 1, "do_sample": False}
            generated = self._model.generate(source.to(device), attention_mask=mask.to(device), **limits, **options)
        eos = self._shape.eos
        outputs = (ids[1:] for ids in generated.tolist())  # without the token that starts the decoder
        return [tuple(ids[: ids.index(eos) + 1] if eos in ids else ids) for ids in outputs]


def _batch_size(row: Row) -> int:
    """Sentences that are decoded together; prompt lookup decodes them one by one."""
    return 1 if row.has_block_size else row.options.batch_size
