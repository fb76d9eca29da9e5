"""A user's list of words: its file stays what its writer made of it, but for the words that are added and deleted."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from specdec_cli.api import Corrector
from specdec_cli.errors import InputError
from specdec_cli.text.io.word_list import LONGEST_WORD, MOST_WORDS, WordList
from tests.command_line import run


def test_words_are_added_and_deleted_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    words = WordList.of_file(path, may_be_missing=True)
    assert (words.words, words.add("conda"), words.add("Macos"), words.add("conda")) == ((), True, True, False)
    assert path.read_text() == "conda\nMacos\n"
    assert (words.delete("conda"), words.delete("conda"), words.words) == (True, False, ("Macos",))
    assert WordList.of_file(path).words == ("Macos",)


def test_comments_and_changes_by_an_editor_stay(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes("\ufeff# names\r\nAnna  Lena\r\n\r\nconda".encode())
    words = WordList.of_file(path)
    assert words.words == ("Anna Lena", "conda")
    path.write_bytes(path.read_bytes() + b"\nnginx")
    words.add("redis")
    assert path.read_bytes() == b"# names\r\nAnna  Lena\r\n\r\nconda\nnginx\nredis\n"
    words.delete("conda")
    assert path.read_bytes() == b"# names\r\nAnna  Lena\r\n\r\nnginx\nredis\n"
    path.unlink()
    assert words.add("x") and path.read_text() == "x\n"


def test_words_of_many_threads_are_all_kept(tmp_path: Path) -> None:
    words = WordList.of_file(tmp_path / "words.txt", may_be_missing=True)
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(words.add, (f"word{number}" for number in range(60))))
    assert set(WordList.of_file(words.path).words) == {f"word{number}" for number in range(60)}


@pytest.mark.parametrize("word", ["", " ", "two words", "a\tb", "a\nb", "# x", "#x", "--", "a\0", "x" * (LONGEST_WORD + 1), "a\u2028b"])
def test_words_that_a_list_cannot_hold_are_refused(word: str, tmp_path: Path) -> None:
    words = WordList.of_file(tmp_path / "words.txt", may_be_missing=True)
    with pytest.raises(ValueError, match="a word must"):
        words.add(word)
    assert not words.path.exists()


def test_a_full_list_takes_no_more_words(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("".join(f"w{number}\n" for number in range(MOST_WORDS)))
    words = WordList.of_file(path)
    with pytest.raises(ValueError, match="50,000 words"):
        words.add("more")
    path.write_text(path.read_text() + "more\n")
    with pytest.raises(InputError, match=rf"words.txt, line {MOST_WORDS + 1}: more than 50,000 words"):
        WordList.of_file(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\n" + b"x" * 101 + b"\n", "words.txt, line 2: longer than 100 characters"),
        (b"a\n\nb\xff\n", "words.txt, line 3: not valid UTF-8"),
        (b"a\nb\0\n", "words.txt, line 2: holds a NUL byte"),
    ],
)
def test_a_fault_of_a_list_is_named_with_its_line(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_bytes(content)
    with pytest.raises(InputError, match=message):
        WordList.of_file(tmp_path / "words.txt")


@pytest.mark.parametrize("name", ["-", "words.txt.gz", "missing.txt"])
def test_only_plain_files_are_lists(name: str) -> None:
    with pytest.raises(InputError, match=name):
        WordList.of_file(Path(name))


def test_corrections_leave_listed_words_alone(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("recieve\n")
    text = "I recieve a letter. My freind have two brothers.\n"
    result = run("correct", "--threads", "1", "--words", path, text=text.encode())
    assert (result.exit_code, result.stdout) == (0, "I recieve a letter. My friend has two brothers.\n")
    assert Corrector(words=path, threads=1).correct(text).text == result.stdout
    result = run("correct", "--words", tmp_path / "none.txt", text=b"a\n")
    assert result.exit_code == 3 and "none.txt" in result.stderr
