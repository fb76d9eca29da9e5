"""A distillation run: source lines are translated shard by shard; each shard is saved before the next starts."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from specdec_cli.decoding.options import Sampled
from specdec_cli.distillation.filters import Filters, reason_to_drop
from specdec_cli.distillation.models import TeacherModel, teacher_digest
from specdec_cli.distillation.shards import ShardCounts, Shards
from specdec_cli.distillation.sources import sources_digest
from specdec_cli.distillation.targets import Targets
from specdec_cli.distillation.teacher import Search, Teacher, Translation
from specdec_cli.errors import InputError


@dataclass(frozen=True)
class Progress:
    """Progress of a distillation: `lines` of `total` source lines are done, those of earlier, interrupted runs included.

    `tokens_per_second` counts the output tokens of this run; `seconds_left` is an estimate, None if there is none yet.
    """

    lines: int
    total: int
    tokens_per_second: float
    seconds_left: float | None


@dataclass
class Summary:
    """Totals over all shards, those of earlier, interrupted runs included; `seconds` is the duration of this run.

    `kept` counts the kept translations, `tokens` all output tokens of the teacher, `dropped` the dropped translations by reason.
    """

    kept: int = 0
    tokens: int = 0
    seconds: float = 0.0
    dropped: Counter[str] = field(default_factory=Counter)


@dataclass
class _ProgressMeter:
    """Measures the speed of this run.

    The time left is estimated from characters, not lines, because the longest lines of a shard are translated first.
    """

    lines: int
    total: int
    characters_left: int
    characters: int = 0
    tokens: int = 0
    started: float = field(default_factory=time.monotonic)

    def skip(self, sources: Sequence[str]) -> None:
        """Count the lines of a shard that an earlier run has completed."""
        self.lines += len(sources)
        self.characters_left -= sum(map(len, sources))

    def count(self, source: str, tokens: int) -> Progress:
        """Count a line of this run and its output tokens; return the progress."""
        self.lines += 1
        self.characters += len(source)
        self.characters_left -= len(source)
        self.tokens += tokens
        seconds = time.monotonic() - self.started
        left = seconds * self.characters_left / self.characters if self.characters else None
        return Progress(self.lines, self.total, self.tokens / max(seconds, 1e-9), left)


def settings_of(
    models: Sequence[TeacherModel],
    sources: Sequence[str],
    search: Search,
    filters: Filters,
    shard_lines: int,
    targets: Targets | None = None,
    sampling: Sampled | None = None,
) -> dict[str, Any]:
    """The content of a run's manifest: hashes of teachers, sources and targets, and all settings of search, sampling, filters and shards.

    Raises ModelError if a file of a teacher cannot be read.
    """
    digests = {"teacher": " ".join(teacher_digest(model) for model in models), "sources": sources_digest(sources)}
    if targets is not None:
        digests |= {"targets": targets.digest(), "nearest": str(targets.minimum)}
    if sampling is not None:
        digests |= {"sampling": f"temperature {sampling.temperature}, top-k {sampling.top_k}, seed {sampling.seed}"}
    return digests | {"shard_lines": shard_lines} | asdict(search) | asdict(filters)


def distill(
    sources: Sequence[str],
    teacher: Teacher,
    shards: Shards,
    filters: Filters,
    shard_lines: int,
    report: Callable[[Progress], None],
    targets: Targets | None = None,
) -> Summary:
    """Translate `sources` in shards of `shard_lines` lines, skipping complete shards, and concatenate the shards in one file.

    This is sequence-level knowledge distillation (Kim and Rush 2016, Section 3.2), and with `targets` sequence-level interpolation (the
    same, Section 3.3): the nearest hypothesis to a target is kept. Calls `report` after each translated line.
    Raises InputError if no translation is kept, and whatever `teacher` raises.
    """
    meter = _ProgressMeter(0, len(sources), sum(map(len, sources)))
    count = -(-len(sources) // shard_lines)
    for index in range(count):
        lines = sources[index * shard_lines : (index + 1) * shard_lines]
        if shards.counts(index) is None:
            outputs = distill_lines(lines, teacher, filters, lambda source, tokens: report(meter.count(source, tokens)), targets)
            shards.write(index, *outputs)
        else:
            meter.skip(lines)
    return finish(shards, count, meter.started)


def finish(shards: Shards, count: int, started: float) -> Summary:
    """Concatenate the shards of a run, which are all complete, and return the totals; `started` is a value of time.monotonic().

    Raises InputError if no translation is kept.
    """
    summary = Summary()
    sources = 0
    for index in range(count):
        counts = shards.counts(index)
        assert counts is not None
        sources += counts.sources
        summary.kept += counts.kept
        summary.tokens += counts.tokens
        summary.dropped += counts.dropped
    if sources and not summary.kept:
        reasons = ", ".join(f"{reason}: {number:,}" for reason, number in summary.dropped.most_common())
        raise InputError(f"{shards.folder}: no translation of {sources:,} lines was kept ({reasons})")
    shards.merge(count)
    summary.seconds = time.monotonic() - started
    return summary


def distill_lines(
    sources: Sequence[str],
    teacher: Teacher,
    filters: Filters,
    report: Callable[[str, int], None] = lambda _, __: None,
    targets: Targets | None = None,
) -> tuple[list[str], ShardCounts]:
    """Translate `sources`; return the output for each ("source TAB translation" with LF, or "" if it is dropped), and the counts.

    Without `targets` the best hypothesis of a source is its translation, with them the one that is nearest to a target. Calls `report`
    with each source and the number of tokens of its best hypothesis. Raises whatever `teacher` raises.
    """
    counts = ShardCounts(sources=len(sources))
    hypotheses = defaultdict[int, list[Translation]](list)
    for line, translation in teacher.translate(sources):
        if line not in hypotheses:
            report(sources[line], translation.tokens)
        hypotheses[line].append(translation)
        counts.tokens += translation.tokens
    outputs = [""] * len(sources)
    for line, found in hypotheses.items():
        text, reason = _choose(sources[line], found, filters, targets)
        if text is None:
            counts.dropped[reason] += 1
        else:
            outputs[line] = f"{sources[line]}\t{text}\n"
            counts.kept += 1
    return outputs, counts


def _choose(source: str, hypotheses: Sequence[Translation], filters: Filters, targets: Targets | None) -> tuple[str | None, str]:
    """The text of the hypothesis to keep, or None and the reason why none is kept. The hypotheses are in order, the best first."""
    reasons = [reason_to_drop(source, hypothesis, filters) for hypothesis in hypotheses]
    texts = [hypothesis.text for hypothesis, reason in zip(hypotheses, reasons, strict=True) if reason is None]
    if texts:
        return (texts[0] if targets is None else targets.nearest(source, texts)), "far from every target"
    return None, reasons[0] or ""
