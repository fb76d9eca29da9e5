"""Commands in the documents: fenced blocks of the language `console`, with the output below each command.

A line that begins with `$ ` is a command; a backslash at its end continues it on the next line. All lines up to the next command are
its output. In a block that begins with "```console trial", output is neither shown nor compared, and commands that would take hours,
install packages or need the network are run in a small version (see trials.py).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^```console(?P<kind>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
TRIAL = "trial"


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
        first = text.count("\n", 0, found.start("body")) + 1
        if found["kind"].strip() not in ("", TRIAL):
            raise ValueError(f"{page}:{first - 1}: unknown kind of block {found['kind'].strip()!r}")
        blocks.append(Block(page, _commands(page, found["body"], first), found["kind"].strip() == TRIAL))
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


def with_outputs(text: str, outputs: Sequence[Sequence[str | None]]) -> str:
    """Return `text`, the content of a page, with the outputs of its commands replaced by `outputs`, a sequence for each block.

    None stands for an output that is not replaced.
    """
    made = iter(outputs)

    def write(found: re.Match[str]) -> str:
        commands = _commands(Path(), found["body"], 1)
        body = "".join(
            f"$ {command.text}\n{command.output if output is None else output}"
            for command, output in zip(commands, next(made), strict=True)
        )
        return f"```console{found['kind']}\n{body}```"

    return _BLOCK.sub(write, text)
