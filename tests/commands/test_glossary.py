"""`specdec translate --glossary` and `--keep`: terms in lines and documents, JSON, statistics, warnings and refused options."""

import json
import re
from pathlib import Path

import pytest

from specdec_cli.pipeline.term_placing import TermPlacer
from tests import command_line
from tests.command_line import Result, done

TERMS = "# kitchen\nfridge\tK\u00e4ltetruhe\nmilk\tKuhsaft\nhot chocolate\tKakao Spezial\nbroken\tdefekt\n"
TEXT = (
    "The fridge is broken.\n"
    "Milk and hot chocolate are in the fridge. I like milk!\n"
    "\n"
    "- See http://milk.org for <b>milk</b>.\n"
    "The children are playing in the garden.\n"
)


def run(tmp_path: Path, *arguments: str, text: str = TEXT, terms: str | None = TERMS) -> Result:
    glossary = tmp_path / "terms.tsv"
    glossary.write_text(terms or "", encoding="utf-8")
    options = () if terms is None else ("--glossary", str(glossary))
    return command_line.run("translate", "--threads", "1", *options, *arguments, text=text.encode())


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--decoding", "greedy", "--batch-size", "1"),
        ("--decoding", "beam"),
        ("--decoding", "specdec++", "--preset", "high-efficiency"),
        pytest.param(("--engine", "reference", "--precision", "int8"), marks=pytest.mark.long),
    ],
)
def test_all_terms_come_out(options: tuple[str, ...], tmp_path: Path) -> None:
    result = done(run(tmp_path, *options, "--stats"))
    first, second, blank, third, last = result.stdout.splitlines()
    assert "K\u00e4ltetruhe" in first and "defekt" in first
    assert second.count("Kuhsaft") == 2 and "Kakao Spezial" in second and "K\u00e4ltetruhe" in second
    assert blank == "" and third.startswith("- ") and "http://milk.org" in third and "<b>" in third and "Kuhsaft" in third
    assert last == run(tmp_path, *options, terms=None).stdout.splitlines()[-1]
    assert "7, of which the output has 7" in " ".join(result.stderr.split())


def test_both_engines_give_the_same_output(tmp_path: Path) -> None:
    native, reference = (
        run(tmp_path, "--json", "--decoding", "greedy", "--batch-size", "4", "--precision", "int8", "--engine", engine).stdout
        for engine in ("native", "reference")
    )
    assert native == reference != ""


def test_json_names_the_terms(tmp_path: Path) -> None:
    result = run(tmp_path, "--json", "--keep", "Specdec", text="Specdec cools the fridge.\nNo term.\n")
    first, second = map(json.loads, result.stdout.splitlines())
    assert first["terms"] == [
        {"source": "Specdec", "target": "Specdec", "found": True},
        {"source": "fridge", "target": "K\u00e4ltetruhe", "found": True},
    ]
    assert (first["decoding"], second["terms"]) == ("glossary", [])
    assert first["rounds"] > first["tokens"] > 0


def test_a_term_that_cannot_be_brought_in_causes_a_warning(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Hello.\nThe fridge is broken.\n")
    result = run(tmp_path, "--max-length", "2", "--format", "lines", str(tmp_path / "a.txt"))
    plain = run(tmp_path, "--max-length", "2", "--format", "lines", str(tmp_path / "a.txt"), terms=None)
    assert (result.exit_code, result.stdout) == (0, plain.stdout)
    assert f"{tmp_path / 'a.txt'}, line 2: 'K\u00e4ltetruhe' for 'fridge', 'defekt' for 'broken': not in " in result.stderr
    assert "fridge" not in run(tmp_path, "--max-length", "2", "--quiet", str(tmp_path / "a.txt")).stderr


def test_terms_in_documents(tmp_path: Path) -> None:
    text = "# Milk\n\nThe *fridge* is `broken`.\n\n| fridge | milk |\n| --- | --- |\n| a | b |\n"
    result = done(run(tmp_path, "--format", "md", text=text))
    heading, _, sentence, _, table, *_ = result.stdout.splitlines()
    assert heading == "# Kuhsaft" and table == "| K\u00e4ltetruhe | Kuhsaft |"
    assert "*K\u00e4ltetruhe*" in sentence and "`broken`" in sentence


def test_a_copied_translation_has_the_terms_too(tmp_path: Path) -> None:
    pytest.importorskip("rapidfuzz")
    memory = tmp_path / "memory.tsv"
    memory.write_text("The fridge is broken.\tDer K\u00fchlschrank ist kaputt.\nGood morning.\tMoin.\n", encoding="utf-8")
    result = run(tmp_path, "--tm", str(memory), "--exact-matches", "copy", text="The fridge is broken.\nGood morning.\n")
    first, second = result.stdout.splitlines()
    assert "K\u00e4ltetruhe" in first and "defekt" in first and second == "Moin."


def test_drafts_of_sentences_with_terms_count(tmp_path: Path) -> None:
    pytest.importorskip("rapidfuzz")
    memory, text = tmp_path / "memory.tsv", "The fridge is broken.\n"
    usual = run(tmp_path, terms=None, text=text).stdout.strip()
    memory.write_text(f"The fridge is broken.\t{usual}\n", encoding="utf-8")
    plain, helped = (json.loads(run(tmp_path, "--tm", str(memory), "--json", text=text, terms=terms).stdout) for terms in (None, TERMS))
    assert helped["decoding"] == "glossary" and helped["accepted"] == plain["accepted"] > 0


def test_an_empty_glossary_has_no_terms(tmp_path: Path) -> None:
    result = run(tmp_path, "--json", "--stats", text="Good morning.\n", terms="# none yet\n")
    assert json.loads(result.stdout)["terms"] == [] and "0, of which the output has 0" in " ".join(result.stderr.split())
    assert "terms" not in json.loads(run(tmp_path, "--json", text="Good morning.\n", terms=None).stdout)


@pytest.mark.parametrize("engine", ["native", pytest.param("reference", marks=pytest.mark.long)])
def test_a_full_stop_of_a_target_also_ends_the_sentence(engine: str, tmp_path: Path) -> None:
    result = run(tmp_path, "--engine", engine, text="He went to the train station.\n", terms="train station\tHbf.\n")
    assert result.stdout.endswith(" Hbf.\n")


def test_a_term_between_tags_is_translated_alone(tmp_path: Path) -> None:
    assert "<i>Bude</i>" in run(tmp_path, text="The <i>house</i> is red.\n", terms="house\tBude\n").stdout


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("I saw " + ", ".join(f"w{each}" for each in range(12)) + " and the other things in the garden.\n", 12),
        (" ".join(f"w{each}" for each in range(40)) + ".\n", 40),
    ],
)
def test_a_sentence_with_many_terms_is_translated_in_parts(text: str, terms: int, tmp_path: Path) -> None:
    glossary = "".join(f"w{each}\tzq{each}xx\n" for each in range(terms))
    translated = json.loads(run(tmp_path, "--json", text=text, terms=glossary).stdout)
    assert all(term["found"] for term in translated["terms"]) and translated["text"].endswith(".")
    assert re.findall(r"(?i)zq(\d+)xx", translated["text"]) == list(map(str, range(terms)))
    assert set(translated["warnings"]) <= {"glossary"}


def test_an_inserted_term_causes_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = run(tmp_path, "--json", text="The fridge is old.\n")
    monkeypatch.setattr(TermPlacer, "_try_placeholders", lambda *_: None)
    inserted = run(tmp_path, "--json", text="The fridge is old.\n")
    assert [json.loads(each.stdout)["warnings"] for each in (usual, inserted)] == [[], ["glossary"]]
    assert usual.stderr == "" and "line 1: 'Kältetruhe' for 'fridge': may not fit in " in inserted.stderr


def test_a_sentence_of_terms_alone_has_their_targets(bundle_folder: Path, tmp_path: Path) -> None:
    result = run(tmp_path, "-m", str(bundle_folder), "--max-length", "9", text="kalo mita\n", terms="kalo\tpe no\nmita\tresu\n")
    assert (result.exit_code, result.stdout) == (0, "Pe no resu\n")


def test_a_sentence_that_cannot_have_its_terms_is_translated_as_usual(tmp_path: Path) -> None:
    too_long = "fridge\t" + "zq0xx " * 20 + "\n"
    result, plain = (run(tmp_path, "--json", "--max-length", "12", text="The fridge is old.\n", terms=terms) for terms in (too_long, None))
    translated, usual = (json.loads(each.stdout) for each in (result, plain))
    assert (translated["text"], translated["rounds"]) == (usual["text"], usual["rounds"])
    assert not any(term["found"] for term in translated["terms"]) and result.stderr.count("for 'fridge': not in") == 1


@pytest.mark.parametrize(
    ("arguments", "terms", "code", "message"),
    [
        ((), "a b\n", 3, "terms.tsv, line 1: 0 tabs"),
        (("--keep", "milk"), TERMS, 2, "'milk' is kept, but the glossary gives it the target 'Kuhsaft'"),
        (("--json", "--decoding", "beam", "--n-best", "2"), TERMS, 2, "--n-best"),
    ],
)
def test_refused(arguments: tuple[str, ...], terms: str, code: int, message: str, tmp_path: Path) -> None:
    result = run(tmp_path, *arguments, terms=terms)
    assert (result.exit_code, result.stdout) == (code, "") and message in " ".join(result.stderr.split())


def test_labels_are_left_to_the_model_on_request() -> None:
    def translated(*options: str) -> Result:
        return command_line.run("translate", "--threads", "1", "--decoding", "greedy", *options, text=b"Home\nHours\tFree\n")

    assert translated().stdout == "Startseite\nStunden\tKostenlos\n"
    assert "Startseite" not in translated("--no-labels").stdout
    values = [json.loads(line) for line in translated("--json").stdout.splitlines()]
    assert [(each["text"], each["tokens"], each["decoding"]) for each in values] == [
        ("Startseite", 0, "copy"),
        ("Stunden\tKostenlos", 0, "copy"),
    ]
    assert translated("--keep", "Home").stdout.splitlines()[0] == "Home"
