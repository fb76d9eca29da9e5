"""Outputs of held lines are compared with stored ones, and decoded once."""

from pathlib import Path

import pytest

from tools.held_text import SCORES, differing, main


def test_lines_differ_by_their_text_and_by_their_number() -> None:
    assert differing(["a", "b", "c"], ["a", "x", "c"]) == [2]
    assert differing(["a"], ["a", "b", ""]) == [2, 3]
    assert differing(["a", ""], ["a"]) == [2]
    assert differing([], []) == []


def test_a_second_run_decodes_nothing_and_names_the_lines_that_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, folder = tmp_path / "data", tmp_path / "stored"
    (data / "en-de").mkdir(parents=True)
    (data / "en-de" / "dev.chat.tsv").write_text("Hello.\tHallo.\nIt costs $2.50.\tEs kostet 2,50 $.\n", encoding="utf-8")
    arguments = [str(data), str(folder), "en-de.chat", "--show", "1"]
    assert main([*arguments, "--store"]) == 0
    (engine,) = (folder / "engine").iterdir()
    first, stored = engine.stat().st_mtime_ns, folder / "en-de.chat"
    assert len(stored.read_text(encoding="utf-8").splitlines()) == 2 and '"bleu"' in (folder / SCORES).read_text(encoding="utf-8")
    assert main(arguments) == 0 and "0 of 2 lines differ" in capsys.readouterr().out
    stored.write_text(stored.read_text(encoding="utf-8").replace("2,50", "2.50"), encoding="utf-8")
    assert main(arguments) == 1
    said = capsys.readouterr().out
    assert "1 of 2 lines differ" in said and "2 It costs $2.50." in said and '"bleu"' in said and said.endswith("1 lines differ\n")
    assert engine.stat().st_mtime_ns == first
