"""What prepared text must satisfy, and a count of what was dropped for which reason."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from sacremoses import MosesDetokenizer, MosesPunctNormalizer

from specdec_cli.text.parallel import Pair


@dataclass(frozen=True)
class CleaningRules:
    """Limits in characters; a pair outside of them is dropped."""

    domains: frozenset[str] = frozenset()
    minimum_length: int = 1
    maximum_length: int = 400
    maximum_ratio: float = 3.0
    short: int = 20
    normalize_punctuation: bool = False
    detokenize: bool = False
    languages: tuple[str, str] = ("en", "de")


@dataclass
class CleaningReport:
    """How many pairs were read, how many kept, and why the others were dropped."""

    read: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)


def clean(pairs: Iterable[Pair], rules: CleaningRules, report: CleaningReport) -> Iterator[Pair]:
    """The pairs that satisfy `rules`, in order, each once; `report` is filled on the way."""
    rewrite = [_rewriter(language, rules) for language in rules.languages]
    seen: set[int] = set()
    for pair in pairs:
        report.read += 1
        pair = Pair(rewrite[0](pair.source), rewrite[1](pair.target), pair.domain)
        reason = _reason_to_drop(pair, rules)
        key = hash((pair.source, pair.target))
        if reason is None and key in seen:
            reason = "duplicate"
        if reason is not None:
            report.dropped[reason] += 1
            continue
        seen.add(key)
        report.kept += 1
        yield pair


def _reason_to_drop(pair: Pair, rules: CleaningRules) -> str | None:
    if rules.domains and pair.domain not in rules.domains:
        return "domain not chosen"
    source, target = len(pair.source), len(pair.target)
    if min(source, target) < rules.minimum_length:
        return "empty or too short"
    if max(source, target) > rules.maximum_length:
        return "too long"
    if max(source, target) > rules.short and max(source, target) > rules.maximum_ratio * min(source, target):
        return "length ratio"
    if "\0" in pair.source or "\0" in pair.target:
        return "NUL byte"
    return None


def _rewriter(language: str, rules: CleaningRules) -> Callable[[str], str]:
    steps: list[Callable[[str], str]] = [str.strip]
    if rules.detokenize:
        detokenizer = MosesDetokenizer(lang=language)
        steps.append(lambda text: str(detokenizer.detokenize(text.split(" "))))
    if rules.normalize_punctuation:
        steps.append(MosesPunctNormalizer(lang=language).normalize)

    def rewrite(text: str) -> str:
        for step in steps:
            text = step(text)
        return text

    return rewrite
