"""A bundle: the folder that holds all that a translation needs."""

import shutil
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.files import read_json, write_atomically, write_json
from specdec_cli.model.config import TransformerConfig, config_from_dict
from specdec_cli.model.drafter import BlockDrafter, DrafterConfig
from specdec_cli.model.transformer import Transformer
from specdec_cli.model.uninitialized import Uninitialized
from specdec_cli.text.loading import load_tokenizer
from specdec_cli.text.tokenizer import Tokenizer

FORMAT = 1
T = TypeVar("T")
Storage = Literal["float32", "float16", "int8"]


@dataclass(frozen=True)
class BundleInfo:
    """What `bundle.json` says: the task, the languages, defaults of decoding, where the weights come from.

    `length_ratio` is that of target to source tokens, on the whole; `max_length` the most tokens of an output (0: no bound
    but the model's).

    Where the task is rewriting, edits whose log probability is below `min_score` are held back (below `min_score_in_company`
    in a sentence where another passes), and a sentence of four
    words or more that takes more than `max_pieces` subwords a word is taken for another language.
    """

    task: str = "translate"
    source_language: str = "en"
    target_language: str = "de"
    decoding: str = "auto"
    block_size: int = 0
    length_ratio: float = 1.0
    max_length: int = 0
    presets: dict[str, tuple[int, float]] = field(default_factory=dict)
    training_data: str = ""
    licence: str = ""
    min_score: float | None = None
    min_score_in_company: float | None = None
    max_pieces: float | None = None
    meant_for: str = "cpu"


@dataclass
class Bundle:
    """A loaded bundle: its description, tokenizer and models; `drafter` is None where it has none."""

    info: BundleInfo
    tokenizer: Tokenizer
    verifier: Transformer
    drafter: BlockDrafter | None = None


def save_bundle(bundle: Bundle, folder: Path, storage: Storage = "float32") -> None:
    """Store `bundle` in `folder`, each file atomically; `bundle.json` comes last, so that a folder with it is whole."""
    folder.mkdir(parents=True, exist_ok=True)
    bundle.tokenizer.save(folder)
    _save_module(bundle.verifier, bundle.verifier.config.to_dict(), folder / "verifier", storage)
    if bundle.drafter is not None:
        _save_module(bundle.drafter, bundle.drafter.config.to_dict(), folder / "drafter", storage)
    elif (folder / "drafter").exists():
        shutil.rmtree(folder / "drafter")  # it was made for another verifier
    write_json(folder / "bundle.json", {"format": FORMAT} | asdict(bundle.info))


def read_info(folder: Path) -> BundleInfo:
    """The description of a bundle, without its weights. Raises ModelError."""
    info = _read_config(BundleInfo, folder / "bundle.json", FORMAT)
    try:
        return replace(info, presets={name: (int(top_beta), float(limit)) for name, (top_beta, limit) in info.presets.items()})
    except (TypeError, ValueError) as error:
        raise ModelError(f"{folder / 'bundle.json'}: a preset is a list of top-beta and tolerance, not {info.presets}") from error


def load_bundle(folder: Path, source_language: str = "", target_language: str = "") -> Bundle:
    """Load a bundle and check every shape; a language that is given stands in place of the bundle's own.

    Raises ModelError that names the file and what is wrong with it, and UsageError for a language that it does not know.
    """
    info = read_info(folder)
    own = (info.source_language, info.target_language)
    asked = (source_language or info.source_language, target_language or info.target_language)
    info = replace(info, source_language=asked[0], target_language=asked[1])
    tokenizer = load_tokenizer(folder, info.source_language, info.target_language)
    if not tokenizer.multilingual and asked != own and all(own):
        raise UsageError(f"{folder}: from {own[0]} to {own[1]} is all that this model knows, not from {asked[0]} to {asked[1]}")
    config_file = folder / "verifier" / "config.json"
    config = _read_config(TransformerConfig, config_file)
    sizes, rows = (tokenizer.source_size, len(tokenizer)), (config.source_size, config.vocabulary_size)
    if sizes != rows:
        raise ModelError(f"{tokenizer.path}: {_both(sizes)} pieces, but {config_file} says {_both(rows)}")
    if tokenizer.frame.start is not None:
        config = replace(config, decoder_start=tokenizer.frame.start)
    with Uninitialized():
        verifier = Transformer(config)
    _load_module(verifier, folder / "verifier" / "model.safetensors")
    drafter = _load_drafter(folder / "drafter", verifier) if (folder / "drafter").exists() else None
    return Bundle(info, tokenizer, verifier.eval(), drafter)


def _both(sizes: tuple[int, int]) -> str:
    """Sizes of the source and the target vocabulary, in words."""
    return str(sizes[1]) if sizes[0] == sizes[1] else f"{sizes[0]} and {sizes[1]}"


def _save_module(module: nn.Module, config: dict[str, Any], folder: Path, storage: Storage) -> None:
    tensors: dict[str, Tensor] = {}
    for name, value in _own_tensors(module).items():
        tensors |= _compress(name, value.detach().cpu().contiguous(), storage)
    write_atomically(folder / "model.safetensors", lambda partial: save_file(tensors, partial))
    write_json(folder / "config.json", config)


def _own_tensors(module: nn.Module) -> dict[str, Tensor]:
    """The state of `module` with tied weights named once."""
    seen: set[int] = set()
    own: dict[str, Tensor] = {}
    for name, value in module.state_dict(keep_vars=True).items():
        if id(value) not in seen:
            seen.add(id(value))
            own[name] = value
    return own


def _compress(name: str, value: Tensor, storage: Storage) -> dict[str, Tensor]:
    if storage == "float16":
        return {name: value.half()}
    if storage == "int8" and value.dim() == 2:
        scale = value.abs().amax(1, keepdim=True).clamp_min(1e-12) / 127
        return {name: (value / scale).round().to(torch.int8), f"{name}.scale": scale}
    return {name: value.float()}


def _load_module(module: nn.Module, path: Path) -> None:
    try:
        with safe_open(path, "pt") as stream:
            stored = {name: stream.get_tensor(name) for name in stream.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise ModelError(f"{path}: not readable as safetensors ({error})") from error
    expected = _own_tensors(module)
    values = {name: _expand(name, stored) for name in stored if not name.endswith(".scale")}
    missing, unknown = sorted(expected.keys() - values.keys()), sorted(values.keys() - expected.keys())
    if missing or unknown:
        what = f"lacks {missing[0]!r}" if missing else f"holds {unknown[0]!r}, which the configuration does not ask for"
        raise ModelError(f"{path}: {what}")
    for name, value in values.items():
        if value.shape != expected[name].shape:
            raise ModelError(f"{path}: {name!r} is {tuple(value.shape)}, the configuration asks for {tuple(expected[name].shape)}")
    for name, value in values.items():
        expected[name].data = value


def _expand(name: str, stored: dict[str, Tensor]) -> Tensor:
    scale = stored.get(f"{name}.scale")
    return stored[name].float() if scale is None else stored[name].float().mul_(scale)


def _load_drafter(folder: Path, verifier: Transformer) -> BlockDrafter:
    config = _read_config(DrafterConfig, folder / "config.json")
    with Uninitialized():
        drafter = BlockDrafter(config, verifier)
    _load_module(drafter, folder / "model.safetensors")
    return drafter.eval()


def _read_config(kind: type[T], path: Path, version: int | None = None) -> T:
    values = read_json(path, ModelError)
    if version is not None and values.pop("format", None) != version:
        raise ModelError(f"{path}: not of format {version}, the one this version of specdec reads")
    try:
        return config_from_dict(kind, values)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error
