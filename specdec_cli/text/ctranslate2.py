"""Text for a CTranslate2 folder: which pieces its model reads, and what its pieces say."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from specdec_cli.errors import ModelError
from specdec_cli.files import read_json
from specdec_cli.text.loading import load_tokenizer
from specdec_cli.text.segmenters import SentencePieces
from specdec_cli.text.tokenizer import Tokenizer

_OURS = ("tokenizer.model", "tokenizer.model")
_FOREIGN = (("source.spm", "target.spm"), _OURS)


class FolderText:
    """The tokenizer that lies in a CTranslate2 folder: one of ours, or SentencePiece models beside somebody else's model.

    `target_prefix` are the pieces that every output begins with. Raises ModelError where no tokenizer is found.
    """

    def __init__(self, folder: Path) -> None:
        config: dict[str, Any] = read_json(folder / "config.json", ModelError) if (folder / "config.json").exists() else {}
        self.eos = str(config.get("eos_token", "</s>"))
        self.target_prefix: list[str] = []
        self._adds_eos = bool(config.get("add_source_eos", True))
        self._foreign: SentencePieces | None = None
        found = [names for names in _FOREIGN if all((folder / name).exists() for name in names)]
        if not found and not (folder / "tokenizer").exists():
            raise ModelError(f"{folder}: the folder has neither tokenizer.model nor source.spm and target.spm")
        ours = "max_positions" in config  # which CTranslate2 does not know, and we always write
        if found and not (ours and found[0] == _OURS):
            self._foreign = SentencePieces(folder, *found[0])
            return
        self._tokenizer = load_tokenizer(folder, config.get("source_language", ""), config.get("target_language", ""))
        if self._tokenizer.frame.forced is not None:
            self.target_prefix = self._tokenizer.pieces([self._tokenizer.frame.forced])

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of a folder of ours."""
        return self._tokenizer

    def encode(self, text: str) -> list[str]:
        """The pieces to hand to CTranslate2 for a source; where it adds EOS itself, without that."""
        return self._foreign.split(text) if self._foreign else self.framed(self._tokenizer.encode(text))

    def framed(self, ids: Sequence[int]) -> list[str]:
        """The pieces to hand over for source ids."""
        pieces = self._tokenizer.source_pieces(self._tokenizer.framed(ids))
        return pieces[:-1] if self._adds_eos else pieces

    def decode(self, pieces: Sequence[str]) -> str:
        """The text of an output's pieces, without EOS."""
        if self._foreign:
            return self._foreign.join(pieces)
        return self._tokenizer.decode(number for number in map(self._tokenizer.id_of, pieces) if number is not None)
