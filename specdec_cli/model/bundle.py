"""Bundles: folders with a model, its tokenizer and its drafter."""

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from specdec_cli.errors import ModelError, is_out_of_memory
from specdec_cli.files import write_json
from specdec_cli.model.bundle_info import DIGEST, FORMAT, KEPT, describe_bundle, naming
from specdec_cli.model.bundle_info import BeamStop as BeamStop
from specdec_cli.model.bundle_info import BundleInfo as BundleInfo
from specdec_cli.model.bundle_info import read_info as read_info
from specdec_cli.model.bundle_info import read_shape as read_shape
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.drafter import AnyDrafter, BlockDrafter, make_drafter
from specdec_cli.model.drafter_config import AnyDrafterConfig
from specdec_cli.model.network import Network
from specdec_cli.model.storage import Parts, Storage, Uninitialized, Written, count_weights, load_weights, save_weights, unseen
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.labels import FILE as LABELS
from specdec_cli.text.labels import Labels
from specdec_cli.text.spelling.ngrams import FILE as NGRAMS
from specdec_cli.text.spelling.ngrams import NgramModel
from specdec_cli.text.spelling.speller import FILE as LEXICON
from specdec_cli.text.spelling.speller import Lexicon
from specdec_cli.text.tokenize.loading import tokenizer_digest
from specdec_cli.text.tokenize.tokenizer import Tokenizer

M = TypeVar("M", bound=nn.Module)


@dataclass
class Bundle:
    """A loaded bundle: its description, tokenizer and models; `drafter` is None for a bundle without a drafter, `ngrams` for one
    without counts of n-grams, `lexicon` for one without a list of words, `labels` for one without translations of labels.

    `network` computes the verifier and `draft_network` the drafter in place of PyTorch, if they are given; on a GPU rounds are
    `captured`, unless the card cannot do that, and `operators` says why operators compute it, or its drafter, instead of kernels ("": they
    do not). `draft_model` is another bundle, which drafts for this one. `path` is the bundle.json that it was read from, for error
    messages; None for a bundle in memory.
    """

    info: BundleInfo
    tokenizer: Tokenizer
    verifier: Transformer
    drafter: AnyDrafter | None = None
    path: Path | None = None
    ngrams: NgramModel | None = None
    lexicon: Lexicon | None = None
    labels: Labels | None = None
    network: Network | None = None
    draft_network: BlockDrafter | None = None
    captured: bool = True
    operators: str = ""
    draft_model: "Bundle | None" = None

    @property
    def shape(self) -> TransformerConfig:
        """The verifier's configuration."""
        return self.verifier.config

    @property
    def drafter_config(self) -> AnyDrafterConfig | None:
        """The drafter's configuration; None for a bundle without a drafter."""
        return None if self.drafter is None else self.drafter.config

    def drop_drafter(self) -> None:
        """Remove the drafter, and what the description says of its drafts: `auto` chooses the decoding then."""
        self.drafter = self.draft_network = None
        self.info = replace(self.info, decoding="auto", block_size=0, presets={})


def save_bundle(bundle: Bundle, folder: Path, storage: Storage = "float32", parts: Parts | None = None, written: Written = unseen) -> None:
    """Write `bundle` to `folder`, each file atomically, and `bundle.json` last: a folder that was new or empty is
    complete if it has this file. A folder with a bundle has files of both bundles until the end.

    `storage` is the number format of the weights; `parts` are those of the verifier, if it has some, and `written` is called
    while its weights are written. A drafter, counts of n-grams, a list of words and labels in the folder are deleted if the bundle has
    none, and bundle.json says then that it has none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    bundle.tokenizer.save(folder)
    _save_model(bundle.verifier, bundle.verifier.config.to_dict(), folder / "verifier", storage, parts, written)
    if bundle.drafter is not None:
        _save_model(bundle.drafter, bundle.drafter.config.to_dict(), folder / "drafter", storage)
    elif (folder / "drafter").exists():
        shutil.rmtree(folder / "drafter")  # it was made for another verifier
    files = {"ngrams": (NGRAMS, bundle.ngrams), "lexicon": (LEXICON, bundle.lexicon), "labels": (LABELS, bundle.labels)}
    stored = {key: part is not None and getattr(bundle.info, key) for key, (_, part) in files.items()}
    for key, (name, part) in files.items():
        if part is not None and stored[key]:
            part.save(folder / name)
        else:
            (folder / name).unlink(missing_ok=True)
    write_json(folder / "bundle.json", {"format": FORMAT} | asdict(bundle.info) | stored | {DIGEST: tokenizer_digest(folder)})


def load_bundle(
    folder: Path,
    source_language: str = "",
    target_language: str = "",
    *,
    instruction: str | None = None,
    in_int8: bool = False,
    weights: bool = True,
) -> Bundle:
    """Load a bundle and check every shape; languages and instruction are those of `describe_bundle`. `in_int8`: the weights are used in
    int8 on a CPU. Without `weights` the verifier has none (its tensors are on the device "meta") and there is no drafter: for another
    network, which computes the verifier in its place.

    Raises ModelError that names the damaged file and the fault, also for a kept conversion of a checkpoint that is not used in int8, and
    UsageError for a language or an instruction that the model does not support.
    """
    if not in_int8 and (folder / KEPT).exists():
        raise ModelError(f"{folder / KEPT}: the weights of this folder are in int8, for a CPU alone; use the checkpoint that it names")
    described = describe_bundle(folder, source_language, target_language, instruction=instruction)
    if not weights:
        with torch.device("meta"):
            verifier = Transformer(described.shape).eval()
        described = replace(described, drafter_config=None)
    else:
        verifier = _load_model(folder / "verifier", described.shape.fewest_weights, lambda: Transformer(described.shape))
    drafter = _load_drafter(folder / "drafter", described.drafter_config, verifier) if described.drafter_config else None
    return Bundle(
        described.info,
        described.tokenizer,
        verifier,
        drafter,
        described.path,
        described.ngrams,
        described.lexicon,
        described.labels,
    )


def _save_model(
    module: nn.Module, config: dict[str, Any], folder: Path, storage: Storage, parts: Parts | None = None, written: Written = unseen
) -> None:
    save_weights(module, folder / "model.safetensors", storage, parts, written)
    write_json(folder / "config.json", config)


def _load_drafter(folder: Path, config: AnyDrafterConfig, verifier: Transformer) -> AnyDrafter:
    with naming(folder / "config.json"):
        fewest = config.fewest_weights(verifier.config)
    return _load_model(folder, fewest, lambda: make_drafter(config, verifier))


def _load_model(folder: Path, fewest: int, make: Callable[[], M]) -> M:
    """The model that `make` creates, with the weights in `folder`; it has at least `fewest` weights. Raises ModelError."""
    path, weights = folder / "config.json", folder / "model.safetensors"
    held = count_weights(weights)
    if fewest > 2 * held:  # checked before memory is allocated; smaller differences are reported per tensor
        raise ModelError(f"{path}: a model of these layers and sizes has at least {fewest} weights, but {weights} holds {held}")
    try:
        with naming(path), Uninitialized():
            module = make()
        load_weights(module, weights)
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        raise ModelError(f"{weights}: not enough memory for its {held:,} weights") from error
    return module.eval()
