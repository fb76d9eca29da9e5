"""The Python API: its pages, its imports, laziness, threads, forks, and the end of a model."""

import doctest
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import specdec_cli
from specdec_cli import Corrector, DecodingOptions, InputError, ModelError, SpecdecError, Translator, UsageError
from specdec_cli.memories.memory import open_memory
from specdec_cli.pipeline.drafts import DraftGate, Drafts
from tests.command_line import run

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"^```pycon\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINES = ["Good morning!", "", "My brother is learning to swim. He likes the sea.", "The house is old."]


@pytest.fixture(scope="module")
def translator() -> Iterator[Translator]:
    with Translator("en-de", threads=1) as opened:
        yield opened


@pytest.fixture(scope="module")
def corrector() -> Iterator[Corrector]:
    with Corrector("en-gec", threads=1) as opened:
        yield opened


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_examples_of_the_pages_are_true(page: str) -> None:
    text = "\n".join(_BLOCK.findall((ROOT / page).read_text(encoding="utf-8")))
    examples = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    said: list[str] = []
    result = doctest.DocTestRunner().run(examples, out=said.append)
    assert result.attempted > 2 and result.failed == 0, "".join(said)


@pytest.mark.parametrize(("statement", "most"), [("import specdec_cli", 1), ("from specdec_cli import *", 200)])
def test_an_import_loads_nothing_heavy(statement: str, most: int) -> None:
    program = f"import os, sys; before = dict(os.environ); {statement}; assert dict(os.environ) == before; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert {"torch", "numpy", "ctranslate2", "typer", "rich", "starlette", "lxml", "sentencepiece"} & set(loaded) == set()
    assert len([name for name in loaded if name.startswith("specdec_cli")]) <= most


def test_every_public_name_is_documented() -> None:
    assert set(specdec_cli.__all__) <= set(dir(specdec_cli))
    assert [name for name in specdec_cli.__all__ if name != "__version__" and not getattr(specdec_cli, name).__doc__] == []
    with pytest.raises(AttributeError, match="nix"):
        specdec_cli.nix  # noqa: B018


def test_lines_equal_those_of_the_command(translator: Translator, corrector: Corrector) -> None:
    text = "".join(f"{line}\n" for line in [*LINES, "He have no tea."])
    for command, lines in (("translate", translator.lines), ("correct", corrector.lines)):
        result = run(command, "--threads", "1", text=text)
        assert "".join(f"{each.text}\n" for each in lines(text.splitlines(keepends=True))) == result.stdout


def test_lines_are_lazy() -> None:
    read: list[str] = []

    def lines() -> Iterator[str]:
        for line in LINES:
            read.append(line)
            yield line

    with Translator("en-de", threads=1, batch_size=1) as opened:
        results = opened.lines(lines())
        assert read == []
        assert next(results).text == "Guten Morgen!" and read == LINES[:1]
        assert next(results).text == "" and read == LINES[:2]
    with pytest.raises(SpecdecError, match=r"^en-de: the model has been closed$"):
        next(results)


def test_a_text_keeps_its_line_ends(translator: Translator) -> None:
    assert translator.translate("Good morning!\r\n\n  Good night!") == "Guten Morgen!\r\n\n  Gute Nacht!"
    assert translator.translate("") == "" and translator.translate("\n") == "\n"
    with pytest.raises(TypeError, match=r"^text: a text is expected, not bytes$"):
        translator.translate(b"Good morning!")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not one text"):
        next(translator.lines("Good morning!"))


def test_edits_of_a_text_have_offsets_into_it(corrector: Corrector) -> None:
    text = "She don't like it.\r\n\nIt is hot. He have no tea.\nThis is right."
    found = corrector.correct(text)
    assert found.text == "She doesn't like it.\r\n\nIt is hot. He has no tea.\nThis is right."
    assert [edit.text for edit in found.edits] == ["doesn't", "has"]
    for edit in found.edits:
        assert text[edit.start : edit.end] == edit.source and found.text[slice(*edit.output)] == edit.text
    assert corrector.correct("").text == "" and corrector.correct("").edits == ()


@pytest.mark.parametrize(("format", "source"), [("md", "# Good morning!\n\n- The *house* is old.\n"), ("txt", "Good morning!\n")])
def test_documents_equal_those_of_the_command(format: str, source: str, translator: Translator, tmp_path: Path) -> None:
    path = tmp_path / f"a.{format}"
    path.write_text(source, encoding="utf-8")
    result = run("translate", path, "--threads", "1")
    assert translator.document(source.encode(), format).decode() == result.stdout  # type: ignore[arg-type]


def test_a_document_is_corrected(corrector: Corrector) -> None:
    assert corrector.document(b"He have *no* tea.\n\n> Right.\n", "md") == b"He has *no* tea.\n\n> Right.\n"
    assert corrector.document(b"He have no tea.\n", "lines") == b"He has no tea.\n"


def test_threads_share_a_model(translator: Translator) -> None:
    alone = translator.translate("\n".join(LINES))
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: translator.translate("\n".join(LINES)), range(12))) == {alone}


def test_a_forked_process_decodes() -> None:
    program = """
import os
from specdec_cli import Translator
translator = Translator("en-de", threads=2)
first = translator.translate("Good morning!")
translator._lock.acquire()  # as a thread of the parent would hold it
child = os.fork()
if child == 0:
    os._exit(0 if translator.translate("Good morning!") == first else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (result.stdout, result.stderr) == ("0\n", "")


def test_wrong_arguments_have_errors_of_the_package(translator: Translator, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="nix: not a folder"):
        Translator("nix")
    wrong: dict[str, Any] = {"device": "gpu", "precision": "int4", "engine": "c", "threads": 0, "batch_size": 0}
    for name, value in wrong.items():
        with pytest.raises(UsageError, match=rf"^{name} must be .*, not {value!r}$"):
            Translator("en-de", **{name: value})
    for terms, empty in (({"": "Hund"}, "source"), ({"dog": " "}, "target")):
        with pytest.raises(InputError, match=f"glossary, term .*: the {empty} is empty"):
            Translator("en-de", glossary=terms)
    with pytest.raises(TypeError, match=r"^ignore: a sequence of words is expected, not str$"):
        Corrector(ignore="specdec")
    with pytest.raises(UsageError, match="nothing"):
        Translator("en-de", options=DecodingOptions(decoding="nothing"))
    with pytest.raises(UsageError, match="en-de translates, en to de, and cannot correct text; open it with Translator"):
        Corrector("en-de")
    with pytest.raises(UsageError, match="en-gec corrects text; open it with Corrector"):
        Translator("en-gec")
    with pytest.raises(UsageError, match="alternatives"):
        Corrector(mode="careful", min_score=1.0)
    with pytest.raises(UsageError, match="format 'pdf'"):
        translator.document(b"", "pdf")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="document, line 2: not valid UTF-8"):
        translator.document(b"a\n\xff", "lines")
    with pytest.raises(InputError, match=re.escape(str(tmp_path / "terms"))):
        Translator("en-de", glossary=[tmp_path / "terms"])
    (tmp_path / "terms").write_text("dog\tDackel\n")
    assert Translator("en-de", glossary=str(tmp_path / "terms")).translate("My dog is sleeping.") == "Mein Dackel schläft."


def test_drafts_outlive_a_fork(tmp_path: Path) -> None:
    (tmp_path / "memory.tsv").write_text("Good morning!\tGuten Morgen!\n")
    with Translator("en-de", threads=1) as opened:
        opened.use_drafts(Drafts(open_memory(tmp_path / "memory.tsv", "en", "de", 100.0), DraftGate.for_batches(1)))
        for _ in range(2):
            assert [each.draft is None for each in opened.lines(["Good morning!", "The house is old."])] == [False, True]
            opened._after_fork()


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    with Translator("en-de", threads=1) as opened:
        opened.translate("Good morning!")
    assert capfd.readouterr() == ("", "")


def test_samples_equal_those_of_the_command() -> None:
    options = DecodingOptions(sample=True, temperature=1.5)
    with Translator("en-de", threads=1, options=options) as opened:
        texts = [each.text for each in opened.lines(LINES)]
        assert opened.translate("\n".join(LINES)).split("\n") == texts
    result = run("translate", "--threads", "1", "--sample", "--temperature", "1.5", text="\n".join(LINES))
    assert result.stdout.splitlines() == texts != [each for each in texts if each == "Guten Morgen!"]


def test_scores_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(UsageError, match="min_score: nan is not a number"):
        Corrector(min_score=float("nan"))
