"""`translate --ray` and `correct --ray`: decoding of lines by the workers of a cluster."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass, is_dataclass, replace
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any

from specdec_cli.cluster.inputs import find_inputs
from specdec_cli.cluster.jobs import TOKENS, LineFunction, Output
from specdec_cli.commands.cluster.options import ShardOptions
from specdec_cli.commands.cluster.output import Destination, write_shards
from specdec_cli.commands.cluster.run import Share
from specdec_cli.commands.line_decoding import LineDecoding, OpenedDecoding
from specdec_cli.commands.messages import teller
from specdec_cli.commands.options.groups import OptionGroup
from specdec_cli.commands.options.text import TextOptions
from specdec_cli.errors import UsageError
from specdec_cli.opening.engines import Computation
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.text.io.lines import Line
from specdec_cli.text.io.writing import output_line

_FEWEST_MEGABYTES = 64
_LONGEST = 200
"""A setting with more characters than this is stored in the manifest as a digest."""
_NOT_IN_OUTPUT = ("batch_size", "memory", "threads", "offline", "output", "output_dir", "stats", "trace", "quiet", "max_line_bytes")


@dataclass(frozen=True)
class DecodingJob:
    """A Job that decodes lines with a model on `machine`, by the `computation` that the command has resolved."""

    decoding: LineDecoding
    computation: Computation
    machine: MachineOptions
    share: float

    @contextmanager
    def open(self) -> Iterator[LineFunction]:
        """Load the model."""
        machine = self.machine
        if machine.memory is None and (free := machine.batch_memory):
            machine = replace(machine, memory=max(_FEWEST_MEGABYTES, int(free * self.share) // 2**20))
        opened = self.decoding.open(*self.computation.on(self.decoding.model, machine))
        yield lambda lines, _: decode_lines(opened, lines)

    def failed(self, line: Line) -> str:
        """The output for a line that could not be decoded."""
        return "".join(output_line(text, ending) for text, ending in self.decoding.failed(line))


def decode_lines(opened: OpenedDecoding[Any], lines: Sequence[Line]) -> Output:
    """Decode lines, and count lines, tokens, rounds, and lines with edits ("changed"); warnings are the output's messages."""
    texts: list[str] = []
    counts: Counter[str] = Counter()
    with redirect_stderr(StringIO()) as messages:
        for _, decoded, outputs in opened.run(iter(lines)):
            texts.append("".join(output_line(text, ending) for text, ending in outputs))
            counts.update({TOKENS: decoded.tokens, "rounds": decoded.rounds, "changed": bool(getattr(decoded, "edits", ()))})
    return Output(tuple(texts), counts, tuple(messages.getvalue().splitlines()))


def decode_on_cluster(
    command: str,
    decoding: LineDecoding,
    files: Sequence[Path],
    text: TextOptions,
    cluster: ShardOptions,
    goes_on: Callable[[str], bool] = lambda _: False,
) -> Counter[str]:
    """Decode `files` on a cluster, and write the output file or folder of `text`; return the counts of `decode_lines`.

    The output is that of this process: it resolves what computes, and a worker that cannot compute so fails. A line that may go on in the
    next one (`goes_on`) is in the same shard. Raises UsageError for options that need one process.
    """
    if text.trace:
        raise UsageError("--trace shows the rounds of one process; it is not for --ray")
    if text.stats:
        raise UsageError("--stats has the time and memory of one process; a run with --ray prints its own totals")
    machine = decoding.machine
    inputs = find_inputs(files)
    lines = inputs.read(text.max_line_bytes)
    computation = Computation.resolve(decoding.model, machine, decoding.request(machine), teller(text.quiet))
    resolved = {name: getattr(computation, name) for name in ("native", "device", "precision")}
    settings = {"command": command, "model": computation.digest} | _settings(vars(decoding)) | resolved

    def make_job(share: Share) -> DecodingJob:
        return DecodingJob(decoding, computation, replace(machine, threads=share.threads), share.memory)

    return write_shards(
        inputs,
        text.join(lines),
        make_job,
        settings,
        Destination.of(text.output, text.output_dir),
        cluster,
        device=computation.device,
        threads=machine.threads,
        quiet=text.quiet,
        goes_on=goes_on,
    )


def _settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options on which the output depends, for the manifest, from options and groups of options."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, OptionGroup) or is_dataclass(value):
            found |= _settings(vars(value))
        elif isinstance(value, Mapping):
            found |= _settings(value)
        elif name not in (*_NOT_IN_OUTPUT, "name", "coloured"):
            found[name] = value if isinstance(value, str | int | float | None) else _described(repr(value))
    return found


def _described(value: str) -> str:
    """A value for the manifest: the digest of a long one, such as a glossary."""
    return value if len(value) <= _LONGEST else f"sha256 {sha256(value.encode()).hexdigest()}"
