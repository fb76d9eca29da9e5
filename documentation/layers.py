"""The table of translators with 2, 4 and 6 decoder layers: BLEU on every dev set, and time of the fastest exact decoding."""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from documentation.results import load
from documentation.tables import markdown, row_name, sources

_Row = dict[str, Any]


def layers(*names: str) -> str:
    """The Markdown table of the stored results `names`, each of which has the same models on another text.

    A line for each model: BLEU of greedy decoding on every text, and over all texts the mean milliseconds a sentence of greedy decoding
    and of the fastest decoding with the same output, whose name and tokens per round follow.
    """
    stored = [load(name) for name in names]
    lines = [_line(model, [_rows_of(one.rows, model) for one in stored]) for model in dict.fromkeys(row["model"] for row in stored[0].rows)]
    texts = (f"BLEU, {one.label}" for one in stored)
    times = ("ms, greedy", "ms, fastest exact", "which", "its tokens per round", "against greedy")
    return markdown(("model", *texts, "mean BLEU", *times), lines, 1) + sources(stored)


def _rows_of(rows: Sequence[_Row], model: str) -> dict[str, _Row]:
    return {row_name(row): row for row in rows if row["model"] == model}


def _line(model: str, texts: Sequence[dict[str, _Row]]) -> tuple[str, ...]:
    bleu = [rows["greedy"]["bleu"] for rows in texts]
    exact = [name for name in texts[0] if all(rows[name]["identical"] and len(set(rows[name]["identical"])) == 1 for rows in texts)]
    times = {name: mean(rows[name]["ms_per_sentence"]["median"] for rows in texts) for name in exact}
    fastest = min(times, key=times.__getitem__)
    tokens = mean(rows[fastest]["tokens_per_round"] for rows in texts)
    speeds = (f"{times['greedy']:.2f}", f"{times[fastest]:.2f}", fastest, f"{tokens:.2f}", f"{times['greedy'] / times[fastest]:.2f}x")
    return (Path(model).name, *(f"{value:.2f}" for value in (*bleu, mean(bleu))), *speeds)
