"""Translation memories: what the index finds, and index files."""

import os
from itertools import starmap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_cli.errors import InputError
from specdec_cli.files import cache_folder
from specdec_cli.memories import memory
from specdec_cli.memories.found import EXACT, FoundDraft
from specdec_cli.memories.index import build_index, features, map_index, write_index
from specdec_cli.memories.memory import Memory, open_memory
from specdec_cli.memories.pairs import Entry, sentence_pairs
from specdec_cli.text.corpus.parallel import Pair

fuzz = pytest.importorskip("rapidfuzz.fuzz")

WORDS = ("the", "of", "device", "button", "press", "start", "stop", "rain", "你好世界", "über", "straße", "don't", "42")
Words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9)
Sentences = Words.map(" ".join)


def best(sources: dict[str, str], sentence: str) -> float:
    """The highest similarity of all sources to a sentence."""
    return max(float(fuzz.ratio(sentence, source)) for source in sources)


@given(st.dictionaries(Sentences, Sentences, min_size=1, max_size=30), Sentences, st.sampled_from([0, 50, 70, 95, 100]))
@settings(deadline=None, max_examples=150)
def test_a_small_memory_finds_what_a_full_scan_finds(sources: dict[str, str], sentence: str, similarity: int) -> None:
    (found,) = Memory(build_index(starmap(Entry, sources.items())), similarity).find([sentence])
    highest = best(sources, sentence)
    if highest < similarity or (found is None and highest == similarity == 0):
        assert found is None
    else:
        assert found is not None
        assert found.similarity == pytest.approx(highest)
        assert found.text in {target for source, target in sources.items() if fuzz.ratio(sentence, source) == pytest.approx(highest)}


@given(st.dictionaries(Sentences, Sentences, min_size=40, max_size=60), Sentences, st.sampled_from([50, 70, 95]))
@settings(deadline=None, max_examples=100)
def test_the_index_finds_what_a_full_scan_of_entries_with_a_common_word_finds(
    sources: dict[str, str], sentence: str, similarity: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "ALL", 0)
        (found,) = Memory(build_index(starmap(Entry, sources.items())), similarity).find([sentence])
    words = set(features(sentence))
    alike = {source: target for source, target in sources.items() if words & set(features(source))}
    highest = best(alike, sentence) if alike else 0.0
    assert (found.similarity if found else 0.0) == pytest.approx(highest if highest >= similarity else 0.0)


@given(st.dictionaries(Sentences, Sentences, min_size=1, max_size=60))
@settings(deadline=None, max_examples=50)
def test_equal_sources_are_always_found(sources: dict[str, str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "ALL", 0)
        patch.setattr(memory, "CANDIDATES", 1)
        patch.setattr(memory, "POSTINGS", 8)
        found = Memory(build_index(starmap(Entry, sources.items())), 100).find(list(sources))
    assert found == [FoundDraft(target, EXACT, "tm") for target in sources.values()]


def test_candidates_and_postings_are_bounded() -> None:
    sources = {f"press the button number {number} twice": str(number) for number in range(9000)}
    found = Memory(build_index(starmap(Entry, sources.items())), 60).find(["press the button number 4321 once", "press the button"])
    assert found[0] is not None and found[0].text == "4321"
    assert found[1] is not None and found[1].similarity == pytest.approx(best(sources, "press the button"))


def test_the_last_of_equal_sources_is_kept() -> None:
    assert Memory(build_index([Entry("a", "x"), Entry("b", "y"), Entry("a", "z")]), 100).find(["a"]) == [FoundDraft("z", EXACT, "tm")]


def test_entries_win_over_guesses() -> None:
    index = build_index([Entry("a", "x"), Entry("a", "y", guessed=True), Entry("b", "z", guessed=True), Entry("b", "w", guessed=True)])
    assert Memory(index, 100).find(["a", "b"]) == [FoundDraft("x", EXACT, "tm"), FoundDraft("w", EXACT, "tm", guessed=True)]


@given(st.dictionaries(st.text(max_size=9), st.text(max_size=9), max_size=20))
@settings(deadline=None, max_examples=30)
def test_index_files_keep_every_entry(tmp_path_factory: pytest.TempPathFactory, sources: dict[str, str]) -> None:
    path = tmp_path_factory.mktemp("index") / "own.index"
    assert write_index(path, build_index(starmap(Entry, sources.items())), "key")
    mapped = map_index(path, "key")
    assert mapped is not None
    assert dict(zip(mapped.sources.at(range(len(mapped))), mapped.targets.at(range(len(mapped))), strict=True)) == sources
    assert map_index(path, "another key") is None


def test_damaged_index_files_are_made_again(tmp_path: Path) -> None:
    index = build_index([Entry("press the button", "Knopf"), Entry("rain", "Regen", guessed=True)])
    path = tmp_path / "own.index"
    write_index(path, index, "key")
    whole = path.read_bytes()
    for damaged in (b"", whole[:50], whole[:-1], whole + b"\0", b"x" + whole[1:]):
        path.write_bytes(damaged)
        assert map_index(path, "key") is None
    assert map_index(path, "other key") is None
    padding = range(8 * 19, 192)  # after the numbers of the header
    for place in (place for place in range(len(whole)) if place not in padding):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x20]) + whole[place + 1 :])
        assert map_index(path, "key") is None, place
    path.write_bytes(whole)
    assert map_index(path, "key") is not None


def test_a_large_memory_is_mapped_until_the_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "WORTH_STORING", 2)
    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "memory.tsv"
    path.write_text("rain\tRegen\nsun\tSonne\n")
    assert open_memory(path, "en", "de", 70).find(["rain"]) == [FoundDraft("Regen", EXACT, "tm")]
    assert len(list(cache_folder().glob("memory-*.index"))) == 1
    monkeypatch.setattr(memory, "build_index", lambda _: pytest.fail("made again"))
    assert open_memory(path, "en", "de", 70).find(["sun"]) == [FoundDraft("Sonne", EXACT, "tm")]
    monkeypatch.undo()
    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path / "cache"))
    path.write_text("rain\tRegenfall\nsun\tSonne\n")
    os.utime(path, (1, 1))
    assert open_memory(path, "en", "de", 70).find(["rain"]) == [FoundDraft("Regenfall", EXACT, "tm")]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tsv", b"rain\tRegen\nsun\n", "line 2: 1 tab-separated field, expected 2"),
        ("a.tsv", b"", "no translations"),
        ("a.tsv", b"rain\tRegen\ncaf\xe9\tx\n", "line 2: not valid UTF-8"),
        ("a.tmx", b"<tmx>\n<body>\n<tu>\n</body></tmx>", "line 4: Opening and ending tag mismatch"),
        ("a.tmx", b"\n<html/>", "line 2: <html>, expected <tmx>"),
        ("a.tmx", b"", "line 1: no element found"),
        ("a.tmx", b"<tmx><body/></tmx>", "no translations from en to de"),
        ("a.po", b'msgid "a"\nmsgstr "b"\nmsgfoo "x"\n', "line 3: not a line of a PO file"),
        ("a.po", b'msgid "a"\nmsgstr "caf\xe9"\n', "line 2: not valid UTF-8"),
        ("a.po", b'msgid "a"\nmsgstr "caf\0"\n', "line 2: holds a NUL byte"),
    ],
)
def test_bad_files_are_named_with_the_line(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as error:
        open_memory(tmp_path / name, "en", "de", 70)
    assert str(error.value).startswith(f"{tmp_path / name}") and message in str(error.value)


def test_sizes_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory.tsv"
    path.write_text("rain\tRegen\nsun\tSonne\n")
    monkeypatch.setattr(memory, "MOST_ENTRIES", 1)
    with pytest.raises(InputError, match="more than 1 entries"):
        open_memory(path, "", "", 70)
    monkeypatch.setattr(memory, "LARGEST", 10)
    with pytest.raises(InputError, match="larger than"):
        open_memory(path, "", "", 70)
    with pytest.raises(InputError, match="no such file"):
        open_memory(tmp_path / "missing.po", "", "", 70)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="not a regular file"):
        open_memory(tmp_path / "pipe", "", "", 70)


@pytest.mark.parametrize(
    ("source", "target", "tagged"),
    [
        ("Please <b>save</b> now.", "Jetzt <b>speichern</b>.", ("Please <b>save</b> now.", "Jetzt <b>speichern</b>.")),
        ("<i>Please <b>save</b></i>", "<i><b>Speichern</b> bitte</i>", ("Please <b>save</b>", "<b>Speichern</b> bitte")),
        ("Please <b>save</b>", "<b>Speichern</b>", ("Please <b>save</b>", "<b>Speichern</b>")),
        ("<b>Save</b>", "Jetzt <b>speichern</b>", ("", "")),
        ("- <b>Save</b> it", "- <b>Speichern</b> Sie", ("", "")),
        ("Please <b>save</b>", "Bitte speichern", ("", "")),
        ("Please <b>save</b>", "Bitte <i>speichern</i>", ("", "")),
        ("Save", "Speichern", ("", "")),
    ],
)
def test_entries_keep_their_tags(source: str, target: str, tagged: tuple[str, str], tmp_path: Path) -> None:
    (entry,) = sentence_pairs([Pair(source, target)])
    assert entry.tagged == tagged and "<" not in entry.source + entry.target
    write_index(tmp_path / "index", build_index([entry]), "key")
    index = map_index(tmp_path / "index", "key")
    assert index is not None
    assert Memory(index, 100).find([entry.source]) == [FoundDraft(entry.target, EXACT, "tm", tagged=tagged)]
