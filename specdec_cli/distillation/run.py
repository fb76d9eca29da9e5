"""A distillation run: source lines are translated shard by shard; faulty translations are dropped, and each shard is saved at once."""

import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from specdec_cli.decoding.options import Sampled
from specdec_cli.distillation.teachers import Resources, Search, Teacher, TeacherModel, Translation, teacher_digest
from specdec_cli.distillation.texts import Targets, sources_digest
from specdec_cli.errors import InputError, counted
from specdec_cli.files import MANIFEST, check_manifest, json_text, read_json, write_atomically, write_json, write_text
from specdec_cli.text.checks import has_broken_characters

# Characters that separate lines or columns of the output.
_SEPARATORS = frozenset("\t\n\r\0")


@dataclass(frozen=True)
class Filters:
    """Conditions on which a translation is kept.

    It must have at most `maximum_ratio` times as many tokens as its source, or at most `short` tokens. It may equal its source
    only if `keep_copies` is set (for correction), or if the source has at most `copied_words` words.
    """

    maximum_ratio: float = 3.0
    short: int = 10
    keep_copies: bool = False
    copied_words: int = 3


ENOUGH = 32
"""Lines after which a greedy teacher whose outputs do not end is given up."""
SHARD_LINES = 10_000
"""The number of sources in a shard unless another is given."""


@dataclass(frozen=True)
class DistillationPlan:
    """The teachers of a distillation, the settings of their search, their resources, and the conditions on their output.

    A shard has `shard_lines` sources. `nearest` is the least chrF (0 to 100) of an output to one of the `targets` of its source, to which
    it is the nearest hypothesis; None for the best hypothesis. With `sampling`, there is no search: tokens are drawn at random. With
    `own_greedy` the single teacher is a bundle, whose greedy output is that of the engine which decodes text with it. `draft_model` names a
    model that drafts for it, with the same output ("": none).
    """

    models: tuple[TeacherModel, ...] = ()
    search: Search = field(default_factory=Search)
    resources: Resources = field(default_factory=Resources)
    filters: Filters = field(default_factory=Filters)
    shard_lines: int = SHARD_LINES
    nearest: float | None = None
    targets: Targets | None = None
    sampling: Sampled | None = None
    own_greedy: bool = False
    draft_model: str = ""


def reason_to_drop(source: str, translation: Translation, filters: Filters) -> str | None:
    """The reason for dropping `translation` of `source`, as a label for counting; None if it is kept.

    Beside the conditions of `filters`, the translation must be finished and not blank, and have no tab, line break or NUL.
    """
    text = translation.text
    if translation.tokens == 0:
        return "source too long"
    if not translation.finished:
        return "no end within the maximum length"
    if not text.strip():
        return "empty output"
    if _SEPARATORS & set(text):
        return "tab, line break or NUL in the output"
    if has_broken_characters(text, source):
        return "broken characters in the output"
    if translation.tokens > max(filters.short, filters.maximum_ratio * translation.source_tokens):
        return "runaway length"
    if not filters.keep_copies and text.strip() == source.strip() and len(source.split()) > filters.copied_words:
        return "copy of the source"
    return None


FORMAT = 1
_COUNTED = ("sources", "kept", "tokens")
DISTILLED = "distilled.tsv"


Hypotheses = dict[int, list[Translation]]
"""The hypotheses of lines of a shard, by the number of the line in it, from 0; those of a line are in order, the best first."""
DROPPED = "dropped: "
"""The name of the count of translations that were dropped for a reason is this, followed by the reason."""


class Shards:
    """The shards in `folder`; creates the folder, or resumes one whose manifest has the same `settings`.

    A run that ended before its first shard, such as one with a wrong teacher, is not resumed: its manifest and its teacher are removed.

    Shards are numbered from 0; number 0 consists of `shard-00000.tsv` (lines of source, tab, translation) and `shard-00000.json` (its
    counts), which is written second; `shard-00000.begun` has the translations of a run that ended before these. Raises UsageError if the
    manifest has other settings, naming them, and for a folder with files but no manifest.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder = folder
        if (folder / MANIFEST).exists() and not any(folder.glob("shard-*")):
            (folder / MANIFEST).unlink()
            shutil.rmtree(self.converted, ignore_errors=True)
        check_manifest(folder, {"format": FORMAT} | dict(settings))

    @property
    def converted(self) -> Path:
        """Path of the folder for the teacher's CTranslate2 form."""
        return self.folder / "teacher"

    def path(self, index: int) -> Path:
        """Path of the TSV file of shard `index`."""
        return self.folder / f"shard-{index:05d}.tsv"

    def counts(self, index: int) -> Counter[str] | None:
        """The counts of shard `index`, as `distill_lines` returns them; None if one of its two files is missing.

        Raises InputError for malformed counts.
        """
        path = self.path(index).with_suffix(".json")
        if not (path.exists() and self.path(index).exists()):
            return None
        values = read_json(path, InputError)
        try:
            dropped = {f"{DROPPED}{reason}": number for reason, number in values["dropped"].items()}
            return Counter({name: int(values[name]) for name in _COUNTED} | dropped)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}: not the counts of a shard ({error})") from error

    def complete(self, count: int) -> int:
        """The number of complete shards among the first `count`."""
        return sum(self.counts(index) is not None for index in range(count))

    def write(self, index: int, outputs: Iterable[str], counts: Counter[str]) -> None:
        """Write the files of shard `index`: first the lines `outputs`, then `counts`, so that a shard with counts is complete."""
        text = "".join(outputs)
        write_text(self.path(index), text)
        values = {name: counts[name] for name in _COUNTED} | {"dropped": dict(sorted(dropped_of(counts).items()))}
        write_json(self.path(index).with_suffix(".json"), values)
        self.path(index).with_suffix(".begun").unlink(missing_ok=True)

    def keep(self, index: int, hypotheses: Hypotheses) -> None:
        """Write the hypotheses of those lines of shard `index` that are translated already, by the number of the line in the shard."""
        found = {line: list(map(astuple, translations)) for line, translations in hypotheses.items()}
        write_text(self.path(index).with_suffix(".begun"), json_text(found) + "\n")

    def kept(self, index: int) -> Hypotheses:
        """Read the hypotheses that `keep` wrote in an earlier run; none without its file. Raises InputError for a malformed file."""
        path = self.path(index).with_suffix(".begun")
        if not path.exists():
            return {}
        try:
            return {int(line): [Translation(*each) for each in found] for line, found in read_json(path, InputError).items()}
        except (TypeError, ValueError) as error:
            raise InputError(f"{path}: not the translations of a shard ({error})") from error

    def merge(self, count: int) -> Path:
        """Concatenate the pairs of the first `count` shards in the file distilled.tsv of the folder, and return its path."""

        def join(partial: Path) -> None:
            with partial.open("wb") as merged:
                for index in range(count):
                    with self.path(index).open("rb") as shard:
                        shutil.copyfileobj(shard, merged)

        path = self.folder / DISTILLED
        write_atomically(path, join)
        return path


def dropped_of(counts: Counter[str]) -> Counter[str]:
    """The numbers of dropped translations in `counts`, by reason."""
    return Counter({name.removeprefix(DROPPED): number for name, number in counts.items() if name.startswith(DROPPED)})


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


def settings_of(plan: DistillationPlan, sources: Sequence[str]) -> dict[str, Any]:
    """The content of a run's manifest: hashes of teachers, sources and targets, and all settings of search, sampling, filters and shards.

    Raises ModelError if a file of a teacher cannot be read.
    """
    digests = {"teacher": " ".join(teacher_digest(model) for model in plan.models), "sources": sources_digest(sources)}
    if plan.targets is not None:
        digests |= {"targets": plan.targets.digest(), "nearest": str(plan.targets.minimum)}
    if (sampling := plan.sampling) is not None:
        digests |= {"sampling": f"temperature {sampling.temperature}, top-k {sampling.top_k}, seed {sampling.seed}"}
    if plan.own_greedy:
        digests |= {"engine": "specdec"}
    return digests | {"shard_lines": plan.shard_lines} | asdict(plan.search) | asdict(plan.filters)


def distill(
    sources: Sequence[str], teacher: Teacher, shards: Shards, plan: DistillationPlan, report: Callable[[Progress], None]
) -> Summary:
    """Translate `sources` in the shards of `plan`, skipping complete shards, and concatenate the shards in one file.

    This is sequence-level knowledge distillation (Kim and Rush 2016, Section 3.2), and with targets sequence-level interpolation (the
    same, Section 3.3): the nearest hypothesis to a target is kept. Calls `report` after each translated line.
    Raises InputError if no translation is kept, and whatever `teacher` raises.
    """
    meter = _ProgressMeter(0, len(sources), sum(map(len, sources)))
    count = -(-len(sources) // plan.shard_lines)
    for index in range(count):
        lines = sources[index * plan.shard_lines : (index + 1) * plan.shard_lines]
        if shards.counts(index) is not None:
            meter.skip(lines)
            continue
        hypotheses = shards.kept(index)
        meter.skip([lines[line] for line in hypotheses])
        try:
            outputs = distill_lines(lines, teacher, plan, lambda source, tokens: report(meter.count(source, tokens)), hypotheses)
        except BaseException:
            if hypotheses:
                shards.keep(index, hypotheses)
            raise
        shards.write(index, *outputs)
    return finish(shards, count, meter.started)


def finish(shards: Shards, count: int, started: float) -> Summary:
    """Concatenate the shards of a run, which are all complete, and return the totals; `started` is a value of time.monotonic().

    Raises InputError if no translation is kept.
    """
    total = Counter[str]()
    for index in range(count):
        total.update(shards.counts(index))
    dropped = dropped_of(total)
    if total["sources"] and not total["kept"]:
        reasons = ", ".join(f"{counted(number, 'line')}: {reason}" for reason, number in dropped.most_common())
        raise InputError(f"{shards.folder}: no translation of {counted(total['sources'], 'line')} was kept ({reasons})")
    shards.merge(count)
    return Summary(total["kept"], total["tokens"], time.monotonic() - started, dropped)


def distill_lines(
    sources: Sequence[str],
    teacher: Teacher,
    plan: DistillationPlan,
    report: Callable[[str, int], None] = lambda _, __: None,
    known: Hypotheses | None = None,
) -> tuple[list[str], Counter[str]]:
    """Translate `sources`; return the output for each ("source TAB translation" with LF, or "" if it is dropped), and the counts of
    "sources", translations that were "kept", output "tokens" (EOS included), and translations that were dropped for each reason.

    Without targets the best hypothesis of a source is its translation, with them the one that is nearest to a target. Calls `report`
    with each source and the number of tokens of its best hypothesis. Lines with `known` hypotheses are not translated; those of other
    lines are added, in place, as soon as all hypotheses of a line are there. Raises InputError for a greedy teacher whose outputs do not
    end, and whatever `teacher` raises.
    """
    hypotheses = {} if known is None else known
    left = [line for line in range(len(sources)) if line not in hypotheses]
    ends = any(found[0].finished for found in hypotheses.values())
    for place, found in groupby(teacher.translate([sources[line] for line in left]), key=itemgetter(0)):
        translations = [translation for _, translation in found]
        hypotheses[left[place]] = translations
        report(sources[left[place]], translations[0].tokens)
        ends = ends or translations[0].finished
        if plan.own_greedy and not ends and len(hypotheses) >= ENOUGH:
            raise _endless(len(hypotheses), plan.search.max_length)
    tokens = sum(each.tokens for translations in hypotheses.values() for each in translations)
    counts = Counter(sources=len(sources), tokens=tokens)
    outputs = [""] * len(sources)
    for line, translations in hypotheses.items():
        text, reason = _choose(sources[line], translations, plan)
        if text is None:
            counts[f"{DROPPED}{reason}"] += 1
        else:
            outputs[line] = f"{sources[line]}\t{text}\n"
            counts["kept"] += 1
    return outputs, counts


def _endless(outputs: int, longest: int) -> InputError:
    """The error of a model none of whose outputs ends by itself: it would take the longest time for nothing."""
    return InputError(
        f"none of the first {counted(outputs, 'output')} ends within {counted(longest, 'token')}: the model does not translate this text "
        "(are its weights trained, and are its languages right?)"
    )


def _choose(source: str, hypotheses: Sequence[Translation], plan: DistillationPlan) -> tuple[str | None, str]:
    """The text of the hypothesis to keep, or None and the reason why none is kept. The hypotheses are in order, the best first."""
    reasons = [reason_to_drop(source, hypothesis, plan.filters) for hypothesis in hypotheses]
    texts = [hypothesis.text for hypothesis, reason in zip(hypotheses, reasons, strict=True) if reason is None]
    if texts:
        return (texts[0] if plan.targets is None else plan.targets.nearest(source, texts)), "far from every target"
    return None, reasons[0] or ""
