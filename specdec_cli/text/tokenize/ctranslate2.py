"""Tokenization of text for CTranslate2 models in folders."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from specdec_cli.errors import ModelError
from specdec_cli.files import read_json
from specdec_cli.text.tokenize.loading import load_tokenizer
from specdec_cli.text.tokenize.segmenters import SentencePieceSegmenter
from specdec_cli.text.tokenize.tokenizer import Tokenizer

_SPECDEC_FILES = ("tokenizer.model", "tokenizer.model")
_FILES = (("source.spm", "target.spm"), _SPECDEC_FILES)


class FolderTokenizer:
    """The tokenizer in a CTranslate2 folder: that of a converted bundle, or SentencePiece models in the folder of
    any other model.

    `target_prefix` are the pieces that every output begins with. Raises ModelError if the folder has no tokenizer.
    """

    def __init__(self, folder: Path) -> None:
        config: dict[str, Any] = read_json(folder / "config.json", ModelError) if (folder / "config.json").exists() else {}
        self.eos = str(config.get("eos_token", "</s>"))
        self.target_prefix: list[str] = []
        self._adds_eos = bool(config.get("add_source_eos", True))
        self._sentencepiece: SentencePieceSegmenter | None = None
        found = [names for names in _FILES if all((folder / name).exists() for name in names)]
        if not found and not (folder / "tokenizer").exists():
            raise ModelError(f"{folder}: the folder has neither tokenizer.model nor source.spm and target.spm")
        is_ours = "max_positions" in config  # an attribute that specdec writes and CTranslate2 does not have
        if found and not (is_ours and found[0] == _SPECDEC_FILES):
            self._sentencepiece = SentencePieceSegmenter(folder, *found[0])
            return
        self._tokenizer = load_tokenizer(folder, config.get("source_language", ""), config.get("target_language", ""))
        if self._tokenizer.special_tokens.forced is not None:
            self.target_prefix = self._tokenizer.pieces([self._tokenizer.special_tokens.forced])

    @property
    def tokenizer(self) -> Tokenizer:
        """The bundle's tokenizer; only for folders that specdec has written."""
        return self._tokenizer

    def encode(self, text: str) -> list[str]:
        """The pieces of a source text as input of CTranslate2; with a bundle's tokenizer they include special
        tokens.

        EOS is left out if CTranslate2 adds it.
        """
        return self._sentencepiece.split(text) if self._sentencepiece else self.source_pieces(self._tokenizer.encode(text))

    def source_pieces(self, ids: Sequence[int]) -> list[str]:
        """The pieces of source ids with special tokens, as input of CTranslate2, without EOS if CTranslate2 adds it."""
        pieces = self._tokenizer.source_pieces(self._tokenizer.add_special_tokens(ids))
        return pieces[:-1] if self._adds_eos else pieces

    def decode(self, pieces: Sequence[str]) -> str:
        """The text of output pieces, which do not include EOS; a bundle's tokenizer leaves out pieces that it does not know."""
        if self._sentencepiece:
            return self._sentencepiece.join(pieces)
        return self._tokenizer.decode(number for number in map(self._tokenizer.id_of, pieces) if number is not None)
