"""`distill --ray`: translation of source lines by teachers in the workers of a cluster."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from specdec_cli.cluster.folder import DEAD_LETTERS, merge_failed, write_failed
from specdec_cli.cluster.jobs import TOKENS, FailedLine, LineFunction, Output, Shard
from specdec_cli.commands.cluster.options import ClusterOptions
from specdec_cli.commands.cluster.run import Share, run_on_cluster
from specdec_cli.commands.cluster.view import print_summary
from specdec_cli.commands.teachers import DistillationPlan, open_teacher
from specdec_cli.decoding.options import Sampled
from specdec_cli.distillation.filters import Filters
from specdec_cli.distillation.models import TeacherModel, as_ctranslate2, teacher_digest
from specdec_cli.distillation.run import Summary, distill_lines, finish
from specdec_cli.distillation.shards import ShardCounts, Shards
from specdec_cli.distillation.teacher import Resources, Search
from specdec_cli.errors import InputError
from specdec_cli.files import cache_folder
from specdec_cli.folder_lock import locked
from specdec_cli.text.io.lines import Line

FAILED = "failed on every try"
_DROPPED = "dropped: "


@dataclass(frozen=True)
class DistillJob:
    """A Job that translates lines with teachers. `converted` is the folder of the teacher's CTranslate2 form, if it has one."""

    models: tuple[TeacherModel, ...]
    converted: Path
    search: Search
    resources: Resources
    filters: Filters
    sampling: Sampled | None = None

    @contextmanager
    def open(self) -> Iterator[LineFunction]:
        """Load the teachers. On a machine without the folder `converted`, the teacher is converted once more."""
        converted = self.converted
        if self.sampling is None and len(self.models) == 1 and self.models[0].is_bundle and not converted.exists():
            folder = cache_folder() / "teachers"
            with locked(folder, wait=True):
                converted = as_ctranslate2(self.models[0], folder / teacher_digest(self.models[0]))
        with open_teacher(self.models, converted, self.search, self.resources, self.sampling) as teacher:

            def run(lines: Sequence[Line], _: int) -> Output:
                texts, counts = distill_lines([line.text for line in lines], teacher, self.filters)
                numbers = {f"{_DROPPED}{reason}": number for reason, number in counts.dropped.items()}
                return Output(tuple(texts), Counter({TOKENS: counts.tokens, "kept": counts.kept} | numbers))

            yield run

    def failed(self, line: Line) -> str:  # noqa: ARG002
        """No output for a line that could not be translated."""
        return ""


@dataclass(frozen=True)
class DistillStore:
    """Stores shards as `distill` does without a cluster."""

    shards: Shards

    def has(self, shard: Shard) -> bool:
        """Whether the shard is there already; the manifest says that it has the same lines."""
        return self.shards.counts(shard.index) is not None

    def write(self, shard: Shard, output: Output, failed: list[FailedLine]) -> None:
        """Store the pairs of a shard, its dead letters, and its counts, which are written last."""
        dropped = Counter({name.removeprefix(_DROPPED): n for name, n in output.counts.items() if name.startswith(_DROPPED)})
        if failed:
            dropped[FAILED] = len(failed)
        write_failed(self.failed(shard.index), failed)
        counts = ShardCounts(len(shard.lines), output.counts["kept"], output.counts[TOKENS], dropped)
        self.shards.write(shard.index, output.texts, counts)

    def failed(self, index: int) -> Path:
        """The path of the dead letters of shard `index`."""
        return self.shards.path(index).with_suffix(".failed")


def source_shards(sources: Sequence[str], size: int) -> Iterator[Shard]:
    """Shards of `size` lines of `sources`, whose lines are numbered from 1."""
    for index, start in enumerate(range(0, len(sources), size)):
        texts = enumerate(sources[start : start + size], start + 1)
        yield Shard(index, start + 1, tuple(Line(number, text, "\n", f"source {number}") for number, text in texts))


def distill_on_cluster(
    plan: DistillationPlan,
    sources: Sequence[str],
    shards: Shards,
    shard_lines: int,
    converted: Path,
    cluster: ClusterOptions,
    *,
    quiet: bool,
) -> Summary:
    """Distil `sources` on a cluster into `shards`, as `distill` does, and return the totals.

    `converted` is the folder for the teacher's CTranslate2 form. Raises InputError at the end, after the output was written, if lines
    failed.
    """
    started = time.monotonic()
    models = tuple(replace(model, folder=model.folder.resolve()) for model in plan.models)
    if len(models) == 1:
        as_ctranslate2(models[0], converted)  # once, before the workers start
    store = DistillStore(shards)

    def make_job(share: Share) -> DistillJob:
        resources = replace(plan.resources, device=share.device, threads=share.threads)
        return DistillJob(models, converted, plan.search, resources, plan.filters, plan.sampling)

    total = sum(len(source.encode("utf-8")) + 1 for source in sources)
    progress = run_on_cluster(
        cluster,
        make_job,
        source_shards(sources, shard_lines),
        store,
        device=plan.resources.device,
        threads=plan.resources.threads,
        total=total,
        quiet=quiet,
    )
    if not quiet:
        print_summary(progress)
    summary = finish(shards, progress.shards, started)
    failed = merge_failed(map(store.failed, range(progress.shards)), shards.folder / DEAD_LETTERS)
    if failed:
        raise InputError(f"{failed:,} lines failed on every try; {shards.folder / DEAD_LETTERS} has them")
    return summary
