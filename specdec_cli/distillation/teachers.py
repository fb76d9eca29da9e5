"""Teachers: their protocol, the folders of their models, and CTranslate2 in a process of its own. Nothing here imports PyTorch."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from specdec_cli.devices import DEFAULTS, found_device
from specdec_cli.digests import hash_files
from specdec_cli.errors import ModelError
from specdec_cli.files import read_json
from specdec_cli.processes import Process


@dataclass(frozen=True)
class Translation:
    """A teacher's translation of one source line, or another hypothesis of its search.

    `source_tokens` and `tokens` (of the output) include EOS. `tokens` is 0 if the source was too long to translate.
    `finished` is false if the output reached the maximum length without EOS.
    """

    text: str
    source_tokens: int
    tokens: int
    finished: bool


COMPUTE_TYPES = ("float32", "int8", "bfloat16", "float16", "int16", "int8_float32", "int8_float16", "int8_bfloat16", "auto", "default")
"""The number formats in which CTranslate2 computes."""


@dataclass(frozen=True)
class Search:
    """Settings of a teacher's beam search, all of which affect its output. Lengths are in tokens, EOS included.

    Sources longer than `max_source_length` are not translated. `compute_type` is a number format of CTranslate2. `n_best` is the number
    of hypotheses of a source, at most the beam size.
    """

    beam_size: int = 5
    length_penalty: float = 1.0
    max_length: int = 256
    max_source_length: int = 256
    compute_type: str = "float32"
    n_best: int = 1


@dataclass(frozen=True)
class Resources:
    """Resources of a teacher: each of `threads` threads translates a batch of at most `batch_tokens` padded source tokens (None: the
    default of the device).

    `device` is "cpu", "cuda" or "auto". On a GPU there is one batch at a time, and `threads` has no effect.
    """

    device: str = "cpu"
    threads: int = 1
    batch_tokens: int | None = None

    @property
    def tokens(self) -> int:
        """The largest number of padded source tokens in a batch."""
        return self.batch_tokens or DEFAULTS[found_device(self.device)].teacher_tokens


class Teacher(Protocol):
    """Protocol of a model or an ensemble whose translations are the training data of another model (Kim and Rush 2016)."""

    def translate(self, sources: Sequence[str]) -> Iterator[tuple[int, Translation]]:
        """Yield the index in `sources` and the translation of every source line, in order of completion.

        With an `n_best` above 1, yield that many hypotheses of a line one after the other, the best first.
        """


_BUNDLE_FILES = ("tokenizer.model", "tokenizer/*", "verifier/config.json", "verifier/model.safetensors")
_CTRANSLATE2_FILES = ("config.json", "model.bin", "tokenizer.model", "tokenizer/*", "source.spm", "target.spm")
_LANGUAGES = ("source_language", "target_language")


@dataclass(frozen=True)
class TeacherModel:
    """The folder of a teacher model, and the search settings stored in it.

    `max_positions` is the largest sentence length in tokens (None: not stored). `max_length` is the limit on the output in tokens
    (0: no limit). `beam_size` is 0 if the folder does not store one. A CTranslate2 folder stores none of the search settings; its
    `task` is "translate". `instruction` replaces the words in front of each source (None: those of the bundle).
    """

    folder: Path
    is_bundle: bool
    task: str
    max_positions: int | None
    max_length: int = 0
    beam_size: int = 0
    length_penalty: float = 1.0
    instruction: str | None = None


def find_teacher(folder: Path) -> TeacherModel:
    """Find out whether `folder` holds a bundle or a CTranslate2 model, without loading the weights.

    Raises ModelError if it holds neither, or if its settings are malformed.
    """
    if (folder / "bundle.json").exists():
        from specdec_cli.model.bundle import read_info, read_shape

        info, shape = read_info(folder), read_shape(folder)
        return TeacherModel(folder, True, info.task, shape.max_positions, info.max_length, info.beam_size, info.length_penalty)
    if (folder / "model.bin").exists():
        config = folder / "config.json"
        positions = read_json(config, ModelError).get("max_positions") if config.exists() else None
        if positions is not None and (not isinstance(positions, int) or positions < 1):
            raise ModelError(f"{config}: max_positions must be a positive integer, not {positions!r}")
        return TeacherModel(folder, False, "translate", positions)
    raise ModelError(f"{folder}: neither a bundle (bundle.json) nor a CTranslate2 folder (model.bin)")


def teacher_digest(model: TeacherModel) -> str:
    """A hash, in hexadecimal, of all files on which the teacher's output depends. Raises ModelError for an unreadable file."""
    digest = hashlib.sha256(b"" if model.instruction is None else model.instruction.encode())
    patterns = _BUNDLE_FILES if model.is_bundle else _CTRANSLATE2_FILES
    if model.is_bundle and (model.folder / "tokenizer").exists():
        # The output of a multilingual model depends on the languages. A CTranslate2 folder has them in config.json, hashed below.
        info = read_json(model.folder / "bundle.json", ModelError)
        digest.update(" ".join(str(info.get(name)) for name in _LANGUAGES).encode())
    hash_files(digest, model.folder, patterns)
    return digest.hexdigest()[:16]


def as_ctranslate2(model: TeacherModel, cache: Path) -> Path:
    """Return a folder with the teacher as a CTranslate2 model.

    For a CTranslate2 model it is the teacher's own folder. A bundle is converted into `cache`, unless that folder exists already; so
    each teacher needs a different `cache`. Raises ModelError for a bundle that cannot be converted.
    """
    if not model.is_bundle:
        return model.folder
    if not cache.exists():
        # Imported here: torch takes seconds to import, and only bundles need it.
        from converters.to_ctranslate2 import to_ctranslate2
        from specdec_cli.opening.conversions import load_checkpoint

        bundle = load_checkpoint(model.folder, instruction=model.instruction)
        try:
            to_ctranslate2(bundle, cache)
        except ModelError as error:
            raise ModelError(f"{model.folder}: {error}") from error
    return cache


class TeacherProcess:
    """A Teacher that runs the CTranslate2 model in `folder` in a subprocess, from entering to leaving its `with` block.

    CTranslate2 runs in a subprocess because on some systems it cannot be loaded together with torch. Entering the block raises
    ModelError if the model cannot be loaded or the subprocess fails.
    """

    def __init__(self, folder: Path, search: Search, resources: Resources) -> None:
        self._opening = str(folder), asdict(search), asdict(replace(resources, batch_tokens=resources.tokens))
        self.process = Process("specdec_cli.distillation.worker", f"{folder}: teacher")

    def __enter__(self) -> Self:
        self.process.__enter__()
        try:
            self.process.call("open", *self._opening)
        except BaseException as error:
            self.process.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.process.__exit__(kind, error, trace)

    def translate(self, sources: Sequence[str]) -> Iterator[tuple[int, Translation]]:
        """Yield the index in `sources` and the translation of every source line, in order of completion.

        Raises ModelError if CTranslate2 or the tokenizer reports an error, or if the subprocess ends.
        """
        for index, text, source_tokens, tokens, finished in self.process.stream("translate", list(sources)):
            yield index, Translation(text, source_tokens, tokens, finished)
