"""Runs of rows by other toolkits, with the same sentences, ids, length limits, batches and threads as specdec."""

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.runs import Conditions, Output, Run, Runner, peak_memory_mb, timed
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


class Toolkit(Runner):
    """Decodes lines with another library than specdec. `tokenizer` encodes the sentences."""

    def __init__(self, conditions: Conditions, row: Row, tokenizer: Tokenizer) -> None:
        super().__init__(conditions, row)
        self.tokenizer, self._limits = tokenizer, dict(sorted(conditions.limits.items()))

    @abstractmethod
    def decode(self, sentences: Sequence[Sequence[int]], limit: int) -> Sequence[Ids]:
        """The output ids of sentences of at most `limit` tokens, given by ids without special tokens."""

    def run(self, lines: Sequence[str]) -> Run:
        run = timed(self._outputs, lines, self.row.options.batch_size == 1)
        # Of CTranslate2, the memory of a GPU is not known.
        return replace(run, peak_memory_mb=None if self.on_gpu and self.row.compute_type else peak_memory_mb(self.on_gpu))

    def _outputs(self, lines: Sequence[str]) -> list[Output]:
        """The outputs of `lines`. Sentences with the same limit are decoded together."""
        tokenizer = self.tokenizer
        longest = max(self._limits) - len(tokenizer.add_special_tokens([]))
        split = [segment(line, longest, lambda text: len(tokenizer.encode(text)), split=self.conditions.split) for line in lines]
        texts = [text for segments in split for text in segments.texts]
        sentences = tokenizer.encode_batch(texts) if texts else []
        by_width: dict[int, list[int]] = defaultdict(list)
        for number, ids in enumerate(sentences):
            by_width[next(width for width in self._limits if width >= len(tokenizer.add_special_tokens(ids)))].append(number)
        ids_of: dict[int, Ids] = {}
        for width, numbers in by_width.items():
            decoded = self.decode([sentences[number] for number in numbers], self._limits[width])
            ids_of |= dict(zip(numbers, decoded, strict=True))
        ordered = (ids_of[number] for number in range(len(sentences)))
        outputs = [(segments, tuple(islice(ordered, len(segments.texts)))) for segments in split]
        return [Output(segments.join(list(map(tokenizer.decode, own))), own) for segments, own in outputs]


class CTranslate2Runner(Toolkit):
    """Decodes lines with a CTranslate2 model that was converted from a bundle; never imports torch. On a GPU no memory is measured.

    Raises ModelError if CTranslate2 cannot load the model or does not support the number format on the device.
    """

    def __init__(self, conditions: Conditions, row: Row) -> None:
        folder, kind = conditions.converted[row.compute_type or ""], row.compute_type or "default"
        self._text = FolderTokenizer(folder)
        super().__init__(conditions, row, self._text.tokenizer)
        self._ids = {piece: number for number, piece in enumerate(self.tokenizer.vocabulary())}
        threads = 0 if self.on_gpu else row.worker_threads or row.threads
        self._translator = _translator(str(folder), conditions.machine.device, kind, row.workers, threads)

    def prepare(self) -> dict[str, Any]:
        row, options = self.row, self.row.options
        searched = {"beam_size": options.beam_size, "length_penalty": options.length_penalty} if row.searches else {}
        split = {"workers": row.workers, "threads": row.worker_threads or row.threads}
        return (
            {"compute_type": row.compute_type}
            | searched
            | {"max_length": options.max_length, "batch_size": options.batch_size}
            | options.rules
            | split
        )

    def decode(self, sentences: Sequence[Sequence[int]], limit: int) -> Sequence[Ids]:
        results = self._translator.translate_batch(
            [self._text.source_pieces(ids) for ids in sentences],
            target_prefix=[self._text.target_prefix] * len(sentences) if self._text.target_prefix else None,
            max_batch_size=self.row.options.batch_size,
            beam_size=(self.row.options.beam_size or BEAM_SIZE) if self.row.searches else 1,
            length_penalty=self.row.options.length_penalty,
            max_decoding_length=limit,
            # 0 turns off two defaults of CTranslate2: outputs of at least one token, and sources cut at 1,024 tokens.
            min_decoding_length=0,
            max_input_length=0,
            return_end_token=True,
            **self.row.options.rules,
        )
        return [tuple(self._ids[piece] for piece in result.hypotheses[0]) for result in results]


@cache
def _translator(folder: str, device: str, kind: str, workers: int, threads: int) -> Any:
    """The model of CTranslate2 in `folder`, which rows of one process share."""
    from ctranslate2 import Translator  # type: ignore[attr-defined]

    try:
        return Translator(folder, device=device, compute_type=kind, inter_threads=workers, intra_threads=threads)
    except (RuntimeError, ValueError) as error:
        raise ModelError(f"CTranslate2 with {kind} on {device}: {error}") from error


def transformers_problem(row: Row, model: ModelChoice) -> str | None:
    """Why transformers cannot decode `row`: `model` is not a folder in its format; None if it can. Raises MissingLibraryError if it is not
    installed.
    """
    if find_spec("transformers") is None:
        raise MissingLibraryError(f"--row {row.name} needs transformers", "research")
    from converters.formats import find_format

    folder = Path(model.name)
    of_hub = folder.is_dir() and find_format(folder) == "huggingface"
    return None if of_hub else f"{model.name} is not the folder of a model of the Hugging Face hub"


class TransformersRunner(Toolkit):
    """Decodes lines with the function `generate` of the transformers library.

    The model is the Hugging Face model from which the bundle of the other rows was converted. The precision is that of `conditions`, but
    float32 in place of int8. With prompt lookup, the batch size is 1.
    """

    def __init__(self, conditions: Conditions, row: Row) -> None:
        model, precision = conditions.model, conditions.machine.precision
        described = describe_bundle(find_bundle(model), model.source_language, model.target_language, instruction=model.instruction)
        super().__init__(conditions, row, described.tokenizer)
        self._eos, self._precision = described.shape.eos, "float32" if precision == "int8" else precision
        self._batch_size, self._own = row.options.batch_size, dict[str, Any]()
        if row.searches:
            self._own = {"beam_size": row.options.beam_size or BEAM_SIZE, "length_penalty": row.options.length_penalty}
        elif row.has("block_size"):
            self._batch_size, self._own = 1, {"block_size": row.options.block_size or LOOKED_UP}
        prepare_torch(row.threads)
        self._model = _transformers_model(model.name, conditions.machine.device, self._precision)

    def prepare(self) -> dict[str, Any]:
        common = {"max_length": self.row.options.max_length, "batch_size": self._batch_size, "threads": self.row.threads}
        return (
            self._own
            | common
            | self.row.options.rules
            | {"precision": self._precision, "engine": f"transformers {version('transformers')}"}
        )

    def decode(self, sentences: Sequence[Sequence[int]], limit: int) -> Sequence[Ids]:
        """The output ids of each sentence, in batches of sentences of similar lengths."""
        order, found = sorted(range(len(sentences)), key=lambda number: len(sentences[number])), list[Ids]()
        for first in range(0, len(order), self._batch_size):
            found += self._generate([sentences[number] for number in order[first : first + self._batch_size]], limit)
        return [ids for _, ids in sorted(zip(order, found, strict=True))]

    def _generate(self, sentences: Sequence[Sequence[int]], limit: int) -> list[Ids]:
        import torch

        rows = [torch.tensor(self.tokenizer.add_special_tokens(ids)) for ids in sentences]
        source = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=self._model.config.pad_token_id)
        mask = torch.nn.utils.rnn.pad_sequence([torch.ones_like(each) for each in rows], batch_first=True)
        names = {"beam_size": "num_beams", "length_penalty": "length_penalty", "block_size": "prompt_lookup_num_tokens"}
        own, special = {names[name]: value for name, value in self._own.items()}, self.tokenizer.special_tokens
        tokens = {"forced_bos_token_id": special.forced, "decoder_start_token_id": special.start}
        options = {"num_beams": 1} | own | {name: token for name, token in tokens.items() if token is not None}
        device = self._model.device
        with torch.inference_mode():
            generated = self._model.generate(
                source.to(device),
                attention_mask=mask.to(device),
                max_length=limit + 1,
                do_sample=False,
                **options,
                **self.row.options.rules,
            )
        outputs = (ids[1:] for ids in generated.tolist())  # without the token that starts the decoder
        return [tuple(ids[: ids.index(self._eos) + 1] if self._eos in ids else ids) for ids in outputs]


@cache
def _transformers_model(name: str, device: str, precision: str) -> Any:
    """The model in the folder `name`, which rows of one process share."""
    import torch
    import transformers

    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(name, local_files_only=True)
    return model.to(device=device, dtype=getattr(torch, precision)).eval()
