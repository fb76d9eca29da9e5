"""Commands in the documents: fenced blocks of the language `console`, with the output below each command.

A line that begins with `$ ` is a command; a backslash at its end continues it on the next line. All lines up to the next command are
its output. In a block that begins with "```console trial", output is neither shown nor compared, and commands that would take hours,
install packages or need the network are run in a small version (see TRIALS).
"""

import lzma
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from unittest.mock import patch

from specdec_cli.native.library import library_path
from tools.pages import DOCS, ROOT

TRIAL = "trial"
_BLOCK = re.compile(r"^```console(?P<kind>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Command:
    """A shell command with its continuation lines, the output shown for it, and its line number in the page, from 1."""

    text: str
    output: str
    line: int


@dataclass(frozen=True)
class Block:
    """The commands of a fenced block of a page; if `trial` is true, the block shows no output, and small versions of it are run."""

    page: Path
    commands: tuple[Command, ...]
    trial: bool


def read_blocks(page: Path, text: str) -> list[Block]:
    """Parse the fenced blocks of the language `console` in `text`, the content of `page`.

    Raises ValueError, naming page and line, for a block of an unknown kind and for output before the first command.
    """
    blocks = []
    for found in _BLOCK.finditer(text):
        first, kind = text.count("\n", 0, found.start("body")) + 1, found["kind"].strip()
        if kind not in ("", TRIAL):
            raise ValueError(f"{page}:{first - 1}: unknown kind of block {kind!r}")
        blocks.append(Block(page, _commands(page, found["body"], first), kind == TRIAL))
    return blocks


def _commands(page: Path, body: str, first: int) -> tuple[Command, ...]:
    commands: list[Command] = []
    lines = enumerate(body.splitlines(keepends=True), start=first)
    for number, line in lines:
        if line.startswith("$ "):
            text = line[2:]
            while text.endswith("\\\n"):
                text += next(lines)[1]
            commands.append(Command(text.rstrip("\n"), "", number))
        elif commands:
            last = commands[-1]
            commands[-1] = Command(last.text, last.output + line, last.line)
        else:
            raise ValueError(f"{page}:{number}: output without a command")
    return tuple(commands)


def with_outputs(text: str, outputs: Iterable[str | None]) -> str:
    """Return `text`, the content of a page, with the output of each of its commands replaced by that of `outputs`, unless it is None."""
    made = iter(outputs)

    def write(found: re.Match[str]) -> str:
        pairs = ((command, next(made)) for command in _commands(Path(), found["body"], 1))
        body = (f"$ {command.text}\n{command.output if output is None else output}" for command, output in pairs)
        return f"```console{found['kind']}\n{''.join(body)}```"

    return _BLOCK.sub(write, text)


# Where commands run


Done = subprocess.CompletedProcess[str]
"""The result of a command; `stdout` has also its stderr, in the order in which they were written."""


class Shell:
    """Runs shell commands inside a `with` block, with `specdec` and `python` of this environment, and a cache of models of their own."""

    def __enter__(self) -> Self:
        self._cache = tempfile.TemporaryDirectory(prefix="specdec-")
        # Models that commands convert do not go into the user's cache.
        own = {"PYTHONPATH": str(ROOT), "SPECDEC_CACHE": self._cache.name, "CUDA_VISIBLE_DEVICES": ""}
        terminal = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "PYTHONUTF8": "1"}
        self._environment = os.environ | own | terminal | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._cache.cleanup()

    def run(self, command: str, folder: Path, longest: float = 300.0, **variables: str) -> Done:
        """Run `command` in bash in `folder`, with further variables of the environment, and return its result.

        Raises subprocess.TimeoutExpired after `longest` seconds.
        """
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        program, environment = ["bash", "-o", "pipefail", "-c", command], self._environment | variables
        return subprocess.run(program, cwd=folder, env=environment, timeout=longest, check=False, encoding="utf-8", **streams)


HUB = {
    "Helsinki-NLP/opus-mt-en-de": "marian",
    "facebook/nllb-200-distilled-600M": "nllb",
    "facebook/bart-large-cnn": "bart",
    "google/madlad400-3b-mt": "madlad",
    "google-t5/t5-base": "t5_with_tasks",
    "google/flan-t5-base": "flan_t5",
    "grammarly/coedit-large": "flan_t5",
}
"""Names of models of the Hugging Face hub. Small models in local folders of these names, made by functions of
tests/converters/huggingface.py, are used instead of downloads.
"""
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
            _stand_in(folder / name, HUB[name])


def _pairs(count: int) -> list[str]:
    """Up to `count` distinct lines of a random English phrase and its German translation, word for word."""
    generator = random.Random(0)
    made = dict.fromkeys(tuple(generator.choices(range(len(_ENGLISH)), k=generator.randint(1, 4))) for _ in range(4 * count))
    return [f"{' '.join(_ENGLISH[word] for word in one)}\t{' '.join(_GERMAN[word] for word in one)}\n" for one in list(made)[:count]]


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(lines), encoding="utf-8")


def _stand_in(folder: Path, maker: str) -> None:
    """Save a small transformers model. A Marian model is trained to copy, so that its outputs end; others are untrained."""
    from tests.converters import huggingface

    folder.mkdir(parents=True)
    with nullcontext() if maker == "marian" else patch.object(huggingface, "train"):
        getattr(huggingface, maker)(folder)


# Small versions


SHAPE = "model.width=32 model.feed_forward=64 model.heads=2 model.encoder_layers=1 model.decoder_layers=1"
RUN = "run.max_updates=60 run.batch_tokens=256 run.evaluate_every=30 run.precision=32-true optimizer.learning_rate=1e-2 optimizer.warmup=20"
FEW_UPDATES = "run.max_updates=2 run.batch_tokens=64 run.evaluate_every=2 run.precision=32-true"
DRAFTER = "drafter.feed_forward=64 drafter.max_block=3"


def _set(*changes: str) -> str:
    return "".join(f" --set {change}" for changed in changes for change in changed.split())


TRIALS: Sequence[tuple[str, str, str]] = (
    # The beginning of a command, a part of it, and the options that are appended.
    ("make", "", " -n"),
    ("pip install", "", " --help"),
    ("specdec serve", "", " --help"),
    (".venv/bin/pytest", "", " --collect-only"),
    ("specdec train-verifier", "--init en-gec", _set(FEW_UPDATES)),
    ("specdec train-verifier", "--init work", _set(RUN)),
    ("specdec train-verifier", "", _set(SHAPE, RUN)),
    ("specdec distill", "--nearest", " --nearest 0"),
    ("specdec train-drafter", "--simulate", ""),
    ("specdec train-drafter", "", _set(DRAFTER, FEW_UPDATES)),
    ("specdec bench", "--synthetic", " --help"),
    ("specdec bench", "--tune", " --help"),
    ("specdec bench", "--row", " --limit 2 --repetitions 1"),
    ("specdec bench", "--task correct", " --row greedy --row input-guided --limit 2 --repetitions 1"),
    ("specdec bench", "", " --row greedy --limit 2 --repetitions 1"),
    ("specdec visualize", "--file", " --limit 2"),
)
"""Entries (beginning of a command, a part of it, options to append); of those that match a command, the first is applied."""


def as_trial(command: str) -> str:
    """`command` with the options of the first matching entry of TRIALS appended; unchanged if none matches."""
    for start, part, appended in TRIALS:
        if re.match(rf"{start}\b", command) and part in command:
            return command + appended
    return command


# Running the commands of a page


@dataclass(frozen=True)
class Ran:
    """A command of a page after it was run: its block, the text that was run (in a trial block a small version), and its result."""

    block: Block
    command: Command
    text: str
    done: Done

    @property
    def problem(self) -> str | None:
        """A message if the command failed, or if it wrote other output than the page shows; else None.

        The output of a trial block is not compared.
        """
        place = f"{self.block.page}:{self.command.line}: {self.text}"
        if self.done.returncode:
            return f"{place}\nexit code {self.done.returncode}\n{self.done.stdout}"
        if not self.block.trial and not same(self.command.output, self.done.stdout):
            return f"{place}\nshown:\n{self.command.output}\nwritten:\n{self.done.stdout}\n`make docs` records it"
        return None


def same(shown: str, written: str) -> bool:
    """Whether the output of a command equals that in the page; without the native engine, numbers are not compared."""
    if library_path() is None:
        shown, written = (_NUMBER.sub("0", text) for text in (shown, written))
    return shown == written


def run(page: Path, text: str, shell: Shell) -> Iterator[Ran]:
    """Run all commands of `text`, the content of `page`, in order in one temporary folder, and yield each after it ended."""
    blocks = read_blocks(page, text)
    with tempfile.TemporaryDirectory(prefix="specdec-") as name:
        if blocks:
            prepare(Path(name), text)
        for block, command in ((each, command) for each in blocks for command in each.commands):
            written = as_trial(command.text) if block.trial else command.text
            yield Ran(block, command, written, shell.run(written, Path(name)))


def record(page: Path, text: str, shell: Shell) -> str:
    """Run the commands of `text`, the content of `page`, and return `text` with their current output.

    Raises RuntimeError if a command fails.
    """
    outputs: list[str | None] = []
    for ran in run(page, text, shell):
        if ran.done.returncode:
            raise RuntimeError(ran.problem)
        outputs.append(None if ran.block.trial else ran.done.stdout)
    return with_outputs(text, outputs)
