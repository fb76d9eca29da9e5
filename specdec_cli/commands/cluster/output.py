"""Output of runs on a cluster whose result is one file, or one for each input: shards in a folder beside it until the run is done."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specdec_cli.cluster.folder import DEAD_LETTERS, ShardFolder
from specdec_cli.cluster.inputs import Inputs
from specdec_cli.cluster.jobs import Job, cut_shards
from specdec_cli.cluster.session import require_ray
from specdec_cli.commands.cluster.options import ShardOptions
from specdec_cli.commands.cluster.run import Share, run_on_cluster
from specdec_cli.commands.cluster.view import print_summary
from specdec_cli.commands.messages import teller
from specdec_cli.errors import InputError, SpecdecError, UsageError
from specdec_cli.files import check_target, make_folder
from specdec_cli.folder_lock import locked
from specdec_cli.text.io.lines import STDIO, Line
from specdec_cli.text.io.writing import check_not_input, output_files


@dataclass(frozen=True)
class Destination:
    """Where the output is written: to the file `path`, or with `is_folder` to the folder `path`, one file for each input."""

    path: Path
    is_folder: bool = False

    @classmethod
    def of(cls, output: Path | None, output_dir: Path | None = None) -> "Destination":
        """Make the destination from the options; raises UsageError if none names a file or a folder, or both do."""
        if output is not None and output_dir is not None:
            raise UsageError("--output and --output-dir are alternatives; give one")
        path = output_dir or output
        if path is None or path == STDIO:
            raise UsageError("--ray writes files, so that a stopped run can be resumed: give --output or --output-dir")
        return cls(path, output_dir is not None)

    def targets(self, inputs: Inputs) -> dict[Path, Path]:
        """The output file of each input file, by the path of the input (`-`: stdin).

        Raises UsageError if an output file is also an input or lies in an input folder, or if no file can be written at `path`.
        """
        inputs.check_output(self.path)
        if self.is_folder:
            return output_files(self.path, inputs.paths)
        check_target(self.path)
        check_not_input(self.path, inputs.paths)
        return dict.fromkeys(inputs.paths, self.path)

    @property
    def work(self) -> Path:
        """The folder for the shards, beside this destination. It is hidden: patterns and folders of the input leave it out."""
        path = self._named
        return path.parent / f".{path.name}.shards"

    @property
    def dead_letters(self) -> Path:
        """The file for the lines that failed, beside this destination."""
        path = self._named
        return path.parent / f"{path.name}.{DEAD_LETTERS}"

    @property
    def _named(self) -> Path:
        """The path of this destination; with a name for a folder such as `.`, which has none."""
        return self.path.resolve() if self.path.name in ("", "..") else self.path


def write_shards(
    inputs: Inputs,
    lines: Iterable[Line],
    make_job: Callable[[Share], Job],
    settings: Mapping[str, Any],
    destination: Destination,
    cluster: ShardOptions,
    *,
    device: str = "cpu",
    threads: int | None = None,
    quiet: bool = False,
    goes_on: Callable[[str], bool] = lambda _: False,
) -> Counter[str]:
    """Process the `lines` of `inputs` on a cluster, write the output to `destination`, and return the counts of all shards.

    Until then the shards are in a folder beside the output, from which a stopped run is resumed; `settings` are what the output
    depends on. Raises InputError at the end, after the output was written, if lines failed.
    """
    require_ray(cluster.address)
    targets = destination.targets(inputs)
    if destination.is_folder:
        make_folder(destination.path)
    work, dead = destination.work, destination.dead_letters
    tell = teller(quiet)
    with locked(work):
        folder = ShardFolder(work, {"shard_lines": cluster.shard_lines} | dict(settings))
        shards = cut_shards(lines, cluster.shard_lines, goes_on)
        try:
            progress = run_on_cluster(cluster, make_job, shards, folder, device=device, threads=threads, total=inputs.bytes, quiet=quiet)
        except (KeyboardInterrupt, SystemExit):
            if folder.remove_if_empty():
                tell("interrupted before a shard was finished")
            else:
                tell(f"interrupted; the finished shards are in {work}, and the same command resumes there")
            raise
        except SpecdecError:
            folder.remove_if_empty()
            raise
        counts = folder.counts(progress.shards)
        failed = folder.merge(progress.shards, targets, dead)
        folder.remove()
    if not quiet:
        print_summary(progress)
    if failed:
        raise InputError(f"{failed:,} lines failed on every try; {dead} has them")
    return counts
