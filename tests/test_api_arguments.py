"""Arguments of the Python API of wrong types, pickles, and the list of models."""

import json
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import specdec_cli
from specdec_cli import Corrector, DecodingOptions, InputError, ModelError, SpecdecError, Translator, UsageError
from specdec_cli.opening.models import SHIPPED
from tests.command_line import run

HALF = "\ud800 hello"


@pytest.fixture(scope="module")
def translator() -> Iterator[Translator]:
    with Translator("en-de", threads=1) as opened:
        yield opened


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda opened: opened.translate(None), TypeError, "text: a text is expected, not NoneType"),
        (lambda opened: opened.translate(HALF), InputError, "text: half of a surrogate pair at offset 0, which is no character"),
        (lambda opened: list(opened.lines(["a", 2])), TypeError, "lines, item 2: a text is expected, not int"),
        (lambda opened: list(opened.lines(3)), TypeError, "lines: an iterable of lines is expected, not int"),
        (
            lambda opened: list(opened.lines([HALF])),
            InputError,
            "lines, item 1: half of a surrogate pair at offset 0, which is no character",
        ),
        (lambda opened: opened.document("# A", "md"), TypeError, "data: bytes is expected, not str"),
        (lambda opened: opened.document("A", "lines"), TypeError, "data: bytes is expected, not str"),
    ],
)
def test_texts_of_wrong_types_are_named(translator: Translator, call: Callable[[Any], object], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as raised:
        call(translator)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"options": {"decoding": "greedy"}}, TypeError, "options: DecodingOptions is expected, not dict"),
        ({"options": DecodingOptions(decoding=3)}, UsageError, "options: decoding must be text, not 3"),  # type: ignore[arg-type]
        ({"options": DecodingOptions(sample="yes")}, UsageError, "options: sample must be true or false, not 'yes'"),  # type: ignore[arg-type]
        (
            {"options": DecodingOptions(block_size=0)},
            UsageError,
            "options: block_size must be an integer from 1 to 1024 or auto or null, not 0",
        ),
        ({"glossary": {"dog": 1}}, TypeError, "glossary, translation of 'dog': a text is expected, not int"),
        ({"glossary": {1: "Hund"}}, TypeError, "glossary, term 1: a text is expected, not int"),
        ({"glossary": [3]}, TypeError, "glossary: the path of a file is expected, not int"),
        ({"glossary": 3}, TypeError, "glossary: a mapping, or the path of a file or several is expected, not int"),
        ({"keep": [1]}, TypeError, "keep, item 1: a text is expected, not int"),
        ({"keep": b"a"}, TypeError, "keep: a sequence of words is expected, not bytes"),
        ({"model": 3}, TypeError, "model: a name or path is expected, not int"),
        ({"source_language": 3}, TypeError, "source_language: a text is expected, not int"),
        ({"split": "no"}, TypeError, "split: True or False is expected, not str"),
        ({"labels": None}, TypeError, "labels: True or False is expected, not NoneType"),
        ({"tell": 3}, TypeError, "tell: a function is expected, not int"),
    ],
)
def test_arguments_of_wrong_types_are_named(arguments: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as raised:
        Translator(**{"threads": 1, **arguments})
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"mode": "bold"}, UsageError, "mode 'bold': not one of careful, balanced, thorough"),
        ({"min_score": True}, TypeError, "min_score: a number is expected, not bool"),
        ({"words": 3}, TypeError, "words: a name or path is expected, not int"),
        ({"ignore_categories": [1]}, TypeError, "ignore_categories, item 1: a text is expected, not int"),
    ],
)
def test_arguments_of_correctors_are_named(arguments: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as raised:
        Corrector(threads=1, **arguments)
    assert str(raised.value) == message


def test_a_pickle_opens_the_model_in_the_other_process(tmp_path: Path) -> None:
    (tmp_path / "en-gec").symlink_to(SHIPPED / "en-gec")
    program = "import pickle, sys; opened = pickle.load(sys.stdin.buffer); print(opened); print(eval(sys.argv[1]))"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        # A relative path is that of this process.
        corrector = Corrector("./en-gec", threads=1, ignore=["he"], options=DecodingOptions(decoding="greedy"))
    with corrector, Translator("en-de", threads=1, glossary={"dog": "Dackel"}) as translator:
        for opened, call, expected in (
            (translator, "opened.translate('My dog is sleeping.')", "Mein Dackel schläft."),
            (corrector, "opened.correct('She have tea.').text", "She has tea."),
        ):
            command = [sys.executable, "-c", program, call]
            done = subprocess.run(command, input=pickle.dumps(opened), capture_output=True, check=True)
            assert done.stdout.decode().splitlines() == [repr(opened), expected]


def test_a_representation_names_model_languages_decoding_and_machine() -> None:
    opened = Translator("en-de", threads=1, options=DecodingOptions(decoding="greedy"))
    assert repr(opened) == "<Translator en-de: en to de, greedy, cpu, int8, 1 thread>"
    opened.close()
    assert repr(opened) == "<Translator en-de: en to de, greedy, closed>"
    with pytest.raises(SpecdecError, match="en-de: the model has been closed"):
        pickle.dumps(opened)


def test_models_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path))
    cached = tmp_path / "models" / "marian-123"
    cached.mkdir(parents=True)
    (cached / "bundle.json").symlink_to(SHIPPED / "en-de" / "bundle.json")
    listed = specdec_cli.models()
    assert [(each.name, each.shipped, each.task) for each in listed] == [
        ("de-en", True, "translate"),
        ("en-de", True, "translate"),
        ("en-gec", True, "correct"),
        ("marian-123", False, "translate"),
    ]
    assert listed[2].path == SHIPPED / "en-gec" and listed[2].size > 2**24
    lines = run("models", "--json").stdout.splitlines()
    assert [json.loads(line) for line in lines] == [each.to_json() for each in listed]
    (line,) = run("models", "--json", cached).stdout.splitlines()
    assert json.loads(line)["name"] == json.loads(line)["path"] == str(cached)
    (tmp_path / "models" / "damaged").mkdir()
    (tmp_path / "models" / "damaged" / "bundle.json").write_text("{", encoding="utf-8")
    with pytest.raises(ModelError, match="damaged"):
        specdec_cli.models()
