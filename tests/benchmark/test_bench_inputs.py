"""The text that bench decodes, its references, and the scores of outputs."""

import gzip
from collections.abc import Mapping
from pathlib import Path

import pytest

from specdec_cli.benchmark.inputs import (
    Examples,
    read_characters,
    read_gold,
    read_input,
    read_sample,
    read_texts,
    score_correction,
    score_simplification,
)
from specdec_cli.benchmark.options import BenchOptions
from specdec_cli.errors import InputError, UsageError
from specdec_cli.model.bundle_info import Task
from specdec_cli.text.io.lines import STDIO


def test_tables_with_two_or_three_columns_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("ka\tlo\nmi\tta\n")
    assert read_texts(path, limit=1) == (("ka",), (("lo",),))
    path.write_text("news\tka\tlo\n")
    assert read_texts(path) == (("ka",), (("lo",),))


def test_tables_without_references_are_read(tmp_path: Path) -> None:
    source, reference = tmp_path / "a.en", tmp_path / "a.de"
    source.write_text("ka\nlo\n")
    assert read_texts(STDIO, source, limit=1) == (("ka",), ())
    reference.write_text("mi\nta\n")
    assert read_texts(STDIO, source, [reference]) == (("ka", "lo"), (("mi", "ta"),))
    reference.write_text("mi\n")
    assert read_texts(STDIO, source, [reference], 1) == (("ka",), (("mi",),))
    with pytest.raises(InputError, match=r"a\.de: ends after line 1, but .*a\.en has more"):
        read_texts(STDIO, source, [reference])
    source.write_text("")
    with pytest.raises(InputError, match=r"a\.en: ends after line 0, but .*a\.de has more"):
        read_texts(STDIO, source, [reference])


def test_the_sample_has_sources_and_references() -> None:
    sample = read_sample()
    assert sample.references is not None
    assert 35 <= len(sample.sources) == len(sample.references) == len(set(sample.sources))
    assert all(line.strip() == line != "" for line in sample.sources + sample.references)
    assert sample.languages == ("en", "de")
    assert all(line.strip() for line in sample.sources)


M2 = "S He go home , ok .\nA 1 2|||R|||goes|||REQUIRED|||-NONE-|||0\n\nS I do n't .\n"


@pytest.fixture
def m2(tmp_path: Path) -> Path:
    path = tmp_path / "a.m2"
    path.write_text(M2)
    return path


def test_tokenised_text_is_detokenised_unless_kept(m2: Path) -> None:
    assert read_gold(m2).sources == ("He go home, ok.", "I don't.")
    assert read_gold(m2, limit=1, keep_tokens=True).sources == ("He go home , ok .",)


@pytest.mark.parametrize(
    ("texts", "scores"),
    [
        (["He go home, ok.", "I don't."], (100, 0, 0)),
        (["He goes home, ok.", "I don't."], (100, 100, 100)),
        (["He goes home, ok.", "I do."], (50, 100, 55.56)),
    ],
)
def test_edits_are_scored_by_tokens(m2: Path, texts: list[str], scores: tuple[float, float, float]) -> None:
    score = score_correction(read_gold(m2), texts)
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
    gold = read_gold(STDIO, tmp_path / "source", [tmp_path / "one", tmp_path / "two"])
    perfect, unchanged = (score_correction(gold, texts).values for texts in (["he goes home very late", "yes"], gold.sources))
    assert perfect["gleu"] > unchanged["gleu"]
    assert [perfect["edit_ratio"], unchanged["edit_ratio"]] == pytest.approx([1 / 10, 0])
    simple = score_simplification(gold, ["he goes home very late", "yes"])
    assert simple.values["sari"] > score_simplification(gold, gold.sources).values["sari"]
    assert "nrefs:2" in simple.signatures["bleu"]
    with pytest.raises(InputError, match=r"short: ends after line 1, but .*source has more"):
        read_gold(STDIO, tmp_path / "source", [tmp_path / "short"])


def test_each_line_of_a_table_has_one_reference(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("he go home\the goes home\nyes\tyes\n")
    gold = read_gold(tmp_path / "a.tsv", limit=1)
    assert (gold.sources, gold.references) == (("he go home",), (("he goes home",),))


def test_m2_files_take_no_other_references(m2: Path) -> None:
    with pytest.raises(UsageError, match="M2 file"):
        read_gold(STDIO, m2, [m2])


def test_compressed_tables_are_read(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.tsv.gz", "wt") as stream:
        stream.write("he go home\the goes home\n")
    assert read_gold(tmp_path / "a.tsv.gz", keep_tokens=True).references == (("he goes home",),)


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


@pytest.mark.parametrize("task", ["translate", "correct"])
@pytest.mark.parametrize("table", ["ka lo\tta\nmi no\tre\n", "news\tka lo\tta\nnews\tmi no\tre\n"])
def test_the_source_column_of_a_table_is_decoded(task: Task, table: str, tmp_path: Path) -> None:
    path, reference = tmp_path / "a.tsv", tmp_path / "a.txt"
    path.write_text(table)
    reference.write_text("ta\nre\n")
    for references in ([reference], []) if task == "translate" else ([reference],):
        examples = read_input(task, None, BenchOptions(source=path, references=references))
        assert examples.sources == ("ka lo", "mi no")
