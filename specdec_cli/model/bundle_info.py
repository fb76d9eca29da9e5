"""The description of a bundle in bundle.json, read without its weights."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from specdec_cli.errors import ModelError
from specdec_cli.fields import Between, check_fields, config_from_dict
from specdec_cli.files import read_json
from specdec_cli.model.config import TransformerConfig

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
BeamStop = Literal["heuristic", "first", "never", "fairseq"]
"""When beam search ends a sentence; `BeamSearch` says what each means."""
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
    ngrams: bool = False
    lexicon: bool = False
    labels: bool = False
    max_pieces: Annotated[float, Between(0, 1_000_000)] | None = None
    meant_for: str = "cpu"

    def __post_init__(self) -> None:
        check_fields(self)
        if unknown := sorted(set(self.margins) - set(self.modes)):
            raise ModelError(f"margins: the bundle has no mode {unknown[0]!r}")

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
            ngrams=False,
            lexicon=False,
            labels=False,
        )


def read_info(folder: Path) -> BundleInfo:
    """The content of a bundle's bundle.json. Raises ModelError if the file is missing, malformed, or of another
    format version.
    """
    return read_description(folder)[0]


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
