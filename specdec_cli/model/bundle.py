"""Bundles: folders with a model, its tokenizer and its drafter."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from torch import nn

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.fields import Between, check_fields, config_from_dict
from specdec_cli.files import read_json, write_json
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.drafters import AnyDrafter, drafter_config, make_drafter
from specdec_cli.model.storage import Storage, count_weights, load_weights, save_weights
from specdec_cli.model.transformer import Transformer
from specdec_cli.model.uninitialized import Uninitialized
from specdec_cli.text.loading import load_tokenizer, tokenizer_digest
from specdec_cli.text.tokenizer import Tokenizer

FORMAT = 1
T = TypeVar("T")
M = TypeVar("M", bound=nn.Module)
LONGEST = 2**20
"""The largest limit on an output, in tokens."""
Score = Annotated[float, Between(-1_000_000, 1_000_000)]
Preset = tuple[Annotated[int, Between(1, 1000)], Annotated[float, Between(0, 1_000_000)]]
"""Top-beta and tolerance."""
BeamStop = Literal["heuristic", "first", "never", "fairseq"]
"""When beam search ends a sentence; `BeamOptions` says what each means."""
_DIGEST = "tokenizer_digest"
"""The key of bundle.json for the digest of the tokenizer that belongs to the weights."""


@dataclass(frozen=True)
class BundleInfo:
    """The content of `bundle.json`: task, languages, default decoding, and origin of the weights.

    `length_ratio` is the mean ratio of target to source tokens (1.0 if it was not measured, as for converted models).
    `max_length` is the most tokens of an output (0: only the model's limit). `min_length`, `no_repeat_ngram_size`,
    `source_ngram_size`, `repetition_penalty` and `forced_end` are the generation settings of a converted model (see
    `Constraints`). `beam_size` (0: not given), `length_penalty` and `beam_stop` (see `BeamOptions`) are those of its beam search.

    For rewriting tasks: edits with a log probability below `min_score` are rejected; in a sentence where another edit is accepted,
    the limit is `min_score_in_company`. A sentence of four or more words with more than `max_pieces` subwords per word is assumed
    to be in another language.
    """

    task: str = "translate"
    source_language: str = "en"
    target_language: str = "de"
    decoding: str = "auto"
    block_size: Annotated[int, Between(0, 4096)] = 0
    length_ratio: Annotated[float, Between(0.01, 100)] = 1.0
    max_length: Annotated[int, Between(0, LONGEST)] = 0
    min_length: Annotated[int, Between(0, LONGEST)] = 0
    no_repeat_ngram_size: Annotated[int, Between(0, 256)] = 0
    source_ngram_size: Annotated[int, Between(0, 256)] = 0
    repetition_penalty: Annotated[float, Between(0.01, 100)] = 1.0
    forced_end: bool = False
    beam_size: Annotated[int, Between(0, 1024)] = 0
    length_penalty: Annotated[float, Between(-10, 10)] = 1.0
    beam_stop: BeamStop = "heuristic"
    presets: dict[str, Preset] = field(default_factory=dict)
    training_data: str = ""
    licence: str = ""
    min_score: Score | None = None
    min_score_in_company: Score | None = None
    max_pieces: Annotated[float, Between(0, 1_000_000)] | None = None
    meant_for: str = "cpu"

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass
class Bundle:
    """A loaded bundle: its description, tokenizer and models; `drafter` is None if it has none.

    `path` is the bundle.json that it was read from, for error messages.
    """

    info: BundleInfo
    tokenizer: Tokenizer
    verifier: Transformer
    drafter: AnyDrafter | None = None
    path: Path | None = None


def save_bundle(bundle: Bundle, folder: Path, storage: Storage = "float32") -> None:
    """Store `bundle` in `folder`, each file atomically; `bundle.json` is written last, so a folder that has it is complete."""
    folder.mkdir(parents=True, exist_ok=True)
    bundle.tokenizer.save(folder)
    _save_model(bundle.verifier, bundle.verifier.config.to_dict(), folder / "verifier", storage)
    if bundle.drafter is not None:
        _save_model(bundle.drafter, bundle.drafter.config.to_dict(), folder / "drafter", storage)
    elif (folder / "drafter").exists():
        shutil.rmtree(folder / "drafter")  # it was made for another verifier
    write_json(folder / "bundle.json", {"format": FORMAT} | asdict(bundle.info) | {_DIGEST: tokenizer_digest(folder)})


def read_info(folder: Path) -> BundleInfo:
    """The description of a bundle, without its weights. Raises ModelError."""
    return _read_description(folder)[0]


def read_shape(folder: Path) -> TransformerConfig:
    """The configuration of a bundle's verifier, without its weights. Raises ModelError."""
    path = folder / "verifier" / "config.json"
    return _config(TransformerConfig, path, read_json(path, ModelError))


def load_bundle(folder: Path, source_language: str = "", target_language: str = "") -> Bundle:
    """Load a bundle and check every shape; a given language replaces the bundle's own.

    Raises ModelError that names the damaged file and the fault, and UsageError for a language that the model does not support.
    """
    info, digest = _read_description(folder)
    own = (info.source_language, info.target_language)
    asked = (source_language or info.source_language, target_language or info.target_language)
    info = replace(info, source_language=asked[0], target_language=asked[1])
    tokenizer = load_tokenizer(folder, info.source_language, info.target_language)
    if digest is not None and digest != tokenizer_digest(folder):
        raise ModelError(f"{tokenizer.path}: not the tokenizer that {folder / 'bundle.json'} was stored with ({_DIGEST} differs)")
    if not tokenizer.multilingual and asked != own and all(own):
        raise UsageError(f"{folder}: from {own[0]} to {own[1]} is all that this model knows, not from {asked[0]} to {asked[1]}")
    verifier = _load_verifier(folder, tokenizer)
    drafter = _load_drafter(folder / "drafter", verifier) if (folder / "drafter").exists() else None
    if drafter is not None and info.block_size > drafter.config.max_block:
        most = f"max_block {drafter.config.max_block} of {folder / 'drafter' / 'config.json'}"
        raise ModelError(f"{folder / 'bundle.json'}: block_size {info.block_size} is more than {most}")
    return Bundle(info, tokenizer, verifier, drafter, folder / "bundle.json")


def _save_model(module: nn.Module, config: dict[str, Any], folder: Path, storage: Storage) -> None:
    save_weights(module, folder / "model.safetensors", storage)
    write_json(folder / "config.json", config)


def _read_description(folder: Path) -> tuple[BundleInfo, str | None]:
    """The content of bundle.json, and the digest of the tokenizer, which older bundles lack. Raises ModelError."""
    path = folder / "bundle.json"
    values = read_json(path, ModelError)
    if values.pop("format", None) != FORMAT:
        raise ModelError(f"{path}: not of format {FORMAT}, the one this version of specdec reads")
    digest = values.pop(_DIGEST, None)
    if not isinstance(digest, str | None):
        raise ModelError(f"{path}: {_DIGEST} must be text or null")
    return _config(BundleInfo, path, values), digest


def _load_verifier(folder: Path, tokenizer: Tokenizer) -> Transformer:
    path, config = folder / "verifier" / "config.json", read_shape(folder)
    sizes, rows = (tokenizer.source_size, len(tokenizer)), (config.source_size, config.vocabulary_size)
    if sizes != rows:
        raise ModelError(f"{tokenizer.path}: {_both(sizes)} pieces, but {path} says {_both(rows)}")
    if tokenizer.special_tokens.start is not None:
        config = replace(config, decoder_start=tokenizer.special_tokens.start)
    return _load_model(path.parent, config.fewest_weights, lambda: Transformer(config))


def _load_drafter(folder: Path, verifier: Transformer) -> AnyDrafter:
    path = folder / "config.json"
    values = read_json(path, ModelError)
    with _naming(path):
        config = drafter_config(values)
        fewest = config.fewest_weights(verifier.config)
    return _load_model(folder, fewest, lambda: make_drafter(config, verifier))


def _load_model(folder: Path, fewest: int, make: Callable[[], M]) -> M:
    """The model that `make` creates, with the weights in `folder`; it has at least `fewest` weights. Raises ModelError."""
    path, weights = folder / "config.json", folder / "model.safetensors"
    held = count_weights(weights)
    if fewest > 2 * held:  # checked before memory is allocated; smaller differences are reported per tensor
        raise ModelError(f"{path}: a model of these layers and sizes has at least {fewest} weights, but {weights} holds {held}")
    with _naming(path), Uninitialized():
        module = make()
    load_weights(module, weights)
    return module.eval()


def _both(sizes: tuple[int, int]) -> str:
    """Sizes of the source and the target vocabulary as text; one number if they are equal."""
    return str(sizes[1]) if sizes[0] == sizes[1] else f"{sizes[0]} and {sizes[1]}"


def _config(kind: type[T], path: Path, values: dict[str, Any]) -> T:
    with _naming(path):
        return config_from_dict(kind, values)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Add `path` to a ModelError."""
    try:
        yield
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error
