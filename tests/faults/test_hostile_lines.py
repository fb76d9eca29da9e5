"""Unusual lines: each gives one output line; unreadable ones are refused by number."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import command_line

Count = Callable[[str], None]
KINDS: tuple[Callable[[random.Random], str], ...] = (
    lambda r: "".join(chr(r.choice([*range(1, 10), *range(11, 32), 127, 0x85, 0x2028])) for _ in range(r.randint(1, 20))),
    lambda r: "".join(chr(r.randint(0x300, 0x36F)) for _ in range(r.randint(1, 30))),
    lambda r: "a" + "".join(chr(r.randint(0x300, 0x36F)) for _ in range(200)),
    lambda r: "".join(chr(r.randint(0x5D0, 0x5EA)) for _ in range(r.randint(1, 20))) + "\u202e\u202c",
    lambda r: "".join(chr(r.randint(0x1F300, 0x1F64F)) for _ in range(r.randint(1, 9))) + "\u200d\ufe0f",
    lambda r: "".join(r.choice(".,;:!?-()[]{}|\"'`~<>/\\") for _ in range(r.randint(1, 60))),
    lambda r: " \t\u00a0\u3000" * r.randint(0, 4),
    lambda r: "kalo " * r.randint(1, 60),
    lambda r: "x" * r.randint(1, 600),
    lambda r: "".join(chr(r.choice([r.randint(32, 0xD7FF), r.randint(0xE000, 0x10FFFF)])) for _ in range(r.randint(1, 40))),
    lambda r: f"kalo {r.random()} {{name}} %s <b>mi</b> http://a.b/c?d={r.randint(0, 9)}",
    lambda r: r.choice(["", "\r", "kalo\rmita", "\ufeff", "\ufffd", "|---|---|", "00:00:01,000 --> 00:00:02,000"]),
)


def run(bundle: Path, command: str, *arguments: str, text: bytes) -> command_line.Result:
    common = ["-m", str(bundle), "--threads", "1", "--quiet", "--max-length", "6"]
    return command_line.run(command, *common, *arguments, text=text)


@pytest.mark.parametrize("command", ["translate", "correct"])
def test_each_line_gives_one_output_line(bundle_folder: Path, corrector_folder: Path, command: str, long: bool, count: Count) -> None:
    generator = random.Random(7)
    lines = [generator.choice(KINDS)(generator).replace("\n", " ") for _ in range(10_000 if long else 300)]
    endings = [generator.choice(["\n", "\r\n"]) for _ in lines]
    text = "".join(line + ending for line, ending in zip(lines, endings, strict=True)).encode()
    bundle = corrector_folder if command == "correct" else bundle_folder
    plain = run(bundle, command, text=text)
    assert plain.exit_code == 0, plain.exception
    written = plain.stdout_bytes.split(b"\n")
    assert (len(written), written.pop()) == (len(lines) + 1, b"")
    assert all(line.endswith(b"\r") for line, ending in zip(written, endings, strict=True) if ending == "\r\n")
    records = [json.loads(line) for line in run(bundle, command, "--json", text=text).stdout_bytes.split(b"\n")[:-1]]
    assert [record["line"] for record in records] == list(range(1, len(lines) + 1))
    for record, line, ending in zip(records, lines, endings, strict=True):
        assert record["source"] == (line.removesuffix("\r") if ending == "\n" else line)
        count("done")


@pytest.mark.parametrize("bad", [b"\xff", b"\xc3\n", b"\xed\xa0\x80", b"nul\0", b"\xf4\x90\x80\x80", b"\xc0\xaf"])
@pytest.mark.parametrize("command", ["translate", "correct"])
def test_invalid_lines_are_refused_by_number(bundle_folder: Path, corrector_folder: Path, command: str, bad: bytes, count: Count) -> None:
    result = run(corrector_folder if command == "correct" else bundle_folder, command, text=b"kalo\nmita\n" + bad + b"\nresu\n")
    assert (result.exit_code, result.stdout_bytes.count(b"\n")) == (3, 2)
    assert "stdin, line 3: " in result.stderr
    count("refused")


def test_a_long_run_of_spaces_takes_linear_time(bundle_folder: Path, count: Count) -> None:
    result = run(bundle_folder, "translate", text=b"kalo" + b" " * 500_000 + b"mita\n" + b" " * 500_000 + b"\n")
    assert (result.exit_code, result.stdout_bytes.count(b"\n")) == (0, 2)
    count("done")
