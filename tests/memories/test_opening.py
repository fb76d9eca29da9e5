"""Opening of translation memories: the formats by the extension, what must be installed, and stored indices."""

import gzip
import lzma
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import specdec_cli
from specdec_cli.errors import InputError, UsageError
from specdec_cli.memories import memory
from specdec_cli.memories.found import EXACT, FoundDraft
from specdec_cli.memories.index import Index, build_index
from specdec_cli.memories.memory import RULE_FILES, open_memory, rules_version
from specdec_cli.memories.pairs import Entry
from tests.source import imported, modules

TMX = '<tmx><body><tu><tuv xml:lang="en"><seg>rain</seg></tuv><tuv xml:lang="de"><seg>Regen</seg></tuv></tu></body></tmx>'
PO = 'msgid "rain"\nmsgstr "Regen"\n'
TSV = "\ufeffrain\tRegen\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.TMX", TMX), ("a.tmx.gz", TMX), ("a.de.PO", PO), ("a.po.gz", PO), ("a.tmx.tsv", TSV), ("a.po.tsv.gz", TSV), ("a", TSV)],
)
def test_the_last_extension_names_the_format(name: str, content: str, tmp_path: Path) -> None:
    pytest.importorskip("lxml")
    path = written(tmp_path / name, content)
    assert open_memory(path, "en", "de", 70).find(["rain"]) == [FoundDraft("Regen", EXACT, "tm")]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xml", TMX, "line 1: 1 tab-separated field, expected 2 or 3; memories are .tmx, .po and TSV files"),
        ("a.tsv.gz", "rain", "line 1: 1 tab-separated field, expected 2 or 3"),
        ("a.TMX", TMX, "no translations from fr to de"),
        ("a.po", 'msgid ""\nmsgstr "Language: es\\n"\n\n' + PO, "no translations from fr to de"),
        ("a.tsv", "", "no translations"),
        ("a.po", 'msgid "a\nmsgstr "b"\n', "line 1: a string must be between double quotes"),
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
    monkeypatch.setattr(memory, "build_index", lambda _: pytest.fail("the index was built"))
    path = written(tmp_path / "a.tsv", TSV)
    with pytest.raises(UsageError, match=r"RapidFuzz: .* -m pip install"):
        open_memory(path, "en", "de", 70)


@pytest.fixture
def builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Indices of memories of any size are stored in a cache folder of the test; the function returns how many were built."""
    count = 0

    def build(pairs: Iterable[Entry]) -> Index:
        nonlocal count
        count += 1
        return build_index(pairs)

    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(memory, "WORTH_STORING", 1)
    monkeypatch.setattr(memory, "build_index", build)
    return lambda: count


def test_an_index_by_other_rules_is_made_again(builds: Callable[[], int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "a.tsv", TSV)
    for rules, expected in (("old", 1), ("old", 1), ("new", 2), ("new", 2)):
        monkeypatch.setattr(memory, "rules_version", lambda rules=rules: rules)
        open_memory(path, "en", "de", 70)
        assert builds() == expected


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("memories/a.py", True),
        ("text/segment/a.py", True),
        ("text/tags/inner/a.py", True),
        ("text/view.py", True),
        ("text/shape.py", False),
    ],
)
def test_the_rules_are_the_code_that_reads_memories(file: str, changes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("memories/a.py", *(f"{part}{'' if part.endswith('.py') else '/a.py'}" for part in RULE_FILES), file):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("a = 1\n")
    monkeypatch.setattr(memory, "__file__", str(tmp_path / "memories" / "memory.py"))
    before = rules_version.__wrapped__()
    (tmp_path / file).write_text("a = 2\n")
    assert (rules_version.__wrapped__() != before) is changes


def test_the_rules_have_all_code_that_memories_import() -> None:
    folder, seen = Path(specdec_cli.__file__).parent, set[str]()
    waiting = [name for name in modules() if name.startswith("specdec_cli.memories.")]
    while waiting:
        name = waiting.pop()
        if name not in seen and name.startswith(("specdec_cli.documents.", "specdec_cli.memories.", "specdec_cli.text.")):
            seen.add(name)
            waiting += imported(name)
    parts = [folder / part for part in RULE_FILES]
    outside = {modules()[name] for name in seen if not any(modules()[name].is_relative_to(part) for part in parts)}
    assert outside == set() and all(part.exists() for part in parts)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:0],
        lambda data: data[:8],
        lambda data: data[:40],
        lambda data: data[:-1],
        lambda data: data + bytes(64),
        lambda data: data[:20] + bytes(range(60)) + data[80:],
        lambda data: data[:16] + bytes(8) + data[24:],
        lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:],
        lambda data: bytes(8) + data[8:],
        lambda data: b"\xff" * len(data),
    ],
)
def test_a_damaged_index_is_made_again(damage: Callable[[bytes], bytes], builds: Callable[[], int], tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", TSV)
    open_memory(path, "en", "de", 70)
    (stored,) = (tmp_path / "cache").glob("memory-*.index")
    whole = stored.read_bytes()
    stored.write_bytes(damage(whole))
    assert open_memory(path, "en", "de", 70).find(["rain"]) == [FoundDraft("Regen", EXACT, "tm")]
    assert builds() == 2 and stored.read_bytes() == whole
    open_memory(path, "en", "de", 70)
    assert builds() == 2


def test_a_folder_in_the_place_of_an_index_is_no_error(builds: Callable[[], int], tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", TSV)
    open_memory(path, "en", "de", 70)
    (stored,) = (tmp_path / "cache").glob("memory-*.index")
    stored.unlink()
    (stored / "a").mkdir(parents=True)
    assert open_memory(path, "en", "de", 70).find(["rain"]) == [FoundDraft("Regen", EXACT, "tm")] and builds() == 2


def written(path: Path, content: str) -> Path:
    """Write a file, compressed if its name ends in .gz."""
    path.write_bytes(gzip.compress(content.encode()) if path.suffix == ".gz" else content.encode())
    return path


def test_a_nul_byte_is_an_error_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "memory.tsv").write_text("one\teins\ntwo\tzwei\0\n")
    with pytest.raises(InputError, match=r"memory\.tsv, line 2: holds a NUL byte"):
        open_memory(tmp_path / "memory.tsv", "en", "de", 70)
