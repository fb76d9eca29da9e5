"""Loading of a bundle's tokenizer, whatever its kind."""

import hashlib
from pathlib import Path

from specdec_cli.errors import ModelError, cause_of
from specdec_cli.files import check_regular
from specdec_cli.text.tokenize.sentencepiece import FILE, Subwords
from specdec_cli.text.tokenize.tokenizer import Tokenizer


def load_tokenizer(folder: Path, source_language: str = "", target_language: str = "") -> Tokenizer:
    """Load the tokenizer in `folder`; the languages are needed only by multilingual models.

    Raises ModelError for missing or malformed files, and UsageError for a language that is missing or unknown.
    """
    if (folder / FILE).exists() or not (folder / "tokenizer").exists():
        return Subwords(folder / FILE)
    from specdec_cli.text.tokenize.converted import load_converted

    return load_converted(folder, source_language, target_language)


def tokenizer_digest(folder: Path) -> str:
    """The SHA-256 hash (hexadecimal) of the names and contents of the tokenizer's files in `folder`.

    Raises ModelError if a file is missing or cannot be read.
    """
    single, several = folder / FILE, folder / "tokenizer"
    files = [single] if single.exists() or not several.exists() else sorted(path for path in several.iterdir() if path.name[0] != ".")
    digest = hashlib.sha256()
    for path in files:
        check_regular(path, ModelError)
        try:
            with path.open("rb") as stream:
                digest.update(f"{path.name} {hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
        except OSError as error:
            raise ModelError(f"{path}: {cause_of(error)}") from error
    return digest.hexdigest()
