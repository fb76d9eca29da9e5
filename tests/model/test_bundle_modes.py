"""Modes of correction in bundle.json."""

import json
from pathlib import Path

import pytest

from specdec_cli.model.bundle import read_info


@pytest.mark.parametrize(
    ("scores", "modes"),
    [
        ({"min_score": None, "min_score_in_company": None}, {}),
        ({"min_score": -0.4, "min_score_in_company": -2.5}, {"balanced": (-0.4, -2.5)}),
        ({"min_score": -0.4, "min_score_in_company": None}, {"balanced": (-0.4, -0.4)}),
    ],
)
def test_scores_of_older_bundles_are_those_of_the_balanced_mode(
    scores: dict[str, float | None], modes: dict[str, tuple[float, float]], tmp_path: Path
) -> None:
    (tmp_path / "bundle.json").write_text(json.dumps({"format": 1} | scores))
    assert read_info(tmp_path).modes == modes
