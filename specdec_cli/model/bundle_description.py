"""A bundle without its weights: description, tokenizer and configurations, checked for consistency."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.files import read_json
from specdec_cli.model.bundle_info import DIGEST, BundleInfo, naming, read_description, read_shape
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.model.drafter_configs import AnyDrafterConfig, drafter_config
from specdec_cli.text.labels import FILE as LABELS
from specdec_cli.text.labels import Labels
from specdec_cli.text.spelling.ngrams import FILE as NGRAMS
from specdec_cli.text.spelling.ngrams import NgramModel
from specdec_cli.text.spelling.speller import FILE as LEXICON
from specdec_cli.text.spelling.speller import Lexicon
from specdec_cli.text.tokenize.loading import load_tokenizer, tokenizer_digest
from specdec_cli.text.tokenize.tokenizer import Tokenizer


class Described(Protocol):
    """Protocol of the parts of a bundle on which decoding depends; Bundle and BundleDescription implement it."""

    @property
    def info(self) -> BundleInfo:
        """The bundle's task, languages and defaults of decoding."""

    @property
    def tokenizer(self) -> Tokenizer:
        """The bundle's tokenizer."""

    @property
    def shape(self) -> TransformerConfig:
        """The configuration of the verifier."""

    @property
    def drafter_config(self) -> AnyDrafterConfig | None:
        """The configuration of the drafter; None for a bundle without a drafter."""

    @property
    def ngrams(self) -> NgramModel | None:
        """The counts of word n-grams with which edits are scored; None for a bundle without them."""

    @property
    def lexicon(self) -> Lexicon | None:
        """The words with which spelling is corrected; None for a bundle without them."""

    @property
    def labels(self) -> Labels | None:
        """The translations of labels; None for a bundle without them."""

    @property
    def path(self) -> Path | None:
        """The bundle's file bundle.json; None for a bundle in memory."""


@dataclass(frozen=True)
class BundleDescription:
    """A bundle without its weights: `shape` is the configuration of the verifier, `path` the file bundle.json.

    `drafter_config` is None for a bundle without a drafter, `ngrams` for one without counts of n-grams,
    `lexicon` for one without a list of words, `labels` for one without translations of labels.
    """

    info: BundleInfo
    tokenizer: Tokenizer
    shape: TransformerConfig
    drafter_config: AnyDrafterConfig | None
    path: Path
    ngrams: NgramModel | None = None
    lexicon: Lexicon | None = None
    labels: Labels | None = None


def describe_bundle(folder: Path, source_language: str = "", target_language: str = "") -> BundleDescription:
    """Read and check a bundle without its weights; a language that is not "" replaces the bundle's own.

    Raises ModelError that names the damaged file and the fault, and UsageError for a language that the model does
    not support.
    """
    info, digest = read_description(folder)
    own = (info.source_language, info.target_language)
    asked = (source_language or info.source_language, target_language or info.target_language)
    info = replace(info, source_language=asked[0], target_language=asked[1])
    tokenizer = load_tokenizer(folder, info.source_language, info.target_language)
    if digest is not None and digest != tokenizer_digest(folder):
        raise ModelError(f"{tokenizer.path}: not the tokenizer that {folder / 'bundle.json'} was stored with ({DIGEST} differs)")
    if not tokenizer.multilingual and asked != own and all(own):
        raise UsageError(f"{folder}: this model translates only from {own[0]} to {own[1]}, not from {asked[0]} to {asked[1]}")
    shape = _shape(folder, tokenizer)
    drafter = _drafter_config(folder / "drafter" / "config.json", info, folder, shape) if (folder / "drafter").exists() else None
    ngrams = NgramModel.read(folder / NGRAMS) if info.ngrams else None
    lexicon = Lexicon.of_file(folder / LEXICON) if info.lexicon else None
    labels = Labels.of_file(folder / LABELS) if info.labels else None
    return BundleDescription(info, tokenizer, shape, drafter, folder / "bundle.json", ngrams, lexicon, labels)


def _shape(folder: Path, tokenizer: Tokenizer) -> TransformerConfig:
    path, config = folder / "verifier" / "config.json", read_shape(folder)
    sizes, rows = (tokenizer.source_size, len(tokenizer)), (config.source_size, config.vocabulary_size)
    if sizes != rows:
        raise ModelError(f"{tokenizer.path}: {_both(sizes)} pieces, but {path} says {_both(rows)}")
    if tokenizer.special_tokens.start is not None:
        config = replace(config, decoder_start=tokenizer.special_tokens.start)
    return config


def _drafter_config(path: Path, info: BundleInfo, folder: Path, shape: TransformerConfig) -> AnyDrafterConfig:
    values = read_json(path, ModelError)
    with naming(path):
        config = drafter_config(values)
    if info.block_size > config.max_block:
        raise ModelError(f"{folder / 'bundle.json'}: block_size {info.block_size} is more than max_block {config.max_block} of {path}")
    return config.fitted(shape) if isinstance(config, DrafterConfig) else config


def _both(sizes: tuple[int, int]) -> str:
    """Sizes of the source and the target vocabulary as text; one number if they are equal."""
    return str(sizes[1]) if sizes[0] == sizes[1] else f"{sizes[0]} and {sizes[1]}"
