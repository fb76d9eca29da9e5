"""Rewriting tasks: reading of references, and scores."""

import gzip
from collections.abc import Mapping
from pathlib import Path

import pytest

from specdec_cli.benchmark.inputs import Examples, read_characters, read_gold, read_lines_gold, score_correction, score_simplification
from specdec_cli.errors import InputError, UsageError

M2 = "S He go home , ok .\nA 1 2|||R|||goes|||REQUIRED|||-NONE-|||0\n\nS I do n't .\n"


@pytest.fixture
def m2(tmp_path: Path) -> Path:
    path = tmp_path / "a.m2"
    path.write_text(M2)
    return path


def test_tokenised_text_is_detokenised_unless_kept(m2: Path) -> None:
    assert read_gold(m2, None, keep_tokens=False).sources == ("He go home, ok.", "I don't.")
    assert read_gold(m2, 1, keep_tokens=True).sources == ("He go home , ok .",)


@pytest.mark.parametrize(
    ("texts", "scores"),
    [
        (["He go home, ok.", "I don't."], (100, 0, 0)),
        (["He goes home, ok.", "I don't."], (100, 100, 100)),
        (["He goes home, ok.", "I do."], (50, 100, 55.56)),
    ],
)
def test_edits_are_scored_by_tokens(m2: Path, texts: list[str], scores: tuple[float, float, float]) -> None:
    score = score_correction(read_gold(m2, None, keep_tokens=False), texts)
    assert [score.values[name] for name in ("precision", "recall", "f05")] == pytest.approx(scores, abs=0.01)
    assert "gleu" not in score.values


TEXTS = {
    "source": "he go home very late\nyes\n",
    "one": "he goes home very late\nyes\n",
    "two": "he went home very late\nyes\n",
    "short": "a\n",
}


def test_line_references_are_scored_as_whole_texts(tmp_path: Path) -> None:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    gold = read_lines_gold(tmp_path / "source", TEXTS["source"].splitlines(), [tmp_path / "one", tmp_path / "two"], None, keep_tokens=False)
    perfect, unchanged = (score_correction(gold, texts).values for texts in (["he goes home very late", "yes"], gold.sources))
    assert perfect["gleu"] > unchanged["gleu"]
    assert [perfect["edit_ratio"], unchanged["edit_ratio"]] == pytest.approx([1 / 10, 0])
    simple = score_simplification(gold, ["he goes home very late", "yes"])
    assert simple.values["sari"] > score_simplification(gold, gold.sources).values["sari"]
    assert "nrefs:2" in simple.signatures["bleu"]
    with pytest.raises(InputError, match=r"short: ends after line 1, but .*source has more"):
        read_lines_gold(tmp_path / "source", TEXTS["source"].splitlines(), [tmp_path / "short"], None, keep_tokens=False)


def test_each_line_of_a_table_has_one_reference(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("he go home\the goes home\nyes\tyes\n")
    gold = read_gold(tmp_path / "a.tsv", 1, keep_tokens=False)
    assert (gold.sources, gold.references) == (("he go home",), (("he goes home",),))


def test_m2_files_take_no_other_references(m2: Path) -> None:
    with pytest.raises(UsageError, match="M2 file"):
        read_lines_gold(m2, [], [m2], None, keep_tokens=False)


def test_compressed_tables_are_read(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.tsv.gz", "wt") as stream:
        stream.write("he go home\the goes home\n")
    assert read_gold(tmp_path / "a.tsv.gz", None, keep_tokens=True).references == (("he goes home",),)


def scored(examples: Examples, *texts: str) -> Mapping[str, float]:
    """The scores of output lines."""
    found = examples.score(texts)
    assert found is not None
    return found.values


def test_characters_are_scored_with_several_references(tmp_path: Path) -> None:
    (path := tmp_path / "a.tsv").write_text("我坐飞机\t我做飞机\t我 乘飞机\n好\t好\n")
    examples = read_characters(path, None)
    assert examples.sources == ("我坐飞机", "好")
    values = scored(examples, "我乘飞机", "好了")
    assert (values["precision"], values["recall"]) == (50, 100)
    (path := tmp_path / "a.m2").write_text("S 我 坐 飞 机\nA 1 2|||S|||乘|||REQUIRED|||-NONE-|||0\n\nS 好\n")
    assert scored(read_characters(path, None), "我乘飞机", "好")["f05"] == 100
    (path := tmp_path / "b.tsv").write_text("我坐飞机\n")
    with pytest.raises(InputError, match="line 1: no tab-separated reference"):
        read_characters(path, None)
