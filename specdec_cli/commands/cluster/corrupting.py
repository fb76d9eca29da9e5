"""`corrupt --ray`: artificial errors made by the workers of a cluster."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from specdec_cli.cluster.inputs import find_inputs
from specdec_cli.cluster.jobs import LINES, LineFunction, Output
from specdec_cli.commands.cluster.options import ShardOptions
from specdec_cli.commands.cluster.output import Destination, write_shards
from specdec_cli.corruption.misspellings import misspellings
from specdec_cli.corruption.run import Plan, Tally, corrupt_chunk
from specdec_cli.errors import InputError
from specdec_cli.text.io.lines import Line

_ERRORS = "errors: "


@dataclass(frozen=True)
class CorruptJob:
    """A Job that corrupts lines: column `column` (from 1; None: the last one) of lines with tabs."""

    plan: Plan
    column: int | None

    @contextmanager
    def open(self) -> Iterator[LineFunction]:
        """Check that the dictionary of misspellings is installed."""
        misspellings()
        yield self._run

    def failed(self, line: Line) -> str:  # noqa: ARG002
        """No output for a line that could not be corrupted."""
        return ""

    def _run(self, lines: Sequence[Line], first: int) -> Output:
        chunk = corrupt_chunk(self.plan, first, [text_column(line, self.column) for line in lines])
        texts = tuple("".join(f"{corrupted}\t{clean}\n" for corrupted, clean in pairs) for pairs in chunk.by_line)
        tally = chunk.tally
        counts = Counter({"blank": tally.blank, "pairs": tally.pairs, "clean": tally.clean, "words": tally.words})
        return Output(texts, counts + Counter({f"{_ERRORS}{kind}": number for kind, number in tally.errors.items()}))


def text_column(line: Line, column: int | None) -> str:
    """Column `column` (from 1; None: the last one) of a line with tabs. Raises InputError if the line has fewer."""
    if column is None:
        return line.text.rpartition("\t")[2]
    fields = line.text.split("\t")
    if len(fields) < column:
        raise InputError(f"{line.location}: {len(fields)} tab-separated fields, so no column {column}")
    return fields[column - 1]


def corrupt_on_cluster(
    plan: Plan, column: int | None, files: Sequence[Path], output: Path | None, cluster: ShardOptions, *, quiet: bool
) -> Tally:
    """Corrupt `files` on a cluster, write the file `output`, and return the counts. Raises UsageError without an output file."""
    inputs = find_inputs(files)
    settings = {"command": "corrupt", "column": column} | asdict(plan)
    destination = Destination.of(output)
    counts = write_shards(inputs, inputs.read(), lambda _: CorruptJob(plan, column), settings, destination, cluster, quiet=quiet)
    errors = Counter({name.removeprefix(_ERRORS): number for name, number in counts.items() if name.startswith(_ERRORS)})
    return Tally(counts[LINES], counts["blank"], counts["pairs"], counts["clean"], counts["words"], errors)
