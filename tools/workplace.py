"""The folder in which the commands of a page run: example files, small training data, and small models in place of those of the hub."""

import lzma
import random
import shutil
import sys
from pathlib import Path
from unittest.mock import patch

from tools.pages import DOCS, ROOT

HUB = ("Helsinki-NLP/opus-mt-en-de", "facebook/nllb-200-distilled-600M", "facebook/bart-large-cnn")
"""Names of models of the Hugging Face hub. Small models in local folders of these names are used instead of downloads."""
_ENGLISH = ("red", "green", "house", "river", "old", "new", "man", "sun")
_GERMAN = ("rot", "gruen", "haus", "fluss", "alt", "neu", "mann", "sonne")


def prepare(folder: Path, text: str) -> None:
    """Write into `folder` the example files, training data and small models that the commands in `text`, a page's content, read."""
    shutil.copytree(DOCS / "examples", folder, dirs_exist_ok=True)
    for name in ("Makefile", "pyproject.toml", "setup.py"):
        shutil.copy(ROOT / name, folder)
    (folder / ".venv").symlink_to(sys.prefix)
    (folder / "tests").symlink_to(ROOT / "tests")
    pairs = _pairs(400)
    with lzma.open(folder / "corpus.tsv.xz", "wt", encoding="utf-8") as stream:
        stream.writelines(pairs[10:])
    _write(folder / "dev.tsv", pairs[:10])
    _write(folder / "mono.txt", [pair.partition("\t")[0] + "\n" for pair in pairs[10:60]])
    _write(folder / "dev.txt", [pair.partition("\t")[0] + "\n" for pair in pairs[:10]])
    people, days = ("man", "girl"), range(4, 8)
    clean = [f"The old {who} walks to the {where} every {day}th day.\n" for who in people for where in _ENGLISH for day in days]
    _write(folder / "clean.txt", clean)
    _write(folder / "simple.tsv", [f"{line[:-1]}\t{line}" for line in clean])
    for name in ("complex.txt", "simple.0.txt", "simple.1.txt", "article.txt", "articles.txt"):
        _write(folder / name, clean[:3])
    _write(folder / "pairs.tsv", [f"{line[:-1]}\t{line}" for line in clean[:3]])
    _write(folder / "dev.m2", ["S He go home .\n", "A 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0\n\n"] * 3)
    for name in HUB:
        if name in text:
            _stand_in(folder / name)


def _pairs(count: int) -> list[str]:
    """Up to `count` distinct lines of a random English phrase and its German translation, word for word."""
    generator = random.Random(0)
    made = dict.fromkeys(tuple(generator.choices(range(len(_ENGLISH)), k=generator.randint(1, 4))) for _ in range(4 * count))
    return [f"{' '.join(_ENGLISH[word] for word in one)}\t{' '.join(_GERMAN[word] for word in one)}\n" for one in list(made)[:count]]


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(lines), encoding="utf-8")


def _stand_in(folder: Path) -> None:
    """Save a small transformers model. A Marian model is trained to copy, so that its outputs end; others are untrained."""
    from tests.converters import huggingface

    folder.mkdir(parents=True)
    if "opus" in folder.name:
        huggingface.marian(folder)
        return
    with patch.object(huggingface, "train"):
        (huggingface.nllb if "nllb" in folder.name else huggingface.bart)(folder)
