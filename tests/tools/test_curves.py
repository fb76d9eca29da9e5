"""The curves of training runs are read from their logs, stored and drawn."""

import json
from pathlib import Path

import pytest

from tools import curves
from tools.pages import DOCS

LOG = """time,update,epoch,seconds,tokens,loss,learning_rate,tokens_per_second,figures
2026,100,0,1.0,10,3.0,1e-3,10,
2026,200,0,2.0,20,2.5,1e-3,10,dev_loss=2.2500 dev_perplexity=9.4877
2026,300,0,3.0,30,2.4,1e-3,10,dev_loss=2.1250 dev_perplexity=8.3729
"""


def test_evaluations_are_stored_and_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(curves, "STORED", tmp_path / "results" / "curves.json")
    monkeypatch.setattr(curves, "FIGURE", tmp_path / "curves.svg")
    (tmp_path / "metrics.csv").write_text(LOG)
    curves.main([f"a run={tmp_path / 'metrics.csv'}"])
    curves.main([f"another={tmp_path / 'metrics.csv'}"])
    assert json.loads(curves.STORED.read_text()) == {name: [[200, 2.25], [300, 2.125]] for name in ("a run", "another")}
    first = curves.FIGURE.read_text()
    assert "<svg" in first
    curves.FIGURE.unlink()
    curves.main([])
    assert curves.FIGURE.exists()
    with pytest.raises(SystemExit):
        curves.main(["only-a-name"])


def test_the_stored_curves_are_those_of_the_page() -> None:
    stored = json.loads(curves.STORED.read_text(encoding="utf-8"))
    assert len(stored) >= 4 and all(len(curve) >= 3 for curve in stored.values())
    assert f"]({curves.FIGURE.name})" in (DOCS / "training.md").read_text(encoding="utf-8")
