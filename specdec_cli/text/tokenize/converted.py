"""Tokenizers of converted models: their segmenters, vocabularies and language tokens."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal, Self, TypeVar

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.fields import check_fields, config_from_dict
from specdec_cli.files import read_json, write_json
from specdec_cli.language_codes import short_code
from specdec_cli.text.tokenize.segmenters import (
    MosesBpeSegmenter,
    Segmenter,
    SentencePieceSegmenter,
    TokenizersSegmenter,
    library_errors,
    read_tokenizers_file,
)
from specdec_cli.text.tokenize.tokenizer import SPACE, SpecialTokens, Tokenizer, ids_of

T = TypeVar("T")
Kind = Literal["sentencepiece", "tokenizers", "moses-bpe"]
FOLDER = "tokenizer"
SOURCE, TARGET = "{source}", "{target}"
"""Strings in a TokenizerConfig that stand for the language tokens of the source and of the target."""


@dataclass(frozen=True)
class TokenizerConfig:
    """Configuration of a converted model's tokenizer; tokens are given as pieces, not ids.

    `kind` is the segmenter, loaded from `files` (names in the tokenizer's folder; SentencePiece may have one for
    each side). `unknown` is the piece for text that is not in the vocabulary, `mask` the piece that drafters read as
    the mask token. The special pieces `before` and `after` surround a source. Each target starts with `forced`, if
    given; `start`, if given, replaces the model's decoder start token. In place of a piece, "{source}" and
    "{target}" stand for the language tokens, which `languages` gives by language. `hidden` pieces are left out of
    decoded text. The words of `instruction` stand in front of each source, behind the pieces of `before`; in them too,
    "{source}" and "{target}" stand for what `languages` gives, if it gives anything. Raises ModelError for a field of a
    wrong type, a wrong number of files, or a file name with a path.
    """

    kind: Kind
    files: tuple[str, ...]
    unknown: str
    mask: str
    after: tuple[str, ...]
    before: tuple[str, ...] = ()
    forced: str | None = None
    start: str | None = None
    hidden: tuple[str, ...] = ()
    languages: Mapping[str, str] = field(default_factory=dict)
    instruction: str = ""

    def __post_init__(self) -> None:
        check_fields(self)
        max_files = 2 if self.kind == "sentencepiece" else 1
        if not 1 <= len(self.files) <= max_files:
            raise ModelError(f"files must be a list of {'one or two names' if max_files == 2 else 'one name'}, not of {len(self.files)}")
        outside = [name for name in self.files if name in ("", ".", "..") or "/" in name or "\0" in name]
        if outside:
            raise ModelError(f"files must be names in the tokenizer's folder, not {outside[0]!r}")


class ConvertedTokenizer(Tokenizer):
    """A tokenizer that splits text with a `segmenter` and looks up ids in vocabularies (lists of pieces by id).

    A `source_vocabulary` of None means that source and target share `vocabulary`. Raises ModelError for special pieces that
    are not in the vocabulary, and UsageError for a language without a language token.
    """

    def __init__(
        self,
        config: TokenizerConfig,
        segmenter: Segmenter,
        vocabulary: Sequence[str],
        source_vocabulary: Sequence[str] | None,
        source_language: str,
        target_language: str,
        path: Path,
    ) -> None:
        self.config, self._segmenter = config, segmenter
        self.languages = (source_language, target_language)
        self.path = path
        ids = ids_of(vocabulary)
        source_ids = ids if source_vocabulary is None else ids_of(source_vocabulary)
        languages = {SOURCE: ("source", source_language), TARGET: ("target", target_language)}

        def find_ids(field: str, pieces: Iterable[str], table: Mapping[str, int]) -> tuple[int, ...]:
            named = [("languages", self._language_token(*languages[piece])) if piece in languages else (field, piece) for piece in pieces]
            for key, piece in named:
                if piece not in table:
                    raise ModelError(f"{key} names {piece!r}, which the vocabulary does not have")
            return tuple(table[piece] for _, piece in named)

        def find_id(field: str, piece: str, table: Mapping[str, int]) -> int:
            return find_ids(field, [piece], table)[0]

        forced = None if config.forced is None else find_id("forced", config.forced, ids)
        start = None if config.start is None else find_id("start", config.start, ids)
        self._source_ids = source_ids
        self._unknown, self._unknown_source = (find_id("unknown", config.unknown, table) for table in (ids, source_ids))
        self.instruction = self._instruction()
        before = (*find_ids("before", config.before, source_ids), *self._instruction_ids())
        special_tokens = SpecialTokens(before, find_ids("after", config.after, source_ids), forced, start)
        never_shown = frozenset(config.hidden)
        hidden = [number for number, piece in enumerate(vocabulary) if piece in never_shown]
        super().__init__(vocabulary, special_tokens, hidden, find_id("mask", config.mask, ids), config.unknown, source_vocabulary)

    def _instruction(self) -> str:
        """The instruction with the names of the languages."""
        text = self.config.instruction
        if self.config.languages:
            for name, place, language in zip(("source", "target"), (SOURCE, TARGET), self.languages, strict=True):
                if place in text:
                    text = text.replace(place, self._language_token(name, language))
        return text

    def _instruction_ids(self) -> list[int]:
        """The ids of the instruction, which a space separates from the source."""
        text = self.instruction
        if not text.strip():
            return []
        pieces = self._split(text if text[-1].isspace() else f"{text} ")
        # This space belongs to the first piece of the source.
        return [self._source_ids.get(piece, self._unknown_source) for piece in (pieces[:-1] if pieces[-1] == SPACE else pieces)]

    def instructed(self, instruction: str) -> Self:
        """This tokenizer with another instruction in front of each source ("": none)."""
        config = replace(self.config, instruction=instruction)
        source = None if self.shared else self._source_vocabulary
        return type(self)(config, self._segmenter, self._vocabulary, source, *self.languages, self.path)

    @property
    def multilingual(self) -> bool:
        """Whether the model has language tokens, so that source and target language must be chosen."""
        return bool(self.config.languages)

    def encode(self, text: str) -> list[int]:
        """The ids of a source text, without special tokens. Raises ModelError if the segmenter's library fails."""
        return [self._source_ids.get(piece, self._unknown_source) for piece in self._split(text)]

    def _split(self, text: str) -> list[str]:
        with library_errors(self.path / self.config.files[0], "not usable on a text"):
            return self._segmenter.split(text)

    def encode_targets(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each target text, without special tokens. Raises ModelError if the segmenter's library fails."""
        with library_errors(self.path / self.config.files[0], "not usable on a text"):
            cut = [self._segmenter.split_target(text) for text in texts]
        return [[self._ids.get(piece, self._unknown) for piece in pieces] for pieces in cut]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of target ids without the configuration's hidden pieces. Raises ModelError if the segmenter's
        library fails.
        """
        with library_errors(self.path / self.config.files[0], "not usable on a text"):
            return self._segmenter.join(self.pieces(self._visible(ids)))

    def starts_word(self, piece: str) -> bool:
        """Whether `piece` begins a word, according to the segmenter."""
        return self._segmenter.starts_word(piece)

    def save(self, folder: Path) -> None:
        """Write the segmenter's files, the vocabularies and `config.json`, in this order, to `folder`/tokenizer."""
        own = folder / FOLDER
        own.mkdir(parents=True, exist_ok=True)
        self._segmenter.save(own)
        write_json(own / "vocabulary.json", {"target": self._vocabulary} | ({} if self.shared else {"source": self._source_vocabulary}))
        write_json(own / "config.json", asdict(self.config))

    def _language_token(self, side: str, language: str) -> str:
        """The token of the language of a side ("source" or "target"). Raises UsageError listing the languages of the model.

        A model may have another code for it ("eng_Latn" or "en_XX" for "en"), as long as no second one of its codes is of that language.
        """
        tokens = self.config.languages
        alike = [name for name in tokens if language and short_code(name) == short_code(language)]
        name = language if language in tokens else alike[0] if len(alike) == 1 else None
        if name is None:
            what = f"does not know the {side} language {language!r}" if language else f"needs a {side} language"
            raise UsageError(f"the model {what}; it knows {', '.join(sorted(tokens))}")
        return tokens[name]


@dataclass(frozen=True)
class _Vocabularies:
    """Target and source vocabulary as lists of pieces by id; `source` is None if both are the same."""

    target: tuple[str, ...]
    source: tuple[str, ...] | None = None


def load_converted(folder: Path, source_language: str, target_language: str) -> ConvertedTokenizer:
    """Load the tokenizer in `folder`/tokenizer for a source and a target language.

    Raises ModelError for missing or malformed files, and UsageError for a language that the model does not support.
    """
    own = folder / FOLDER
    config = _read(TokenizerConfig, own / "config.json")
    vocabularies = _read(_Vocabularies, own / "vocabulary.json")
    vocabulary, source_vocabulary = vocabularies.target, vocabularies.source
    absent = [name for name in config.files if not (own / name).exists()]
    if absent:
        raise ModelError(f"{own / 'config.json'}: files names {absent[0]!r}, which does not exist")
    segmenter = make_segmenter(config, own, source_language, target_language, [*vocabulary, *(source_vocabulary or [])])
    try:
        return ConvertedTokenizer(config, segmenter, vocabulary, source_vocabulary, source_language, target_language, own)
    except ModelError as error:
        raise ModelError(f"{own / 'config.json'}: {error}") from error


def _read(kind: type[T], path: Path) -> T:
    values = read_json(path, ModelError)
    try:
        return config_from_dict(kind, values)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error


def make_segmenter(config: TokenizerConfig, folder: Path, source: str, target: str, pieces: Sequence[str]) -> Segmenter:
    """Load the segmenter of `config` from `folder`, for the languages `source` and `target`; `pieces` is the
    vocabulary.

    Raises ModelError for missing or malformed files.
    """
    if config.kind == "sentencepiece":
        return SentencePieceSegmenter(folder, config.files[0], config.files[-1])
    if config.kind == "tokenizers":
        return TokenizersSegmenter(read_tokenizers_file(folder / config.files[0]), config.files[0])
    return MosesBpeSegmenter(folder, config.files[0], source, target, {c for piece in pieces for c in piece})
