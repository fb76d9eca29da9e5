"""The model's own output: lines are not split, repaired or filtered, and what would change it is refused."""

from pathlib import Path
from typing import Any

import pytest

from specdec_cli import Corrector, Translator, UsageError
from specdec_cli.pipeline.corrector import LineCorrector
from specdec_cli.pipeline.edit_filter import EditFilter
from specdec_cli.pipeline.translator import LineTranslator
from tests.command_line import run
from tests.stored_engine import opened

LINES = [
    "It costs $2.50. Mary asked: 'Why?'",
    "",
    "  The house is old  ",
    "https://example.org/a_b",
    "Der Hund ist alt und m\u00fcde.",
    "- [ ] Open {file} and save it",
]


def texts_of(decoder: Any, lines: list[str], **options: Any) -> list[str]:
    bundle, engine = decoder
    return [each.text for each in LineTranslator.of_bundle(engine, bundle, raw=True, **options).translate(lines)]


def decoded(decoder: Any, line: str) -> str:
    """What the engine and the tokenizer alone make of a line, in one piece."""
    from specdec_cli.decoding.sentence import Sentence

    bundle, engine = decoder
    ids = bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode(line.strip()))
    (found,) = engine.decode([Sentence(0, ids)])
    return str(bundle.tokenizer.decode(found.ids))


@pytest.fixture(scope="module")
def translator(pytestconfig: pytest.Config) -> Any:
    return opened("en-de", pytestconfig.cache)


def test_a_raw_translation_is_what_the_model_makes_of_the_whole_line(translator: Any) -> None:
    found = texts_of(translator, LINES)
    for line, text in zip(LINES, found, strict=True):
        outer = len(line) - len(line.lstrip()), len(line) - len(line.rstrip())
        assert text == (line[: outer[0]] + decoded(translator, line) + " " * outer[1] if line else "")
    with_rules = [each.text for each in LineTranslator.of_bundle(translator[1], translator[0]).translate(LINES)]
    assert sum(map(str.__ne__, found, with_rules)) >= 3, "the text layer changes nothing here: this test would prove nothing"


def test_a_line_that_does_not_fit_is_cut_and_named(translator: Any) -> None:
    told = list[tuple[int, str]]()
    line = "The old house, which is red, is behind the garden of the school, and " * 40 + "it is small."
    (short, long) = texts_of(translator, ["The house is old.", line], warn=lambda index, message: told.append((index, message)))
    assert short == decoded(translator, "The house is old.") and len(long.split()) > 200
    assert [index for index, _ in told] == [1] and "cut into pieces" in told[0][1]


def test_tags_of_documents_stay_in_raw_output() -> None:
    with Translator("en-de", threads=1, raw=True) as translator:
        found = translator.document(b"<p>The <b>house</b> is old.</p><p>It is red.</p>", "html").decode()
    assert found.count("<b>") == found.count("</b>") == 1 and found.startswith("<p>") and found.count("<p>") == 2


def test_a_raw_correction_is_the_model_s_output_with_all_its_edits(pytestconfig: pytest.Config) -> None:
    bundle, engine = opened("en-gec", pytestconfig.cache)
    lines = ["He go to school. I likes tea", "see https://a.org/x_y tomorow", "", "She have  two house."]
    corrector = LineCorrector(engine, bundle.tokenizer, EditFilter(minimum=0.0), languages=("en", "en"), raw=True)
    for line, each in zip(lines, corrector.correct(lines), strict=True):
        assert each.text == (decoded((bundle, engine), line) if line else "")
        assert each.text == line or each.edits
        assert [each.text[slice(*edit.output)] for edit in each.edits] == [edit.text for edit in each.edits]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["translate", "--keep", "house"], "--keep"),
        (["translate", "--glossary", "terms.tsv"], "--glossary"),
        (["correct", "--mode", "careful"], "--mode"),
        (["correct", "--min-score", "0"], "--min-score"),
        (["correct", "--mode", "thorough", "--min-score", "-1"], "--mode and --min-score"),
        (["correct", "--ignore", "teh"], "--ignore"),
        (["bench", "--sweep", "min-score=0,-1"], "--sweep min-score"),
    ],
)
def test_what_raw_output_does_not_go_with_is_refused_by_name(arguments: list[str], named: str, tmp_path: Path) -> None:
    (tmp_path / "terms.tsv").write_text("house\tHeim\n", encoding="utf-8")
    values = [str(tmp_path / each) if each == "terms.tsv" else each for each in arguments]
    model = ["-m", "en-gec"] if arguments[0] == "bench" else []
    found = run(*values, *model, "--raw", text="The house\n")
    assert found.exit_code == 2 and f"does not go with {named}" in found.output + str(found.exception or "")


def test_the_api_refuses_the_same() -> None:
    wrong: list[tuple[Any, str, Any]] = [(Translator, "keep", ["a"]), (Translator, "glossary", {"a": "b"})]
    wrong += [(Corrector, "mode", "careful"), (Corrector, "min_score", 0.0), (Corrector, "ignore", ["a"])]
    for opens, name, value in wrong:
        with pytest.raises(UsageError, match=f"raw is the model's own output and does not go with {name}"):
            opens(raw=True, **{name: value})
