"""Opening of translation memories: the formats by the extension, what must be installed, and stored indices."""

import gzip
import lzma
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from specdec_cli.errors import InputError, UsageError
from specdec_cli.memories import opening
from specdec_cli.memories.found import EXACT, FoundDraft
from specdec_cli.memories.index import Index, build_index
from specdec_cli.memories.opening import open_memory
from specdec_cli.memories.pairs import Entry

TMX = '<tmx><body><tu><tuv xml:lang="en"><seg>rain</seg></tuv><tuv xml:lang="de"><seg>Regen</seg></tuv></tu></body></tmx>'
PO = 'msgid "rain"\nmsgstr "Regen"\n'
TSV = "\ufeffrain\tRegen\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.TMX", TMX), ("a.tmx.gz", TMX), ("a.de.PO", PO), ("a.po.gz", PO), ("a.tmx.tsv", TSV), ("a.po.tsv.gz", TSV), ("a", TSV)],
)
def test_the_last_extension_names_the_format(name: str, content: str, tmp_path: Path) -> None:
    pytest.importorskip("lxml")
    pytest.importorskip("polib")
    path = written(tmp_path / name, content)
    assert open_memory(path, "en", "de", 70).find(["rain"]) == [FoundDraft("Regen", EXACT, "tm")]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xml", TMX, "line 1: 1 tab-separated fields, expected 2 or 3; memories are .tmx, .po and TSV files"),
        ("a.tsv.gz", "rain", "line 1: 1 tab-separated fields, expected 2 or 3"),
        ("a.TMX", TMX, "no translations from fr to de"),
        ("a.po", 'msgid ""\nmsgstr "Language: es\\n"\n\n' + PO, "no translations from fr to de"),
        ("a.tsv", "", "no translations"),
    ],
)
def test_messages_name_the_format_or_the_languages(name: str, content: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path / name, content)
    with pytest.raises(InputError) as error:
        open_memory(path, "fr", "de", 70)
    assert str(error.value).startswith(f"{path}") and str(error.value).endswith(f" {message}")


@pytest.mark.parametrize("name", ["a.tmx.gz", "a.tmx.xz", "a.po.gz", "a.po.xz", "a.tsv.gz", "a.tsv.xz"])
def test_damaged_compressed_files_are_named(name: str, tmp_path: Path) -> None:
    compress = lzma.compress if name.endswith(".xz") else gzip.compress
    whole = bytearray(compress((TMX + "\n").encode() * 1000))
    for place in range(len(whole) // 2 - 10, len(whole) // 2):
        whole[place] ^= 0xFF
    (tmp_path / name).write_bytes(whole)
    with pytest.raises(InputError, match=re.escape(f"{tmp_path / name}")):
        open_memory(tmp_path / name, "en", "de", 70)


def test_a_missing_library_is_reported_before_the_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    monkeypatch.setattr(opening, "build_index", lambda _: pytest.fail("the index was built"))
    path = written(tmp_path / "a.tsv", TSV)
    with pytest.raises(UsageError, match="RapidFuzz: pip install"):
        open_memory(path, "en", "de", 70)


def test_an_index_by_other_rules_of_reading_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builds = 0

    def build(pairs: Iterable[Entry]) -> Index:
        nonlocal builds
        builds += 1
        return build_index(pairs)

    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(opening, "WORTH_STORING", 1)
    monkeypatch.setattr(opening, "build_index", build)
    path = written(tmp_path / "a.tsv", TSV)
    for rules, expected in ((1, 1), (1, 1), (2, 2)):
        monkeypatch.setattr(opening, "READING", rules)
        open_memory(path, "en", "de", 70)
        assert builds == expected


def written(path: Path, content: str) -> Path:
    """Write a file, compressed if its name ends in .gz."""
    path.write_bytes(gzip.compress(content.encode()) if path.suffix == ".gz" else content.encode())
    return path
