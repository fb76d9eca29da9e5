"""What a worker does with lines: the interface between commands and workers, and its results."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from specdec_cli.errors import SpecdecError
from specdec_cli.text.io.lines import Line

LINES, TOKENS = "lines", "tokens"
"""Names of counts that every job has: input lines, and output tokens (0 for jobs without a model)."""


@dataclass(frozen=True)
class Output:
    """The output of consecutive lines: `texts` has one string for each, which holds any number of complete output lines.

    `counts` are numbers of the job by name; `messages` are warnings for the user.
    """

    texts: tuple[str, ...]
    counts: Counter[str] = field(default_factory=Counter)
    messages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failure:
    """Why a worker could not load its model or process lines. `kind` is the class of the error, if the user caused it.

    After a `broken` failure the worker cannot go on, and is replaced.
    """

    message: str
    kind: type[SpecdecError] | None = None
    broken: bool = False


LineFunction: TypeAlias = Callable[[Sequence[Line], int], Output]
"""Processes consecutive lines; the second argument is the number of the first one in the whole input, from 1."""


class Job(Protocol):
    """What each worker does. A job is sent to the workers, so it can be pickled, and it loads its model in `open`."""

    def open(self) -> AbstractContextManager[LineFunction]:
        """Load the model; the function that processes lines can be called inside the `with` block."""

    def failed(self, line: Line) -> str:
        """The output text for a line that could not be processed."""


def joined(outputs: Iterable[Output]) -> Output:
    """The output of consecutive groups of lines as one."""
    texts: list[str] = []
    counts: Counter[str] = Counter()
    messages: list[str] = []
    for output in outputs:
        texts += output.texts
        counts.update(output.counts)
        messages += output.messages
    return Output(tuple(texts), counts, tuple(messages))
