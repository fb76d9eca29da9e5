"""The table of precision at both ends of the outputs, as in Imamura and Sumita 2020, Table 3."""

from specdec_cli.benchmark.columns import percent
from tools.papers.tables import sources, stored
from tools.tables import markdown

LEFT_TO_RIGHT, BOTH_ENDS = "beam, beam size 5", "bidirectional, beam size 5"
PUBLISHED = {
    "all": (59.8, 59.9, 18.9, 18.2),
    "first 5": (53.8, 53.8, 16.8, 16.2),
    "first 10": (49.1, 49.0, 15.1, 14.5),
    "first 15": (45.1, 45.0, 13.7, 13.2),
    "last 5": (62.9, 64.5, 14.7, 15.3),
    "last 10": (62.2, 63.0, 16.5, 16.8),
    "last 15": (61.8, 62.2, 16.7, 16.6),
}
"""By part of the output: precision in per cent of 1-grams from left to right and from both ends, and the same of 4-grams (WMT-14)."""


def paper_ends(run: str) -> str:
    """The Markdown table of the precision of 1-grams and 4-grams, from left to right and from both ends, by part of the output.

    `run` is a result with the analysis `ends` of one model of each order, with a beam of 5. If it is not stored, the text has only its
    command.
    """
    result = stored(run)
    if result is None:
        return sources([run])
    ends = result.record["analyses"]["ends"]
    lines = []
    for part, published in PUBLISHED.items():
        of_part = [one for one in ends if one["tokens"] == part]
        pairs = [next(one for one in of_part if one["decoding"].endswith(f" {label}")) for label in (LEFT_TO_RIGHT, BOTH_ENDS)]
        ours = [percent(1)(one[key]) for key in ("1-gram", "4-gram") for one in pairs]
        lines.append((part, *(cell for mine, theirs in zip(ours, published, strict=True) for cell in (mine, f"{theirs:.1f}%"))))
    names = [f"{order}-grams, {way}" for order in (1, 4) for way in ("L2R", "both ends")]
    return markdown(["tokens", *(cell for name in names for cell in (name, "published"))], lines, 1) + sources([run])
