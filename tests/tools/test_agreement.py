"""Tokens a round of a draft model, and those that agreement allows."""

from pathlib import Path

import pytest

from tests.conftest import make_lines
from tools.agreement import Agreement, main


def test_a_model_that_drafts_for_itself_reaches_what_agreement_allows() -> None:
    texts = ["The children are playing in the garden.", "She has never been to Berlin.", "Please close the window."]
    measured, allowed, equal = Agreement("en-de", "en-de", 3).measured(texts)
    assert measured == allowed > 3
    assert equal == len(texts)


def test_each_file_has_a_line_with_both_figures(bundle_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.tsv").write_text("".join(f"{line}\tsome text\n" for line in make_lines(3, seed=5)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["agreement", str(bundle_folder), str(bundle_folder), str(tmp_path / "a.tsv"), "--lines", "2"])
        main()
    assert capsys.readouterr().out.startswith("a.tsv: ")
