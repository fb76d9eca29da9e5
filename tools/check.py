"""Run the commands of a page, and compare or record their output."""

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from specdec_cli.native.library import library_path
from tools.consoles import Block, Command, read_blocks, with_outputs
from tools.shell import Done, Shell
from tools.trials import as_trial
from tools.workplace import prepare

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


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
        if self.done.code:
            return f"{place}\nexit code {self.done.code}\n{self.done.output}"
        if not self.block.trial and not same(self.command.output, self.done.output):
            return f"{place}\nshown:\n{self.command.output}\nwritten:\n{self.done.output}\n`make docs` records it"
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
        folder = Path(name)
        if blocks:
            prepare(folder, text)
        for block in blocks:
            for command in block.commands:
                written = as_trial(command.text) if block.trial else command.text
                yield Ran(block, command, written, shell.run(written, folder))


def record(page: Path, text: str, shell: Shell) -> str:
    """Run the commands of `text`, the content of `page`, and return `text` with their current output.

    Raises RuntimeError if a command fails.
    """
    outputs: list[list[str | None]] = []
    block: Block | None = None
    for ran in run(page, text, shell):
        if ran.done.code:
            raise RuntimeError(ran.problem)
        if ran.block is not block:
            block = ran.block
            outputs.append([])
        outputs[-1].append(None if ran.block.trial else ran.done.output)
    return with_outputs(text, outputs)
