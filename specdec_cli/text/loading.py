"""The tokenizer of a bundle, whichever kind it is."""

from pathlib import Path

from specdec_cli.text import subwords
from specdec_cli.text.tokenizer import Tokenizer


def load_tokenizer(folder: Path, source_language: str = "", target_language: str = "") -> Tokenizer:
    """The tokenizer that lies in `folder`, for a pair of languages where it knows several. Raises ModelError or UsageError."""
    if (folder / subwords.FILE).exists() or not (folder / "tokenizer").exists():
        return subwords.Subwords(folder / subwords.FILE)
    from specdec_cli.text.converted import load_converted

    return load_converted(folder, source_language, target_language)
