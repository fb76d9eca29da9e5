"""The measuring tools: stored outputs of held-out text, agreement of draft models, large correctors, and drawn quantities."""

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from specdec_cli.text.locale.quantities import find_quantities
from tests.tables import tables
from tools import large_corrector
from tools.held_text import SCORES, differing, main
from tools.large_corrector import SHARES, SIZES, edited, measure, table
from tools.quantities import COUNT, drawn_sentences, is_right, translate

CASES = tables(__file__)


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


def test_copies_have_the_share_of_edits() -> None:
    ids = list(range(1000, 2000))
    assert edited(ids, 0.0, random.Random(1), range(10)) == ids
    copied = edited(ids, 0.2, random.Random(1), range(10))
    kept = [token for token in copied if token >= 1000]
    assert kept == sorted(kept) and 800 < len(kept) < 900  # a third of the edits keeps the token
    assert 90 < len(copied) - len(kept) < 180
    assert [token for token in edited(ids, 1.0, random.Random(1), [7]) if token < 1000].count(7) > 600


def test_rows_of_a_tiny_model_give_greedy_output(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = replace(SIZES[0].shape, vocabulary_size=200, width=64, heads=2, feed_forward=64, encoder_layers=1, decoder_layers=1)
    found = measure(replace(SIZES[0], shape=shape), 1, transformers=False)
    assert len(found) == 2 + len(SHARES) and all(speed > 0 for speed in found.values())
    calls: list[int] = []
    decoded = large_corrector._decoded

    def other(*arguments: object) -> list[list[int]]:
        calls.append(1)
        return [[*ids[:-1], 5] if len(calls) > 3 else ids for ids in decoded(*arguments)]  # type: ignore[arg-type]

    monkeypatch.setattr(large_corrector, "_decoded", other)
    with pytest.raises(ValueError, match="not the output of greedy decoding"):
        measure(replace(SIZES[0], shape=shape), 1, transformers=False)


def test_the_table_has_the_stored_rows() -> None:
    lines = table().splitlines()
    assert lines[0].count("|") == 4 and "flan-t5-large" in lines[0]
    assert [line.split("|")[1].strip() for line in lines[2:5]] == ["transformers, float32", "CTranslate2, int8", "specdec, int8, `greedy`"]
    assert "(1.0x)" in lines[3] and len([line for line in lines if line.startswith("|")]) == 2 + 3 + len(SHARES)


@pytest.mark.parametrize("language", ["en", "de"])
def test_each_drawn_sentence_has_one_quantity_of_its_kind(language: str) -> None:
    drawn = list(drawn_sentences(language))
    assert drawn == list(drawn_sentences(language)) and len({text for _, text in drawn}) > 0.95 * COUNT
    assert Counter(kind for kind, _ in drawn) == {"number": 100, "time": 100, "price": 100}
    for kind, text in drawn:
        (found,) = find_quantities(text, language)
        assert (found.kind == "time") == (kind == "time") and bool(found.sign) == (kind == "price"), text


@pytest.mark.parametrize(("kind", "source", "output", "languages", "right"), CASES.quantities_are_right_as_the_target_language_writes_them)
def test_quantities_are_right_as_the_target_language_writes_them(kind: str, source: str, output: str, languages: str, right: bool) -> None:
    first, second = languages.split()
    assert is_right(kind, source, output, (first, second)) == right


def test_the_engine_alone_translates_in_order() -> None:
    assert translate("en-de", ["Good morning!", "Tom is at home."]) == ["Guten Morgen!", "Tom ist zu Hause."]
