"""`specdec translate`: one line for each line of any input, and the description of the decoding in --stats."""

import gzip
import json
import re
from pathlib import Path

import pytest

from specdec_cli.console.reports import decoding_in_words
from specdec_cli.decoding.options import Decoding
from tests import command_line
from tests.command_line import Result, done


def run(bundle: Path, *arguments: object, text: bytes = b"") -> Result:
    return command_line.run("translate", "-m", bundle, "--threads", "1", *arguments, text=text)


def test_each_line_gives_one_line(bundle_folder: Path) -> None:
    result = done(run(bundle_folder, text="kalo mita\n\n  \nresu\r\nno pe\u2028di\u0085fo".encode()))
    lines = result.stdout_bytes.split(b"\n")
    assert len(lines) == 6
    assert lines[1:3] == [b"", b"  "]
    assert lines[3].endswith(b"\r")
    assert lines[5] == b""


def test_the_batch_size_does_not_change_the_output(bundle_folder: Path, lines: list[str]) -> None:
    text = "\n".join(lines).encode()
    one, many = (run(bundle_folder, "--batch-size", size, text=text) for size in (1, 7))
    assert one.stdout_bytes == many.stdout_bytes
    assert one.stdout_bytes.count(b"\n") == len(lines)


def test_json_has_the_documented_fields(bundle_folder: Path) -> None:
    result = run(bundle_folder, "--json", "--max-length", 5, text=b"kalo mita\n\n")
    first, blank = map(json.loads, result.stdout.splitlines())
    assert set(first) == {"file", "line", "source", "text", "tokens", "rounds", "tokens_per_round", "score", "decoding", "warnings"}
    assert (first["file"], first["line"], first["source"], first["decoding"]) == (None, 1, "kalo mita", "greedy")
    assert 1 <= first["tokens"] == first["rounds"] <= 5
    assert first["score"] < 0
    assert (blank["line"], blank["text"], blank["tokens"], blank["rounds"], blank["score"]) == (2, "", 0, 0, None)


def test_n_best_lists_have_scores_in_order(bundle_folder: Path) -> None:
    result = run(bundle_folder, "--json", "--beam-size", 4, "--n-best", 3, "--max-length", 6, text=b"kalo mita\n| kalo | mita |\n\n")
    *records, blank = map(json.loads, result.stdout.splitlines())
    for record in records:
        texts, scores = zip(*(each.values() for each in record["hypotheses"]), strict=True)
        assert texts[0] == record["text"] and scores[0] == record["score"]
        assert len(set(texts)) == len(texts) == 3 and list(scores[1:]) == sorted(scores[1:], reverse=True)
    assert blank["hypotheses"] == [{"text": "", "score": None}]


@pytest.mark.parametrize("bad", [b"caf\xe9", b"nul\0byte"])
def test_invalid_bytes_are_reported_after_earlier_lines(bad: bytes, bundle_folder: Path) -> None:
    result = run(bundle_folder, text=b"kalo\nmita\n" + bad + b"\nresu\n")
    assert result.exit_code == 3
    assert result.stdout_bytes.count(b"\n") == 2
    assert "stdin, line 3" in result.stderr


def test_long_lines_are_split_with_a_warning(bundle_folder: Path) -> None:
    result = done(run(bundle_folder, "--max-length", 3, text=b"kalo mita " * 200 + b"\n"))
    assert result.stdout_bytes.count(b"\n") == 1
    assert "stdin, line 1: a sentence of more than" in result.stderr


def test_a_long_line_is_written_in_parts_as_one_line(bundle_folder: Path) -> None:
    text = "Kalo mita, resu pefo. Mita resu? " * 300 + "kalo\npefo\n"
    parts, whole = (done(run(bundle_folder, "--max-length", 3, *options, text=text.encode())) for options in (["--stats"], ["--json"]))
    assert parts.stdout.splitlines() == [json.loads(each)["text"] for each in whole.stdout.splitlines()]
    assert re.search(r"lines, sentences\W+2, 601", parts.stderr)


def test_a_search_has_no_rounds_to_trace(bundle_folder: Path) -> None:
    result = run(bundle_folder, "--trace", "--decoding", "beam", text=b"kalo\n")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--trace: decoding beam has no rounds to show" in result.stderr


def test_output_file_statistics_and_trace_are_written(bundle_folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.txt"
    result = done(run(bundle_folder, "-o", output, "--stats", "--trace", "--max-length", 4, text=b"kalo\n"))
    assert result.stdout == ""
    assert output.read_bytes().count(b"\n") == 1
    assert "tokens per round" in result.stderr
    assert "1.1 V" in result.stderr

    # Greedy decoding has no drafts: each round emits one token, the verifier's.
    blocks = next(line for line in result.stderr.splitlines() if " = " in line)
    assert "[" not in blocks
    assert 1 <= blocks.count("(") <= 4


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--decoding", "specdec"), 2, "no drafter"),
        (("--n-best", 2), 2, "--n-best is for --json"),
        (("--decoding", "greedy", "--beam-size", 2), 2, "--beam-size, --length-penalty and --n-best: for decoding beam"),
        (("--precision", "float16", "--device", "cpu"), 2, "float16 is not offered on cpu"),
        (("missing.txt",), 3, "missing.txt: no such file\n"),
        (("My house.",), 3, "My house.: no such file; text is read from standard input"),
        (("--glossary", "-"), 2, "--glossary -: stdin is the text"),
        (("--previous", "-", "a.txt", "-"), 2, "--previous -: stdin is the text"),
    ],
)
def test_wrong_use_is_explained(arguments: tuple[object, ...], code: int, words: str, bundle_folder: Path) -> None:
    result = run(bundle_folder, *arguments, text=b"kalo\n")
    assert result.exit_code == code
    assert words in result.stderr


def test_an_unknown_bundle_is_named(tmp_path: Path) -> None:
    result = run(tmp_path / "nothing")
    assert result.exit_code == 3
    assert "no shipped bundle has that name" in result.stderr


def test_a_missing_file_is_reported_before_anything_is_translated(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Hello.\n")
    result = command_line.run("translate", page, tmp_path / "none.md")
    assert (result.exit_code, result.stdout) == (3, "")
    assert "none.md: no such file" in result.stderr


def test_json_names_file_and_line_of_many_files(bundle_folder: Path, tmp_path: Path) -> None:
    for name, text in (("a", "kalo\nmita\n"), ("b", "resu\n")):
        (tmp_path / name).write_text(text)
    files = (tmp_path / "a", "-", tmp_path / "b")
    records = [json.loads(line) for line in run(bundle_folder, "--json", *files, text=b"no\npe\n").stdout.splitlines()]
    places = [(record["file"], record["line"]) for record in records]
    assert places == [(str(tmp_path / "a"), 1), (str(tmp_path / "a"), 2), (None, 1), (None, 2), (str(tmp_path / "b"), 1)]


def test_each_file_has_an_output_file(bundle_folder: Path, tmp_path: Path) -> None:
    for name, text in (("a", "kalo\nmita\n"), ("b", "resu\n")):
        (tmp_path / name).write_text(text)
    files, folder = (tmp_path / "a", tmp_path / "b"), tmp_path / "out"
    result = run(bundle_folder, "--output-dir", folder, *files)
    assert (result.exit_code, result.stdout) == (0, "")
    assert [(folder / name).read_bytes().count(b"\n") for name in "ab"] == [2, 1]
    assert b"".join((folder / name).read_bytes() for name in "ab") == run(bundle_folder, *files).stdout_bytes
    for arguments in (("--output-dir", tmp_path, *files), ("--output-dir", folder), ("--output-dir", folder, "-o", folder / "x", *files)):
        assert run(bundle_folder, *arguments).exit_code == 2
    assert (tmp_path / "a").read_text() == "kalo\nmita\n"


def test_an_output_file_is_compressed_by_its_name(bundle_folder: Path, tmp_path: Path) -> None:
    text = b"kalo mita\nresu\n"
    assert run(bundle_folder, "-o", tmp_path / "out.gz", text=text).exit_code == 0
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()) == run(bundle_folder, text=text).stdout_bytes


def test_a_line_beyond_the_limit_is_reported_after_earlier_lines(bundle_folder: Path) -> None:
    text = b"kalo\n" + b"mita " * 100 + b"\nresu\n"
    result = run(bundle_folder, "--max-line-bytes", 499, text=text)
    assert (result.exit_code, result.stdout_bytes.count(b"\n")) == (3, 1)
    assert "stdin, line 2: longer than 499 bytes; --max-line-bytes" in result.stderr
    assert run(bundle_folder, "--max-line-bytes", 500, text=text).exit_code == 0


def test_lost_numbers_are_reported_with_their_place(bundle_folder: Path, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("kalo mita\nkalo 4321 mita\n")
    result = run(bundle_folder, "--json", text)
    warnings = [json.loads(line)["warnings"] for line in result.stdout.splitlines()]
    assert "numbers lost" not in warnings[0] and "numbers lost" in warnings[1]
    assert f"{text}, line 2: a number of the input is missing" in result.stderr
    assert run(bundle_folder, "--quiet", text).stderr == ""


def test_protected_spans_are_in_the_output(bundle_folder: Path) -> None:
    result = run(bundle_folder, text=b"- kalo {name} mita\n|---|\nsee https://example.org/x_1 %s\n")
    first, second, third = result.stdout.splitlines()
    assert first.startswith("- ") and first.count("{name}") == 1
    assert second == "|---|"
    assert third.count("https://example.org/x_1") == third.count("%s") == 1


def test_wrapped_paragraphs_are_joined_and_wrapped_again(bundle_folder: Path) -> None:
    text = "kalo mita kalo\nmita kalo\n\n# no\n"
    joined = json.loads(run(bundle_folder, "--json", "--unwrap", text=text.encode()).stdout.splitlines()[0])
    assert joined["source"] == "kalo mita kalo mita kalo"
    result = run(bundle_folder, "--unwrap", text=text.encode()).stdout.splitlines()
    blank = result.index("")
    assert " ".join(result[:blank]) == joined["text"]
    assert all(len(line) <= len("kalo mita kalo") or " " not in line for line in result[:blank])
    assert result[blank + 1 :][0].startswith("# ")


@pytest.mark.parametrize(
    ("drafted", "words"),
    [
        (None, "specdec, block size 10"),
        ((0, 0.0), "greedy (specdec would be slower here)"),
        ((40, 3.25), "specdec, drafts in 40 of 304 rounds, block size 3.2 on average"),
    ],
)
def test_statistics_name_the_decoding_that_ran(drafted: tuple[int, float] | None, words: str) -> None:
    assert decoding_in_words(Decoding(method="specdec", block_size=10), drafted, 304) == words
