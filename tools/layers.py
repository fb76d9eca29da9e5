"""The table of translators with 2, 4 and 6 decoder layers: BLEU on every dev set, and times of exact decodings."""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from tools.results import load
from tools.tables import markdown, row_name, sources

_Row = dict[str, Any]
_DECODINGS = ("greedy", "auto", "specdec")


def layers(*names: str) -> str:
    """The Markdown table of the stored results `names`, each of which has the same models on another text.

    A line for each model: BLEU on every text, which is the same for all decodings, and over all texts the mean milliseconds a sentence
    of each decoding, and the mean tokens per round of `specdec`. Raises ValueError if a decoding has other output than greedy decoding.
    """
    stored = [load(name) for name in names]
    lines = [_line(model, [_rows_of(one.rows, model) for one in stored]) for model in dict.fromkeys(row["model"] for row in stored[0].rows)]
    texts = (f"BLEU, {one.label}" for one in stored)
    times = (*(f"ms, {name}" for name in _DECODINGS), "tokens per round")
    return markdown(("model", *texts, "mean BLEU", *times), lines, 1) + sources(stored)


def _rows_of(rows: Sequence[_Row], model: str) -> dict[str, _Row]:
    return {row_name(row): row for row in rows if row["model"] == model}


def _line(model: str, texts: Sequence[dict[str, _Row]]) -> tuple[str, ...]:
    if any(len(set(rows[name]["identical"])) > 1 for rows in texts for name in _DECODINGS):
        raise ValueError(f"{model}: the output is not that of greedy decoding")
    bleu = [rows["greedy"]["bleu"] for rows in texts]
    times = [mean(rows[name]["ms_per_sentence"]["median"] for rows in texts) for name in _DECODINGS]
    tokens = mean(rows["specdec"]["tokens_per_round"] for rows in texts)
    return (Path(model).name, *(f"{value:.2f}" for value in (*bleu, mean(bleu), *times, tokens)))
