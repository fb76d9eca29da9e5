"""Decoding of a text by the command line, and checks of its output."""

import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

_THRICE = re.compile(r"\b(\w+)(?:\W+\1\b){2,}")


@dataclass(frozen=True)
class Decoded:
    """A dev set: its name, sources, outputs, and a reference for each source."""

    name: str
    sources: tuple[str, ...]
    outputs: tuple[str, ...]
    references: tuple[str, ...]

    @property
    def empty(self) -> int:
        """The number of outputs without text."""
        return sum(not output.strip() for output in self.outputs)

    @property
    def repeated(self) -> int:
        """The number of outputs with a word three times in a row, where the source has none."""
        pairs = zip(self.sources, self.outputs, strict=True)
        return sum(bool(_THRICE.search(output)) and not _THRICE.search(source) for source, output in pairs)


def decode(command: str, lines: Sequence[str]) -> tuple[str, ...]:
    """The outputs of the command line `command` of specdec for `lines`. Raises CalledProcessError if it fails."""
    program = [sys.executable, "-m", "specdec_cli", *shlex.split(command)[1:], "--quiet"]
    done = subprocess.run(program, input="".join(f"{line}\n" for line in lines), stdout=subprocess.PIPE, encoding="utf-8", check=True)
    outputs = tuple(done.stdout.removesuffix("\n").split("\n"))
    if len(outputs) != len(lines):
        raise ValueError(f"{command}: {len(outputs)} lines of output for {len(lines)} of input")
    return outputs
