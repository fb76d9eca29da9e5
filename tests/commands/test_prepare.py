"""`specdec prepare` from end to end."""

import gzip
import json
import re
from pathlib import Path

import pytest

from specdec_cli.text.corpus.parallel import Pair, read_tsv
from specdec_cli.text.tokenize.sentencepiece import Subwords
from tests import command_line
from tests.command_line import Result, done
from tests.conftest import largest_file, make_lines

WORDS = ["the", "small", "red", "house", "stands", "near", "an", "old", "green", "river", "under", "blue", "sky"]
LINES = [f"{WORDS[i % 13]} {WORDS[i * 5 % 13]} {WORDS[i * 7 % 12]} {i}" for i in range(150)]


def run(*arguments: object) -> Result:
    return command_line.run("prepare", *arguments)


@pytest.fixture
def tsv(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"home\t{line}\t{line.upper()}\n" for line in LINES))
    return path


def test_prepare_writes_data_vocabulary_and_manifest(tmp_path: Path, tsv: Path) -> None:
    result = done(run(tmp_path / "out", tsv, "--vocabulary-size", 320))
    assert result.stdout == ""
    assert "kept" in result.stderr
    assert (tmp_path / "out" / "train.tsv").read_text() == tsv.read_text()
    subwords = Subwords(tmp_path / "out" / "tokenizer.model")
    assert len(subwords) == 320
    assert subwords.decode(subwords.encode("Größe  of the house")) == "Größe  of the house"
    manifest = json.loads((tmp_path / "out" / "prepare.json").read_text())
    assert manifest["pairs"] == {"read": 150, "kept": 150, "written": 150, "dropped": {}}
    assert manifest["vocabulary_size"] == 320
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["prepare.json", "tokenizer.model", "train.tsv"]


def test_the_path_of_the_pairs_is_shown_whole(tmp_path: Path, tsv: Path) -> None:
    folder = tmp_path / "a folder with a long name, [v1] of the text"
    assert f"{folder}/train.tsv\n" in run(folder, tsv, "--vocabulary-size", 320).stderr


def test_numbers_vary_on_request(tmp_path: Path, tsv: Path) -> None:
    result = done(run(tmp_path / "out", tsv, "--same-numbers", "--vary", 1, "--vocabulary-size", 320))
    before, after = (list(read_tsv(path)) for path in (tsv, tmp_path / "out" / "train.tsv"))
    assert [pair.source.rpartition(" ")[0] for pair in after] == [pair.source.rpartition(" ")[0] for pair in before]
    assert all(pair.target == pair.source.upper() for pair in after)
    manifest = json.loads((tmp_path / "out" / "prepare.json").read_text())
    changed = sum(one.source != other.source for one, other in zip(before, after, strict=True))
    assert manifest["varied"] == {"share": 1.0, "pairs": changed}
    assert f"varied │ {changed}" in result.stderr.replace("   ", " ").replace("  ", " ")
    assert manifest["rules"]["same_numbers"]


def test_copies_with_other_names_are_added_on_request(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    plain = [" ".join(line.split()[:3]) for line in LINES]
    path.write_text("Tom saw 25 birds.\tTom sah 25 Vögel.\n" + "".join(f"{line}\t{line}\n" for line in plain), encoding="utf-8")
    result = done(run(tmp_path / "out", path, "--vocabulary-size", 300, "--number-copies", 1, "--name-copies", 2))
    copies = [(pair.source.split(), pair.target.split()) for pair in read_tsv(tmp_path / "out" / "train.tsv") if "birds" in pair.source]
    assert len(copies) == 6 and copies[0] == (["Tom", "saw", "25", "birds."], ["Tom", "sah", "25", "Vögel."])
    assert all((source[0], target[1], target[3]) == (target[0], "sah", "Vögel.") for source, target in copies)
    assert len({source[0] for source, _ in copies}) > 2 and len({source[2] for source, _ in copies}) == 2
    manifest = json.loads((tmp_path / "out" / "prepare.json").read_text())
    assert manifest["copied"] == {"copies": 1, "pairs": 1} and manifest["names_copied"] == {"copies": 2, "pairs": 4}
    assert "copies with other names" in result.stderr


def test_dropped_pairs_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    rows = ["a\tb", "a\tb", "\tb", "x" * 41 + "\ty", "x" * 30 + "\ty", "n\0\tn", *(f"{line}\t{line}" for line in LINES)]
    path.write_text("".join(row + "\n" for row in rows))
    done(run(tmp_path / "out", path, "--vocabulary-size", 300, "--max-characters", 40))
    manifest = json.loads((tmp_path / "out" / "prepare.json").read_text())
    reasons = {"duplicate": 1, "empty or too short": 1, "too long": 1, "length ratio": 1, "NUL byte": 1}
    assert manifest["pairs"] == {"read": 156, "kept": 151, "written": 151, "dropped": reasons}


def test_aligned_and_compressed_files_are_read(tmp_path: Path) -> None:
    source, target = tmp_path / "a.en.gz", tmp_path / "a.de"
    source.write_bytes(gzip.compress("".join(line + "\n" for line in LINES).encode()))
    target.write_text("".join(line.upper() + "\n" for line in LINES[:-1]) + "tab\tinside\n")
    result = run(tmp_path / "out", "--source", source, "--target", target, "--vocabulary-size", 320, "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    assert list(read_tsv(tmp_path / "out" / "train.tsv")) == [Pair(line, line.upper()) for line in LINES[:-1]]


def test_only_chosen_domains_are_kept(tmp_path: Path, tsv: Path) -> None:
    more = tmp_path / "more.tsv"
    more.write_text("web\tone\teins\nchat\ttwo\tzwei\n")
    assert run(tmp_path / "out", more, tsv, "--domain", "h?me", "--domain", "chat", "--vocabulary-size", 320).exit_code == 0
    pairs = list(read_tsv(tmp_path / "out" / "train.tsv"))
    assert pairs[0] == Pair("two", "zwei", "chat")
    assert len(pairs) == 151
    more.write_text("one\teins\n")
    assert "1 pair (line without a domain)" in run(tmp_path / "none", more, "--domain", "chat").stderr


def test_held_out_pairs_are_dropped(tmp_path: Path, tsv: Path) -> None:
    dev = tmp_path / "dev.tsv"
    dev.write_text(f"{LINES[3].upper()}!\tx\ny\t{LINES[7]}\n")
    done(run(tmp_path / "out", tsv, "--held-out", dev, "--vocabulary-size", 320))
    manifest = json.loads((tmp_path / "out" / "prepare.json").read_text())
    assert manifest["pairs"] == {"read": 150, "kept": 148, "written": 148, "dropped": {"held out": 2}}
    assert manifest["held_out"] == [str(dev)]
    kept = {pair.source for pair in read_tsv(tmp_path / "out" / "train.tsv")}
    assert kept == set(LINES) - {LINES[3], LINES[7]}


def test_an_existing_tokenizer_is_used(tmp_path: Path, tsv: Path) -> None:
    run(tmp_path / "first", tsv, "--vocabulary-size", 320)
    model = tmp_path / "first" / "tokenizer.model"
    assert run(tmp_path / "second", tsv, "--tokenizer", model).exit_code == 0
    assert (tmp_path / "second" / "tokenizer.model").read_bytes() == model.read_bytes()
    both = run(tmp_path / "third", tsv, "--tokenizer", model, "--vocabulary-size", 320)
    assert (both.exit_code, "are alternatives" in both.stderr) == (2, True)


def test_equal_input_gives_equal_output(tmp_path: Path, tsv: Path) -> None:
    for name in ("first", "second"):
        assert run(tmp_path / name, tsv, "--vocabulary-size", 320).exit_code == 0
    for name in ("train.tsv", "tokenizer.model"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


def test_an_existing_folder_is_replaced_only_with_force(tmp_path: Path, tsv: Path) -> None:
    assert run(tmp_path / "out", tsv, "--vocabulary-size", 320).exit_code == 0
    refused = run(tmp_path / "out", tsv, "--vocabulary-size", 325)
    assert refused.exit_code == 2
    assert "--force" in refused.stderr
    assert run(tmp_path / "out", tsv, "--vocabulary-size", 325, "--force").exit_code == 0
    assert len(Subwords(tmp_path / "out" / "tokenizer.model")) == 325


def test_an_input_is_not_replaced(tmp_path: Path, tsv: Path) -> None:
    done(run(tmp_path / "data", tsv))
    before = (tmp_path / "data" / "train.tsv").read_bytes()
    result = run(tmp_path / "data", tmp_path / "data" / "train.tsv", "--force")
    assert (result.exit_code, "is both input and output" in result.stderr) == (2, True)
    assert (tmp_path / "data" / "train.tsv").read_bytes() == before


def test_vocabulary_smaller_than_the_characters(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    characters = "".join(map(chr, range(0x4E00, 0x4E00 + 100)))
    path.write_text(f"{characters}\t{characters}\n")
    result = run(tmp_path / "out", path, "--vocabulary-size", 300)
    assert result.exit_code == 3
    assert re.search(r"a vocabulary of 300 subwords: the characters of the text and the bytes need \d+\n", result.stderr)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a\tb\nc\n", "line 2: 1 tab-separated field, expected 2"),
        ("", "the input is empty"),
        ("\tb\n", "no pair was kept of 1 pair (empty or too short)"),
        ("one\teins\n", "--vocabulary-size 2000: cannot train a vocabulary of 2,000 subwords: the text has 267 at most"),
    ],
)
def test_invalid_input_leaves_no_files(tmp_path: Path, rows: str, message: str) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text(rows)
    result = run(tmp_path / "out", path, "--vocabulary-size", 2000)
    assert result.exit_code == 3
    assert result.stderr.startswith("specdec: error: ")
    assert message in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_failure_keeps_the_existing_folder(tmp_path: Path, tsv: Path) -> None:
    assert run(tmp_path / "out", tsv, "--vocabulary-size", 320).exit_code == 0
    (tmp_path / "out" / "notes.txt").write_text("mine")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert run(tmp_path / "out", tsv, "--vocabulary-size", 8000, "--force").exit_code == 3
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_a_full_disk_is_an_error_that_names_the_file(tmp_path: Path, tsv: Path) -> None:
    with largest_file(1000):
        result = run(tmp_path / "out", tsv, "--vocabulary-size", 320)
    assert (result.exit_code, result.stderr) == (3, f"specdec: error: {tmp_path / 'out' / 'train.tsv'}: File too large\n")
    assert not (tmp_path / "out").exists()


def test_a_small_text_gives_a_smaller_vocabulary(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    lines = make_lines(2000)
    path.write_text("".join(f"{line}\t{line.upper()}\n" for line in lines))
    result = done(run(tmp_path / "out", path))
    pieces = len(Subwords(tmp_path / "out" / "tokenizer.model"))
    assert 300 < pieces < 8000
    assert json.loads((tmp_path / "out" / "prepare.json").read_text())["vocabulary_size"] == pieces
    assert f"only {pieces:,} subwords; --vocabulary-size gives a smaller vocabulary" in result.stderr


def test_files_with_domains_are_given_first(tmp_path: Path, tsv: Path) -> None:
    plain = tmp_path / "plain.tsv"
    plain.write_text("one\teins\n")
    result = run(tmp_path / "out", plain, tsv)
    assert result.exit_code == 3
    assert "give input with domains first" in result.stderr


@pytest.mark.parametrize("arguments", [[], ["--source", "a"], ["--source", "a", "--target", "b", "--target", "c"]])
def test_prepare_requires_sources_and_targets(tmp_path: Path, arguments: list[str]) -> None:
    assert run(tmp_path / "out", *arguments).exit_code == 2


def test_an_output_that_cannot_be_created_is_named(tsv: Path) -> None:
    result = run(tsv / "out", tsv)
    assert result.exit_code == 2
    assert str(tsv) in result.stderr


def test_domains_are_mixed_by_a_temperature(tmp_path: Path) -> None:
    lines = [f"{domain}\tword {domain} {number}\tWort {domain} {number}" for domain, n in (("a", 90), ("b", 10)) for number in range(n)]
    (tmp_path / "in.tsv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    shown = run(tmp_path / "out", tmp_path / "in.tsv", "--temperature", 2).stderr
    made = [line.split("\t")[0] for line in (tmp_path / "out" / "train.tsv").read_text(encoding="utf-8").splitlines()]
    assert (made.count("a"), made.count("b")) == (90, 30)
    manifest = json.loads((tmp_path / "out" / "prepare.json").read_text(encoding="utf-8"))
    assert manifest["temperature"] == 2
    assert manifest["pairs"] == {"read": 100, "kept": 100, "written": 120, "dropped": {}}
    assert re.search(r"written, with repetitions\W+120\b", shown)
    (tmp_path / "plain.tsv").write_text("one\teins\n", encoding="utf-8")
    refused = command_line.run("prepare", tmp_path / "no", tmp_path / "plain.tsv", "--temperature", "2")
    assert refused.exit_code == 2 and "--temperature mixes domains" in refused.stderr and not (tmp_path / "no").exists()
