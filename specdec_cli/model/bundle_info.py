"""What a bundle says of itself: bundle.json, and the bundle without its weights, checked for consistency."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, TypeVar, get_args

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.fields import Between, check_fields, config_from_dict
from specdec_cli.files import read_json
from specdec_cli.language_codes import short_code
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.drafter_config import AnyDrafterConfig, DrafterConfig, drafter_config
from specdec_cli.text.labels import FILE as LABELS
from specdec_cli.text.labels import Labels
from specdec_cli.text.spelling.ngrams import FILE as NGRAMS
from specdec_cli.text.spelling.ngrams import NgramModel
from specdec_cli.text.spelling.speller import FILE as LEXICON
from specdec_cli.text.spelling.speller import Lexicon
from specdec_cli.text.tokenize.loading import load_tokenizer, tokenizer_digest
from specdec_cli.text.tokenize.tokenizer import Tokenizer

FORMAT = 1
Task = Literal["translate", "summarise", "correct", "simplify"]
"""What a model does."""
T = TypeVar("T")
LONGEST = 2**20
"""The largest value of `max_length` and `min_length`, in tokens."""
Score = Annotated[float, Between(-1_000_000, 1_000_000)]
Preset = tuple[Annotated[int, Between(1, 1000)], Annotated[float, Between(0, 1_000_000)]]
"""Top-beta, and tolerance in nats."""
EditScores = tuple[Score, Score]
"""The least score of an accepted edit, and of one in a sentence where another edit is accepted."""
Margin = Annotated[float, Between(0, 100)]
ChangeKind = Literal["mark_inserted", "mark_removed", "mark_replaced", "word_inserted", "word_removed", "word_replaced"]
"""What an edit changes; `edit_scores.change_kind` says what each means."""
BeamStop = Literal["heuristic", "first", "never", "fairseq"]
"""When beam search ends a sentence; `BeamSearch` says what each means."""
KEPT = "checkpoint.json"
"""The file that names the checkpoint in the folder of its kept conversion, whose weights are in int8, for a CPU alone."""
DIGEST = "tokenizer_digest"
"""The key of bundle.json for the digest of the tokenizer that belongs to the weights."""


@dataclass(frozen=True)
class ModelInfo:
    """What the model of a bundle is for, and what it can decode.

    - `task`: what the model does.
    - `source_language`: the code of the source language.
    - `target_language`: the code of the target language.
    - `decoding`: the decoding that `auto` stands for.
    - `block_size`: the largest draft (0: not given).
    - `length_ratio`: the mean ratio of target to source tokens (1.0 if it was not measured, as for converted models).
    - `longest_sentence`: sentences of more tokens are cut into pieces between clauses, because the model omits parts of longer ones
      (0: only those that do not fit the model).
    - `max_length`: the most tokens of an output (0: only the model's limit).
    """

    task: Task = "translate"
    source_language: str = "en"
    target_language: str = "de"
    decoding: str = "auto"
    block_size: Annotated[int, Between(0, 4096)] = 0
    length_ratio: Annotated[float, Between(0.01, 100)] = 1.0
    longest_sentence: Annotated[int, Between(0, LONGEST)] = 0
    max_length: Annotated[int, Between(0, LONGEST)] = 0


@dataclass(frozen=True)
class GenerationRules:
    """Rules on outputs, which change scores before a token is chosen, as in transformers and fairseq. The default values rule nothing.

    N-grams and the penalty count the decoder start as a part of the output. `no_repeat_ngram_size` and `source_ngram_size` are
    transformers' no_repeat_ngram_size and encoder_no_repeat_ngram_size, `repetition_penalty` is that of Keskar et al. 2019: it divides
    positive scores and multiplies negative ones. `most_copies` ends the loops of greedy decoding ("very very very ..."). A copy begins
    and ends with a token that has a letter, and what stands between two copies is part of the n-gram: "Picasso, Picasso, Picasso" is 3
    copies of "Picasso,", and repeated digits or dashes are none. Tokens count as equal if their texts are equal without case and
    without the space before a word.

    - `min_length`: the fewest tokens before an output's EOS (see `Constraints`).
    - `no_repeat_ngram_size`: n-grams of this size occur at most once in an output (0: no rule).
    - `source_ngram_size`: n-grams of this size that the source has do not occur in the output (0: no rule).
    - `repetition_penalty`: factor by which the logits of emitted tokens are reduced (1.0: not at all).
    - `most_copies`: no n-gram of up to 10 tokens occurs more often than this in immediate succession, unless the source itself repeats
      some n-gram more often (see `Constraints`; 0: no rule).
    - `forced_end`: an output that reaches `max_length` ends with EOS.
    """

    min_length: Annotated[int, Between(0, LONGEST)] = 0
    no_repeat_ngram_size: Annotated[int, Between(0, 256)] = 0
    source_ngram_size: Annotated[int, Between(0, 256)] = 0
    repetition_penalty: Annotated[float, Between(0.01, 100)] = 1.0
    most_copies: Annotated[int, Between(0, 256)] = 0
    forced_end: bool = False


@dataclass(frozen=True)
class BundleInfo(GenerationRules, ModelInfo):
    """The content of `bundle.json`: ModelInfo, then GenerationRules, then these.

    - `beam_size`: hypotheses of beam search (0: not given).
    - `length_penalty`: beam search divides a score by the length to this power.
    - `beam_stop`: with enough finished hypotheses, beam search ends a sentence at once ("first"), or when no other hypothesis is better
      at its present length ("heuristic") or at its most favourable length ("never"); "fairseq" is "first" with the ranks of fairseq (see
      `BeamSearch`).
    - `presets`: top-beta and tolerance, in nats, of each preset of `specdec++`.
    - `training_data`: the text that the model was trained on.
    - `licence`: the licence of the model.
    - `modes`: in rewriting tasks, the least scores of accepted edits in each mode: careful, balanced, thorough (not given: all edits
      are accepted).
    - `margins`: in these modes, a token of the source is kept only if the verifier's logit for it is at least this much above all others
      (see `Margin`; not given: 0).
    - `offsets`: added to the scores of edits of these kinds (see `change_kind`; not given: 0).
    - `ngrams`: the scores of edits depend on the bundle's counts of word n-grams too (see `edit_scores`).
    - `lexicon`: with `ngrams` and the bundle's list of words, misspelt and confused words are corrected before the model reads them (see
      `Speller`).
    - `labels`: in translation, labels such as those of menus and tables are translated as the bundle's list says (see `Labels`).
    - `max_pieces`: in rewriting tasks, a sentence of four or more words with more subwords per word is assumed to be in another
      language (not given: no sentence is).
    - `meant_for`: the device that the model was made for.
    """

    beam_size: Annotated[int, Between(0, 1024)] = 0
    length_penalty: Annotated[float, Between(-10, 10)] = 1.0
    beam_stop: BeamStop = "heuristic"
    presets: dict[str, Preset] = field(default_factory=dict)
    training_data: str = ""
    licence: str = ""
    modes: dict[str, EditScores] = field(default_factory=dict)
    margins: dict[str, Margin] = field(default_factory=dict)
    offsets: dict[str, Score] = field(default_factory=dict)
    ngrams: bool = False
    lexicon: bool = False
    labels: bool = False
    max_pieces: Annotated[float, Between(0, 1_000_000)] | None = None
    meant_for: str = "cpu"

    def __post_init__(self) -> None:
        check_fields(self)
        if unknown := sorted(set(self.margins) - set(self.modes)):
            raise ModelError(f"margins: the bundle has no mode {unknown[0]!r}")
        if unknown := sorted(set(self.offsets) - set(get_args(ChangeKind))):
            raise ModelError(f"offsets: no kind of edit is called {unknown[0]!r}; there are {', '.join(get_args(ChangeKind))}")

    def retrained(self, task: Task, source_language: str, target_language: str, length_ratio: float) -> "BundleInfo":
        """Return the content for a model that starts from the weights of this one, is trained further, and has no drafter.

        The rules of output, the training data and the licence stay. Decoding, block size, presets and scores of edits were chosen for
        the earlier weights, so they get the defaults of a new model.
        """
        return replace(
            self,
            task=task,
            source_language=source_language,
            target_language=target_language,
            length_ratio=length_ratio,
            decoding="auto",
            block_size=0,
            presets={},
            modes={},
            margins={},
            offsets={},
            ngrams=False,
            lexicon=False,
            labels=False,
        )


def read_info(folder: Path) -> BundleInfo:
    """The content of a bundle's bundle.json. Raises ModelError if the file is missing, malformed, or of another
    format version.
    """
    return read_description(folder)[0]


def weights_file(folder: Path, part: Literal["verifier", "drafter"] = "verifier") -> Path:
    """The file of the weights of a part of a bundle."""
    return folder / part / "model.safetensors"


def read_shape(folder: Path) -> TransformerConfig:
    """The configuration of a bundle's verifier, without its weights. Raises ModelError if its config.json is missing
    or malformed.
    """
    path = folder / "verifier" / "config.json"
    return _config(TransformerConfig, path, read_json(path, ModelError))


def read_description(folder: Path) -> tuple[BundleInfo, str | None]:
    """The content of bundle.json and the tokenizer's digest in it, which is None for older bundles.

    Raises ModelError if the file is missing, malformed, or of another format version.
    """
    path = folder / "bundle.json"
    values = read_json(path, ModelError)
    if values.pop("format", None) != FORMAT:
        raise ModelError(f"{path}: not of format {FORMAT}, the one this version of specdec reads")
    digest = values.pop(DIGEST, None)
    if not isinstance(digest, str | None):
        raise ModelError(f"{path}: {DIGEST} must be text or null")
    return _config(BundleInfo, path, _with_modes(values)), digest


def _with_modes(values: dict[str, Any]) -> dict[str, Any]:
    """`values` with `modes` in place of `min_score` and `min_score_in_company`, which bundles had before there were modes."""
    least, beside_others = (values.pop(key, None) for key in ("min_score", "min_score_in_company"))
    if least is not None:
        values.setdefault("modes", {"balanced": [least, least if beside_others is None else beside_others]})
    return values


def _config(kind: type[T], path: Path, values: dict[str, Any]) -> T:
    with naming(path):
        return config_from_dict(kind, values)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put `path` before the message of a ModelError that is raised inside the `with` block."""
    try:
        yield
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error


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


def describe_bundle(
    folder: Path, source_language: str = "", target_language: str = "", *, instruction: str | None = None
) -> BundleDescription:
    """Read and check a bundle without its weights; a language that is not "" replaces the bundle's own, and an `instruction` that is not
    None the words in front of each source.

    Raises ModelError that names the damaged file and the fault, and UsageError for a language or an instruction that the model does not
    support.
    """
    info, digest = read_description(folder)
    bundled = (info.source_language, info.target_language)
    requested = (source_language or info.source_language, target_language or info.target_language)
    info = replace(info, source_language=requested[0], target_language=requested[1])
    tokenizer = load_tokenizer(folder, info.source_language, info.target_language)
    if digest is not None and digest != tokenizer_digest(folder):
        raise ModelError(f"{tokenizer.path}: not the tokenizer that {folder / 'bundle.json'} was stored with ({DIGEST} differs)")
    if not tokenizer.multilingual and all(bundled) and list(map(short_code, requested)) != list(map(short_code, bundled)):
        raise UsageError(
            f"{folder}: this model translates only from {bundled[0]} to {bundled[1]}, not from {requested[0]} to {requested[1]}"
        )
    if instruction is not None:
        tokenizer = tokenizer.instructed(instruction)
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
