"""Runs of rows by other toolkits, with the same sentences, ids, length limits, batches and threads as specdec."""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.runs import Conditions, Output, Run, peak_memory_mb, timed
from specdec_cli.decoding.methods import BEAM_SIZE
from specdec_cli.errors import MissingLibraryError, ModelError
from specdec_cli.model.bundle_info import describe_bundle
from specdec_cli.opening.machine import prepare_torch
from specdec_cli.opening.models import ModelChoice, find_bundle
from specdec_cli.text.segment.sentences import segment
from specdec_cli.text.tokenize.ctranslate2 import FolderTokenizer
from specdec_cli.text.tokenize.tokenizer import Tokenizer

Ids = tuple[int, ...]
LOOKED_UP = 10
"""Tokens that prompt lookup of transformers drafts without --block-size."""


class Toolkit(ABC):
    """Runs rows by another toolkit. `tokenizer` encodes the sentences."""

    def __init__(self, conditions: Conditions, tokenizer: Tokenizer) -> None:
        self.tokenizer, self.on_gpu = tokenizer, conditions.machine.device == "cuda"
        self._limits, self._split = dict(sorted(conditions.limits.items())), conditions.split

    @abstractmethod
    def prepare(self, row: Row) -> dict[str, Any]:
        """The settings with which the toolkit decodes `row`, by name, for the report."""

    @abstractmethod
    def decode(self, row: Row, sentences: Sequence[Sequence[int]], limit: int) -> Sequence[Ids]:
        """The output ids of sentences of at most `limit` tokens, given by ids without special tokens."""

    def run(self, row: Row, lines: Sequence[str]) -> Run:
        """Decode `lines` with the settings of `row`; return outputs, wall time and peak memory."""
        run = timed(lambda part: self._outputs(row, part), lines, row.options.batch_size == 1)
        return replace(run, peak_memory_mb=self.memory_mb())

    def memory_mb(self) -> float | None:
        """The peak memory in MB; None if it is not measured."""
        return peak_memory_mb(self.on_gpu)

    def _outputs(self, row: Row, lines: Sequence[str]) -> list[Output]:
        """The outputs of `lines`. Sentences with the same limit are decoded together."""
        tokenizer = self.tokenizer
        longest = max(self._limits) - len(tokenizer.add_special_tokens([]))
        split = [segment(line, longest, lambda text: len(tokenizer.encode(text)), split=self._split) for line in lines]
        texts = [text for segments in split for text in segments.texts]
        sentences = tokenizer.encode_batch(texts) if texts else []
        by_width: dict[int, list[int]] = defaultdict(list)
        for number, ids in enumerate(sentences):
            by_width[next(width for width in self._limits if width >= len(tokenizer.add_special_tokens(ids)))].append(number)
        found: dict[int, Ids] = {}
        for width, numbers in by_width.items():
            decoded = self.decode(row, [sentences[number] for number in numbers], self._limits[width])
            found |= dict(zip(numbers, decoded, strict=True))
        ordered = iter([found[number] for number in range(len(sentences))])
        outputs = []
        for segments in split:
            own = tuple(next(ordered) for _ in segments.texts)
            outputs.append(Output(segments.join([tokenizer.decode(ids) for ids in own]), own))
        return outputs


class CTranslate2Runner(Toolkit):
    """Runs rows with a CTranslate2 model that was converted from a bundle; never imports torch.

    CTranslate2 has the number format, workers and threads of `row`, which all rows of one runner have. On a GPU no memory is measured.
    Raises ModelError if CTranslate2 cannot load the model or does not support the number format on the device.
    """

    def __init__(self, conditions: Conditions, row: Row) -> None:
        from ctranslate2 import Translator  # type: ignore[attr-defined]

        folder, device, kind = conditions.converted[row.compute_type or ""], conditions.machine.device, row.compute_type
        self._text = FolderTokenizer(folder)
        super().__init__(conditions, self._text.tokenizer)
        self._ids = {piece: number for number, piece in enumerate(self.tokenizer.vocabulary())}
        threads = 0 if self.on_gpu else row.worker_threads or row.threads
        try:
            self._translator = Translator(
                str(folder), device=device, compute_type=kind or "default", inter_threads=row.workers, intra_threads=threads
            )
        except (RuntimeError, ValueError) as error:
            raise ModelError(f"CTranslate2 with {kind} on {device}: {error}") from error

    def prepare(self, row: Row) -> dict[str, Any]:
        searched = {"beam_size": row.options.beam_size, "length_penalty": row.options.length_penalty} if row.searches else {}
        split = {"workers": row.workers, "threads": row.worker_threads or row.threads}
        common = {"max_length": row.options.max_length, "batch_size": row.options.batch_size}
        return {"compute_type": row.compute_type} | searched | common | split

    def memory_mb(self) -> float | None:
        return None if self.on_gpu else super().memory_mb()

    def decode(self, row: Row, sentences: Sequence[Sequence[int]], limit: int) -> Sequence[Ids]:
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


def transformers_problem(row: Row, model: ModelChoice) -> str | None:
    """Why transformers cannot decode `row`: `model` is not a folder in its format; None if it can. Raises MissingLibraryError if it is not
    installed.
    """
    if find_spec("transformers") is None:
        raise MissingLibraryError(f"--row {row.name} needs transformers", "dev")
    from converters.formats import find_format

    folder = Path(model.name)
    of_hub = folder.is_dir() and find_format(folder) == "huggingface"
    return None if of_hub else f"{model.name} is not the folder of a model of the Hugging Face hub"


class TransformersRunner(Toolkit):
    """Runs rows by `generate` of transformers with the model of the Hugging Face hub from which the bundle of the other rows was
    converted. It computes in the precision of the conditions, in float32 for int8.
    """

    def __init__(self, conditions: Conditions, row: Row) -> None:
        model, machine = conditions.model, conditions.machine
        import torch
        import transformers

        prepare_torch(row.threads)
        described = describe_bundle(find_bundle(model), model.source_language, model.target_language)
        super().__init__(conditions, described.tokenizer)
        self._eos, self._precision = described.shape.eos, "float32" if machine.precision == "int8" else machine.precision
        loaded = transformers.AutoModelForSeq2SeqLM.from_pretrained(model.name, local_files_only=True)
        self._model: Any = loaded.to(device=machine.device, dtype=getattr(torch, self._precision)).eval()

    def prepare(self, row: Row) -> dict[str, Any]:
        own: dict[str, Any] = {}
        if row.searches:
            own = {"beam_size": row.options.beam_size or BEAM_SIZE, "length_penalty": row.options.length_penalty}
        elif row.has_block_size:
            own = {"block_size": row.options.block_size or LOOKED_UP}
        common = {"max_length": row.options.max_length, "batch_size": _batch_size(row), "threads": row.threads}
        return own | common | {"precision": self._precision, "engine": f"transformers {version('transformers')}"}

    def decode(self, row: Row, sentences: Sequence[Sequence[int]], limit: int) -> Sequence[Ids]:
        """The output ids of each sentence, in batches of sentences of similar lengths."""
        size, found = _batch_size(row), dict[int, Ids]()
        order = sorted(range(len(sentences)), key=lambda number: len(sentences[number]))
        for first in range(0, len(order), size):
            numbers = order[first : first + size]
            found |= dict(zip(numbers, self._generate(row, [sentences[number] for number in numbers], limit), strict=True))
        return [found[number] for number in range(len(sentences))]

    def _generate(self, row: Row, sentences: Sequence[Sequence[int]], limit: int) -> list[Ids]:
        import torch

        rows = [torch.tensor(self.tokenizer.add_special_tokens(ids)) for ids in sentences]
        source = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=self._model.config.pad_token_id)
        mask = torch.nn.utils.rnn.pad_sequence([torch.ones_like(each) for each in rows], batch_first=True)
        special, options = self.tokenizer.special_tokens, dict[str, Any](max_length=limit + 1, do_sample=False, num_beams=1)
        if special.forced is not None:
            options["forced_bos_token_id"] = special.forced
        if special.start is not None:
            options["decoder_start_token_id"] = special.start
        if row.searches:
            options |= {"num_beams": row.options.beam_size or BEAM_SIZE, "length_penalty": row.options.length_penalty}
        if row.has_block_size:
            options["prompt_lookup_num_tokens"] = row.options.block_size or LOOKED_UP
        with torch.inference_mode():
            device = self._model.device
            generated = self._model.generate(source.to(device), attention_mask=mask.to(device), **options)
        outputs = (ids[1:] for ids in generated.tolist())  # without the token that starts the decoder
        return [tuple(ids[: ids.index(self._eos) + 1] if self._eos in ids else ids) for ids in outputs]


def _batch_size(row: Row) -> int:
    """Sentences that are decoded together; prompt lookup decodes them one by one."""
    return 1 if row.has_block_size else row.options.batch_size
