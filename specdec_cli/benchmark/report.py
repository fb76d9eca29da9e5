"""Benchmark results as JSON and as text tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from specdec_cli.benchmark.histogram import WIDTH, Bin
from specdec_cli.benchmark.rows import CTRANSLATE2, Sweep
from specdec_cli.benchmark.summary import Result

FORMAT = 1
NOTHING = "—"
METRICS = {
    "bleu": "BLEU",
    "rouge1": "ROUGE-1",
    "rouge2": "ROUGE-2",
    "rougeLsum": "ROUGE-Lsum",
    "chrf": "chrF",
    "gleu": "GLEU",
    "precision": "precision",
    "recall": "recall",
    "f05": "F0.5",
    "sari": "SARI",
    "edit_ratio": "edit ratio",
}
"""Names of metrics in tables, in the order of columns."""
_BAR = 40

Cell = Callable[[Result], str]


@dataclass(frozen=True)
class Table:
    """A table of text cells; all columns but the first `names` hold numbers."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int = 1

    def part(self, start: int, end: int) -> "Table":
        """A table of the name columns and of the number columns `start` to `end` (exclusive, counted from 0)."""
        names, numbers = slice(self.names), slice(self.names + start, self.names + end)
        return Table(self.columns[names] + self.columns[numbers], tuple(row[names] + row[numbers] for row in self.rows), self.names)

    def to_markdown(self) -> str:
        """The table in GitHub's Markdown."""
        rule = [":--" if number < self.names else "--:" for number in range(len(self.columns))]
        lines = [self.columns, rule, *self.rows]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def to_json(
    results: Sequence[Result], environment: Mapping[str, Any], examples: Mapping[str, Any], signatures: Mapping[str, str]
) -> dict[str, Any]:
    """The result of `bench --json`; values that were not measured are None."""
    return {
        "format": FORMAT,
        "environment": dict(environment),
        "input": dict(examples),
        "signatures": dict(signatures),
        "rows": [_row_to_json(result) for result in results],
    }


def main_table(results: Sequence[Result]) -> Table:
    """The main table, with a line for each row."""
    columns: dict[str, Cell] = {
        "decoding": lambda r: r.row.name,
        **_quality(results),
        "iterations": lambda r: _number(r.iterations, 2),
        "tokens per round": lambda r: _number(r.tokens_per_round, 2),
        **(_ADAPTIVE if any(result.drafted is not None for result in results) else {}),
        "ms a sentence": lambda r: _number(r.median_ms, 1),
        "tokens/s": lambda r: _number(r.tokens_per_second, 0),
        **_spread(results),
        "speedup vs greedy": lambda r: _ratio(r.speedup_vs_greedy),
        "speedup vs beam": lambda r: _ratio(r.speedup_vs_beam),
        **{f"speedup vs {name}": _speedup(other) for name, other in _opponents(results).items()},
        "identical lines": _identical,
        "peak memory, MB": lambda r: _number(r.peak_memory_mb, 0),
    }
    return _table(columns, results)


def sweep_table(results: Sequence[Result], sweep: Sweep) -> Table:
    """The table of a sweep, with a line for each row and combination of values (technical report, Tables 6 and 12, Figure 7)."""
    columns: dict[str, Cell] = {"decoding": lambda r: r.row.name}
    columns |= {key.replace("-", " "): _setting(key.replace("-", "_")) for key in sweep}
    columns |= {
        "tokens per round": lambda r: _number(r.tokens_per_round, 2),
        "iterations": lambda r: _number(r.iterations, 2),
        **_quality(results),
        "tokens/s": lambda r: _number(r.tokens_per_second, 0),
        **_spread(results),
        "speedup vs greedy": lambda r: _ratio(r.speedup_vs_greedy),
        **({"speedup vs beam": lambda r: _ratio(r.speedup_vs_beam)} if any(r.speedup_vs_beam for r in results) else {}),
    }
    return _table(columns, results)


def tuning_table(results: Sequence[Result], chosen: Mapping[str, Result]) -> Table:
    """The table of a tuning run, with a line for each setting and the presets for which it was chosen."""
    columns: dict[str, Cell] = {
        "decoding": lambda r: r.row.name,
        "chosen for": lambda r: ", ".join(name for name, one in chosen.items() if one is r),
        "top beta": _setting("top_beta"),
        "tolerance": _setting("tolerance"),
        **_quality(results),
        "tokens per round": lambda r: _number(r.tokens_per_round, 2),
        "iterations": lambda r: _number(r.iterations, 2),
        "identical lines": _identical,
    }
    return replace(_table(columns, results), names=2)


def tolerance_table(results: Sequence[Result], sweep: Sweep) -> Table:
    """Tokens per round and BLEU by tolerance (rows) and top-beta (columns), as in the technical report's Table 7."""
    cells = {(r.settings["tolerance"], r.settings["top_beta"]): _tokens_and_bleu(r) for r in results if "top_beta" in r.settings}
    columns = ("tolerance", *(f"top-{beta}" for beta in sweep["top-beta"]))
    rows = ((str(tau), *(cells.get((tau, beta), NOTHING) for beta in sweep["top-beta"])) for tau in sweep["tolerance"])
    return Table(columns, tuple(rows))


def synthetic_table(results: Sequence[Result]) -> Table:
    """The table of a geometry, with a line for each row and its speedups over the rows without drafts."""
    columns: dict[str, Cell] = {
        "decoding": lambda r: f"{r.row.decoding}, recorded" if r.settings["recorded"] else r.row.decoding,
        "precision": _setting("precision"),
        "threads": _setting("threads"),
        "tokens per round": lambda r: _number(r.tokens_per_round, 2),
        "ms a sentence": lambda r: _number(r.median_ms, 1),
        "tokens/s": lambda r: _number(r.tokens_per_second, 0),
        **{f"speedup vs {other.row.decoding}": _speedup(other) for other in results if not other.row.drafts},
        "identical lines": _identical,
    }
    return _table(columns, results)


def profile_table(profiles: Mapping[str, Mapping[str, float]], sentences: int, iterations: Mapping[str, float | None]) -> Table:
    """Milliseconds a sentence and share of the time by module, in two columns for each row (technical report, Table 15).

    The last line is the time of a round of one sentence without the encoder, from the mean `iterations` of the rows.
    """
    columns = ["module"]
    rows: dict[str, list[str]] = {}
    for name, seconds in profiles.items():
        columns += [f"{name}, ms", "share"]
        total = sum(seconds.values())
        for module, part in (*seconds.items(), ("total", total)):
            rows.setdefault(module, [module]).extend([_number(1000 * part / sentences, 2), f"{part / total:.1%}"])
        rounds = sentences * (iterations.get(name) or 0)
        a_round = 1000 * (total - seconds.get("encoder", 0.0)) / rounds if rounds else None
        rows.setdefault("a round", ["a round"]).extend([_number(a_round, 2), NOTHING])
    return Table(tuple(columns), tuple(map(tuple, rows.values())))


def histogram_table(bins: Sequence[Bin]) -> Table:
    """Numbers and shares of sentences by speedup, with bars (technical report, Figure 8)."""
    total, largest = sum(entry.count for entry in bins), max((entry.count for entry in bins), default=0)
    rows = []
    for entry in bins:
        label = f"{entry.low:.1f}x to {entry.low + WIDTH:.1f}x"
        rows.append((label, "█" * round(_BAR * entry.count / largest), f"{entry.count:,}", f"{entry.count / total:.1%}"))
    return Table(("speedup", "", "sentences", "share"), tuple(rows), names=2)


def _table(columns: Mapping[str, Cell], results: Sequence[Result]) -> Table:
    return Table(tuple(columns), tuple(tuple(cell(result) for cell in columns.values()) for result in results))


def _quality(results: Sequence[Result]) -> dict[str, Cell]:
    """A column for each metric that was computed for any row."""
    measured = {name for result in results for name in result.quality}
    return {label: _metric(name) for name, label in METRICS.items() if name in measured}


def _metric(name: str) -> Cell:
    return lambda result: _number(result.quality.get(name), 2)


def _setting(name: str) -> Cell:
    return lambda result: str(result.settings.get(name, NOTHING))


def _speedup(other: Result) -> Cell:
    return lambda result: _ratio(result.tokens_per_second / other.tokens_per_second)


def _opponents(results: Sequence[Result]) -> dict[str, Result]:
    """The fastest row of each CTranslate2 decoding."""
    fastest: dict[str, Result] = {}
    for result in results:
        name = result.row.decoding
        if name in CTRANSLATE2 and (name not in fastest or result.tokens_per_second > fastest[name].tokens_per_second):
            fastest[name] = result
    return fastest


def _block_size(result: Result) -> str:
    """The block size; if it was adaptive, its mean over the rounds with a draft."""
    if result.drafted is None:
        return str(result.settings.get("block_size", NOTHING))
    return _number(result.block_size, 1) if result.drafted else NOTHING


def _drafted(result: Result) -> str:
    return NOTHING if result.drafted is None else f"{result.drafted:.0%}"


_ADAPTIVE: Mapping[str, Cell] = {"block size": _block_size, "rounds with a draft": _drafted}
"""Columns that are shown if any row has an adaptive block size."""


def _spread(results: Sequence[Result]) -> dict[str, Cell]:
    """A column for the spread over repetitions, if there are several."""
    cell: Cell = lambda r: NOTHING if r.spread is None else f"{r.spread:.0%}"  # noqa: E731
    return {"spread": cell} if any(r.spread is not None for r in results) else {}


def _identical(result: Result) -> str:
    return f"{result.identical[0]} of {result.identical[1]}" if result.identical else NOTHING


def _row_to_json(result: Result) -> dict[str, Any]:
    return {
        "decoding": result.row.decoding,
        "settings": result.settings,
        **{name: _rounded(result.quality.get(name)) for name in dict.fromkeys(("bleu", "chrf", *result.quality))},
        "iterations": _rounded(result.iterations),
        "tokens_per_round": _rounded(result.tokens_per_round),
        "block_size": _rounded(result.block_size),
        "drafted": _rounded(result.drafted),
        "ms_per_sentence": {"median": _rounded(result.median_ms), "p95": _rounded(result.p95_ms)},
        "tokens_per_second": _rounded(result.tokens_per_second),
        "spread": _rounded(result.spread),
        "speedup_vs_greedy": _rounded(result.speedup_vs_greedy),
        "speedup_vs_beam": _rounded(result.speedup_vs_beam),
        "identical": result.identical and list(result.identical),
        "peak_memory_mb": _rounded(result.peak_memory_mb),
    }


def _tokens_and_bleu(result: Result) -> str:
    return f"{_number(result.tokens_per_round, 2)} / {_number(result.quality.get('bleu'), 2)}"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _number(value: float | None, digits: int) -> str:
    return NOTHING if value is None else f"{value:,.{digits}f}"


def _ratio(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}x"
