"""The tokenizer of a converted model: its own way of cutting text, its own vocabulary, its language tokens."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.files import read_json, write_json
from specdec_cli.text.segmenters import MosesBpe, Segmenter, SentencePieces, TokenizersFile, read_tokenizers_file
from specdec_cli.text.tokenizer import Frame, Tokenizer

FOLDER = "tokenizer"
SOURCE, TARGET = "{source}", "{target}"
"""Stand for the language tokens in `before`, `after` and `forced`."""


@dataclass(frozen=True)
class TokenizerConfig:
    """How a converted model's text becomes ids; pieces stand for ids throughout.

    `kind` is sentencepiece, tokenizers or moses-bpe, made from `files`. A source stands between `before` and `after`; each
    target begins with `forced`, if there is one, after `start`, where that is not the model's own. `languages` are the
    language tokens by the languages' names. `hidden` pieces vanish from text.
    """

    kind: str
    files: tuple[str, ...]
    unknown: str
    mask: str
    after: tuple[str, ...]
    before: tuple[str, ...] = ()
    forced: str | None = None
    start: str | None = None
    hidden: tuple[str, ...] = ()
    languages: Mapping[str, str] = field(default_factory=dict)


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
        languages = {SOURCE: source_language, TARGET: target_language}

        def numbers(pieces: Iterable[str], table: Mapping[str, int]) -> tuple[int, ...]:
            named = [self._language_token(languages[piece]) if piece in languages else piece for piece in pieces]
            absent = [piece for piece in named if piece not in table]
            if absent:
                raise ModelError(f"the vocabulary has no {absent[0]!r}, which stands round every text")
            return tuple(table[piece] for piece in named)

        forced = None if config.forced is None else numbers([config.forced], ids)[0]
        start = None if config.start is None else numbers([config.start], ids)[0]
        frame = Frame(numbers(config.before, source_ids), numbers(config.after, source_ids), forced, start)
        hidden = [number for number, piece in enumerate(vocabulary) if piece in set(config.hidden)]
        super().__init__(vocabulary, frame, hidden, numbers([config.mask], ids)[0], config.unknown, source_vocabulary)
        self._source_ids = source_ids
        self._unknown, self._unknown_source = numbers([config.unknown], ids)[0], numbers([config.unknown], source_ids)[0]

    @property
    def multilingual(self) -> bool:
        """Whether a pair of languages has to be chosen."""
        return bool(self.config.languages)

    def encode(self, text: str) -> list[int]:
        """The ids of a source text, without its frame."""
        return [self._source_ids.get(piece, self._unknown_source) for piece in self._segmenter.split(text)]

    def encode_targets(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of many target texts, without their frame."""
        return [[self._ids.get(piece, self._unknown) for piece in self._segmenter.split_target(text)] for text in texts]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of target ids; what is hidden vanishes."""
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

    def _language_token(self, language: str) -> str:
        """Raises UsageError saying which languages there are."""
        tokens = self.config.languages
        alike = [name for name in tokens if name.partition("_")[0] == language]
        name = language if language in tokens else alike[0] if len(alike) == 1 else None
        if name is None:
            what = f"the model does not know the language {language!r}" if language else "the model needs a language for each side"
            raise UsageError(f"{what} (--source-language, --target-language); it knows {', '.join(sorted(tokens))}")
        return tokens[name]


def load_converted(folder: Path, source_language: str, target_language: str) -> ConvertedTokenizer:
    """The tokenizer in `folder`/tokenizer for a pair of languages. Raises ModelError, and UsageError as its class does."""
    own = folder / FOLDER
    values: dict[str, Any] = read_json(own / "config.json", ModelError)
    vocabularies = read_json(own / "vocabulary.json", ModelError)
    try:
        plain: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        config = TokenizerConfig(**plain)
        vocabulary: list[str] = vocabularies["target"]
        source_vocabulary: list[str] | None = vocabularies.get("source")
    except (TypeError, KeyError) as error:
        raise ModelError(f"{own}: {error}") from error
    pieces = [*vocabulary, *(source_vocabulary or [])]
    segmenter = make_segmenter(config, own, source_language, target_language, pieces)
    return ConvertedTokenizer(config, segmenter, vocabulary, source_vocabulary, source_language, target_language, own)


def make_segmenter(config: TokenizerConfig, folder: Path, source: str, target: str, pieces: Sequence[str]) -> Segmenter:
    """What `config` names, from its files in `folder`; `pieces` are those of both sides. Raises ModelError."""
    makers: dict[str, Any] = {
        "sentencepiece": lambda: SentencePieces(folder, config.files[0], config.files[-1]),
        "tokenizers": lambda: TokenizersFile(read_tokenizers_file(folder / config.files[0]), config.files[0]),
        "moses-bpe": lambda: MosesBpe(folder, config.files[0], source, target, {c for piece in pieces for c in piece}),
    }
    if config.kind not in makers:
        raise ModelError(f"{folder}: unknown kind of tokenizer {config.kind!r}; known are {', '.join(makers)}")
    segmenter: Segmenter = makers[config.kind]()
    return segmenter
