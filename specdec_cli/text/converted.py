"""The tokenizer of a converted model: its own way of cutting text, its own vocabulary, its language tokens."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.fields import check_fields, config_from_dict
from specdec_cli.files import read_json, write_json
from specdec_cli.text.segmenters import MosesBpe, Segmenter, SentencePieces, TokenizersFile, library_errors, read_tokenizers_file
from specdec_cli.text.tokenizer import Frame, Tokenizer

T = TypeVar("T")
Kind = Literal["sentencepiece", "tokenizers", "moses-bpe"]
FOLDER = "tokenizer"
SOURCE, TARGET = "{source}", "{target}"
"""Stand for the language tokens in `before`, `after` and `forced`."""


@dataclass(frozen=True)
class TokenizerConfig:
    """How a converted model's text becomes ids; pieces stand for ids throughout.

    `kind` says what cuts text, made from `files`, which are names without a folder; SentencePiece may have one for each side.
    A source stands between `before` and `after`; each target begins with `forced`, if there is one, after `start`, where that is
    not the model's own. `languages` are the language tokens by the languages' names. `hidden` pieces vanish from text.
    Raises ModelError for a field that does not fit.
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

    def __post_init__(self) -> None:
        check_fields(self)
        most = 2 if self.kind == "sentencepiece" else 1
        if not 1 <= len(self.files) <= most:
            raise ModelError(f"files must be a list of {'one or two names' if most == 2 else 'one name'}, not of {len(self.files)}")
        outside = [name for name in self.files if name in ("", ".", "..") or "/" in name or "\0" in name]
        if outside:
            raise ModelError(f"files must be names in the tokenizer's folder, not {outside[0]!r}")


class ConvertedTokenizer(Tokenizer):
    """Pieces by a `segmenter`, ids by the vocabularies.

    Raises ModelError for a frame whose pieces are not in the vocabulary, and UsageError for a language that the model does
    not know.
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
        ids = {piece: number for number, piece in reversed(list(enumerate(vocabulary)))}
        source_ids = ids if source_vocabulary is None else {p: n for n, p in reversed(list(enumerate(source_vocabulary)))}
        languages = {SOURCE: ("source", source_language), TARGET: ("target", target_language)}

        def numbers(field: str, pieces: Iterable[str], table: Mapping[str, int]) -> tuple[int, ...]:
            named = [("languages", self._language_token(*languages[piece])) if piece in languages else (field, piece) for piece in pieces]
            for place, piece in named:
                if piece not in table:
                    raise ModelError(f"{place} names {piece!r}, which the vocabulary does not have")
            return tuple(table[piece] for _, piece in named)

        def number(field: str, piece: str, table: Mapping[str, int]) -> int:
            return numbers(field, [piece], table)[0]

        forced = None if config.forced is None else number("forced", config.forced, ids)
        start = None if config.start is None else number("start", config.start, ids)
        frame = Frame(numbers("before", config.before, source_ids), numbers("after", config.after, source_ids), forced, start)
        hidden = [place for place, piece in enumerate(vocabulary) if piece in config.hidden]
        super().__init__(vocabulary, frame, hidden, number("mask", config.mask, ids), config.unknown, source_vocabulary)
        self._source_ids = source_ids
        self._unknown, self._unknown_source = (number("unknown", config.unknown, table) for table in (ids, source_ids))

    @property
    def multilingual(self) -> bool:
        """Whether a pair of languages has to be chosen."""
        return bool(self.config.languages)

    def encode(self, text: str) -> list[int]:
        """The ids of a source text, without its frame."""
        with library_errors(self.path / self.config.files[0], "not usable on a text"):
            pieces = self._segmenter.split(text)
        return [self._source_ids.get(piece, self._unknown_source) for piece in pieces]

    def encode_targets(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of many target texts, without their frame."""
        with library_errors(self.path / self.config.files[0], "not usable on a text"):
            cut = [self._segmenter.split_target(text) for text in texts]
        return [[self._ids.get(piece, self._unknown) for piece in pieces] for pieces in cut]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of target ids; what is hidden vanishes."""
        with library_errors(self.path / self.config.files[0], "not usable on a text"):
            return self._segmenter.join(self.pieces(self._visible(ids)))

    def starts_word(self, piece: str) -> bool:
        """Whether a piece begins a word."""
        return self._segmenter.starts_word(piece)

    def save(self, folder: Path) -> None:
        """Store `tokenizer/` in `folder`; its `config.json` comes last."""
        own = folder / FOLDER
        own.mkdir(parents=True, exist_ok=True)
        self._segmenter.save(own)
        write_json(own / "vocabulary.json", {"target": self._vocabulary} | ({} if self.shared else {"source": self._source_vocabulary}))
        write_json(own / "config.json", asdict(self.config))

    def _language_token(self, side: str, language: str) -> str:
        """The token of a language, of the source or the target. Raises UsageError saying which languages there are."""
        tokens = self.config.languages
        alike = [name for name in tokens if name.partition("_")[0] == language]
        name = language if language in tokens else alike[0] if len(alike) == 1 else None
        if name is None:
            what = f"does not know the {side} language {language!r}" if language else f"needs a {side} language"
            raise UsageError(f"the model {what}; it knows {', '.join(sorted(tokens))}")
        return tokens[name]


@dataclass(frozen=True)
class _Vocabularies:
    """The pieces by id, those of a source in a list of their own where they differ."""

    target: tuple[str, ...]
    source: tuple[str, ...] | None = None


def load_converted(folder: Path, source_language: str, target_language: str) -> ConvertedTokenizer:
    """The tokenizer in `folder`/tokenizer for a pair of languages. Raises ModelError, and UsageError as its class does."""
    own = folder / FOLDER
    config = _read(TokenizerConfig, own / "config.json")
    vocabularies = _read(_Vocabularies, own / "vocabulary.json")
    vocabulary, source_vocabulary = vocabularies.target, vocabularies.source
    absent = [name for name in config.files if not (own / name).exists()]
    if absent:
        raise ModelError(f"{own / 'config.json'}: files names {absent[0]!r}, which is not there")
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
    """What `config` names, from its files in `folder`; `pieces` are those of both sides. Raises ModelError."""
    if config.kind == "sentencepiece":
        return SentencePieces(folder, config.files[0], config.files[-1])
    if config.kind == "tokenizers":
        return TokenizersFile(read_tokenizers_file(folder / config.files[0]), config.files[0])
    return MosesBpe(folder, config.files[0], source, target, {c for piece in pieces for c in piece})
