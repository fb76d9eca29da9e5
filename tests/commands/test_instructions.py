"""Instructions of models of the T5 family, and correctors that were trained with other toolkits, on the command line and in Python."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from specdec_cli.api import Corrector, Translator
from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle import load_bundle, read_info
from tests.command_line import done, run
from tests.conftest import make_lines
from tests.server.conftest import Running, serving

huggingface = pytest.importorskip("tests.converters.huggingface", reason="transformers is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
KNOWN = "Fix grammatical errors in this sentence: "


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A model of the T5 family whose folder has the name of a known corrector."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("saved") / "coedit-small"
    folder.mkdir()
    return huggingface.t5(folder)


@pytest.fixture(scope="module")
def unnamed(made: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model with another name."""
    return Path(shutil.copytree(made.folder, tmp_path_factory.mktemp("other") / "model"))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache folder for one test."""
    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path / "cache"))
    yield tmp_path / "cache" / "models"


def expected(made: Any, instruction: str, lines: list[str]) -> list[str]:
    """What transformers writes for the lines behind an instruction."""
    tokenizer = huggingface.transformers.T5Tokenizer.from_pretrained(made.folder)
    sources = (torch.tensor([made.encode(f"{instruction}{line}")]) for line in lines)
    outputs = (made.model.generate(source, max_length=21, num_beams=1)[0] for source in sources)
    return [tokenizer.decode(ids, skip_special_tokens=True).strip() for ids in outputs]


def test_a_known_corrector_reads_its_instruction(made: Any, cache: Path) -> None:
    lines = make_lines(8, seed=4)
    text = "".join(f"{line}\n" for line in lines)
    first = done(run("correct", "-m", made.folder, text=text))
    assert f"instruction {KNOWN!r} (--instruction sets another)" in first.stderr
    (kept,) = cache.iterdir()
    assert (read_info(kept).task, read_info(kept).source_language) == ("correct", "en")
    again = run("correct", "-m", made.folder, "--decoding", "greedy", text=text)
    assert "instruction" not in again.stderr and again.stdout == first.stdout
    raw = ("correct", "-m", made.folder, "--raw", "--precision", "float32", "--max-length", 20)
    assert run(*raw, text=text).stdout.splitlines() == expected(made, KNOWN, lines)
    for given, read in (("kalo mi:", "kalo mi: "), ("", "")):
        found = run(*raw, "--instruction", given, text=text).stdout.splitlines()
        assert found == expected(made, read, lines), given
    assert len({*expected(made, "", lines), *expected(made, KNOWN, lines)}) > 3


def test_a_corrector_that_is_not_known_corrects_where_a_corrector_is_asked_for(unnamed: Path, cache: Path) -> None:
    for command, task in (("correct", "correct"), ("translate", "translate")):
        result = done(run(command, "-m", unnamed, text="kalo mita\n"))
        assert [read_info(kept).task for kept in cache.glob(f"model-{task}-*")] == [task]
    assert len(list(cache.iterdir())) == 2
    assert run("correct", "-m", unnamed, "--precision", "float32", text="kalo mita\n").stdout == "kalo mita\n"
    result = run("convert", unnamed, cache / "bundle")
    assert result.exit_code == 3 and "name its task with --task" in result.stderr


def test_an_instruction_is_stored_in_a_bundle_and_replaced(unnamed: Path, tmp_path: Path) -> None:
    done(run("convert", unnamed, tmp_path / "bundle", "--task", "correct", "--instruction", "kalo mi: "))
    tokenizer = load_bundle(tmp_path / "bundle").tokenizer
    assert tokenizer.special_tokens.before == tuple(tokenizer.encode("kalo mi:")) != ()
    assert load_bundle(tmp_path / "bundle", instruction="").tokenizer.special_tokens.before == ()
    assert run("convert", tmp_path / "bundle", tmp_path / "plain", "--instruction", "").exit_code == 0
    assert load_bundle(tmp_path / "plain").tokenizer.special_tokens.before == ()


def test_python_takes_an_instruction(made: Any) -> None:
    lines = make_lines(6, seed=6)
    options = DecodingOptions(max_length=20)
    with Corrector(made.folder, raw=True, precision="float32", instruction="kalo mi:", options=options) as corrector:
        found = [corrector.correct(line).text for line in lines]
    assert found == expected(made, "kalo mi: ", lines)
    with pytest.raises(TypeError, match="instruction: a text is expected, not int"):
        Translator("en-de", instruction=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("command", [("translate",), ("correct",), ("bench", "-m", "en-de")])
def test_specdecs_own_models_take_no_instruction(command: tuple[str, ...]) -> None:
    result = run(*command, "--instruction", "Translate this: ", text="A house.\tEin Haus.\n")
    assert result.exit_code == UsageError.exit_code, result.output
    assert "--instruction is for converted models" in result.stderr


def test_a_server_of_several_models_takes_no_instruction() -> None:
    result = run("serve", "-m", "en-de", "-m", "en-gec", "--instruction", "x")
    assert result.exit_code == UsageError.exit_code
    assert "--instruction is for one model" in result.stderr


def test_a_teacher_reads_its_instruction(unnamed: Path, tmp_path: Path) -> None:
    assert run("convert", unnamed, tmp_path / "bundle", "--task", "correct").exit_code == 0
    (tmp_path / "source.txt").write_text("".join(f"{line}\n" for line in make_lines(6, seed=5)))
    outputs = []
    for name, instruction in (("plain", ()), ("told", ("--instruction", "kalo mi zu lo: "))):
        drawn = ("--sample", "--quantization", "float32", "--max-length", 12, "--threads", 1)
        result = done(run("distill", tmp_path / "bundle", tmp_path / name, tmp_path / "source.txt", *drawn, *instruction))
        outputs.append((tmp_path / name / "distilled.tsv").read_text())
    assert outputs[0] != outputs[1]
    result = run("distill", tmp_path / "bundle", tmp_path / "told", tmp_path / "source.txt", *drawn)
    assert result.exit_code == UsageError.exit_code, "a run is not resumed with another instruction"


def test_a_teacher_and_a_row_of_ctranslate2_read_the_instruction(made: Any, unnamed: Path, tmp_path: Path) -> None:
    lines, instruction = make_lines(6, seed=5), "kalo mi zu lo " * 12
    (tmp_path / "source.txt").write_text("".join(f"{line}\n" for line in lines))
    exported = done(
        run("convert", unnamed, tmp_path / "exported", "--to", "ctranslate2", "--task", "correct", "--instruction", instruction)
    )
    assert len(made.encode(instruction)) > 64 and re.search(r"This is a short sentence\. -> \S", exported.stderr)
    assert run("convert", unnamed, tmp_path / "bundle", "--task", "correct", "--instruction", instruction).exit_code == 0
    texts = expected(made, instruction, lines)
    for teacher in ("exported", "bundle"):
        drawn = ("--beam-size", 1, "--quantization", "float32", "--max-length", 20, "--threads", 1)
        done(run("distill", tmp_path / teacher, tmp_path / f"of-{teacher}", tmp_path / "source.txt", *drawn))
        found = dict(line.split("\t") for line in (tmp_path / f"of-{teacher}" / "distilled.tsv").read_text().splitlines())
        assert found and all(found[line] == text for line, text in zip(lines, texts, strict=True) if line in found)
    rows = ("--row", "greedy", "--row", "ctranslate2-greedy", "--row", "ctranslate2-greedy:int8", "--raw")
    pairs = "".join(f"{line}\t{line}\n" for line in lines)
    done(run("bench", "-m", tmp_path / "bundle", *rows, "--precision", "float32", "--json", tmp_path / "rows.json", text=pairs))
    found_rows = json.loads((tmp_path / "rows.json").read_text())["rows"]
    assert [row["identical"] for row in found_rows[:2]] == [[6, 6], [6, 6]] and len(found_rows) == 3


def test_the_edits_of_a_corrector_are_those_of_json(made: Any) -> None:
    lines = make_lines(5, seed=8)
    options = ("--json", "--max-edit-ratio", 9)
    result = run("correct", "-m", made.folder, "--quiet", *options, text="".join(f"{line}\n" for line in lines))
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [each["source"] for each in found] == lines
    for each in found:
        text, moved = each["source"], 0
        for edit in each["edits"]:
            start, end = edit["start"] + moved, edit["end"] + moved
            assert text[start:end] == edit["source"]
            text, moved = text[:start] + edit["text"] + text[end:], moved + len(edit["text"]) - len(edit["source"])
        assert text == each["text"]


def test_sentences_that_the_filter_drops_are_counted(made: Any) -> None:
    text = "Kalo mi zu ka lo mita resu.\nNo pe difo mita resu kalo.\n"
    first = run("correct", "-m", made.folder, text=text)
    assert first.stdout == text
    assert "2 sentences of 2 stay as they are: too many of their words would change; --max-edit-ratio inf makes" in first.stderr
    again = run("correct", "-m", made.folder, "--max-edit-ratio", "inf", text=text)
    assert "stay as they are" not in again.stderr and again.exit_code == 0
    assert run("correct", "-m", made.folder, "--quiet", text=text).stderr == ""


def test_a_server_says_how_many_sentences_it_leaves(made: Any) -> None:
    with serving("--port", "0", "-m", str(made.folder)) as (_, listening):
        server = Running(int(listening["addresses"][0].rpartition(":")[2]))
        checked = server.post("/v2/check", text="Kalo mi zu ka lo mita resu.\nNo pe difo mita resu kalo.", language="en").json
        assert checked["matches"] == []
        reason = "too many words would change in 2 sentences"
        assert checked["warnings"] == {"incompleteResults": True, "incompleteResultsReason": reason}
        assert server.post("/v2/check", text="```\nx = 1\n```", language="en").json["warnings"] == {"incompleteResults": False}


def test_pictures_have_the_instruction(made: Any, tmp_path: Path) -> None:
    sources = []
    for name, chosen in (("known", ()), ("none", ("--instruction", "")), ("other", ("--instruction", "kalo mi"))):
        picture = tmp_path / f"{name}.json"
        done(run("visualize", "mita", "-m", made.folder, "-o", picture, *chosen))
        sources.append("".join(json.loads(picture.read_text())["source"]).replace("\u2581", " ").strip())
    assert sources[1].startswith("mita") and sources[2].startswith("kalo mi mita")
    assert len(sources[0]) > len(sources[2])


@pytest.mark.parametrize("text", ["Ünïcode ½ … {x} <y> ~ a\\b", "Привет 汉字", "```\n{code}\n```"])
def test_characters_that_the_model_cannot_read_stay(made: Any, text: str) -> None:
    result = run("correct", "-m", made.folder, "--quiet", "--max-edit-ratio", "inf", "--mode", "balanced", text=f"{text}\n")
    assert result.exit_code == UsageError.exit_code and "it has none" in result.stderr
    found = run("correct", "-m", made.folder, "--quiet", "--max-edit-ratio", "inf", text=f"{text}\n").stdout
    assert [each for each in found if each in text and not each.isascii()] == [each for each in text if not each.isascii()]


def test_documents_and_reports_of_a_foreign_corrector(made: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Kalo mita\n\nResu [lo](http://a.b/c) difo `x = 1` kalo.\n")
    result = run("correct", "-m", made.folder, "--quiet", "--max-edit-ratio", "inf", page)
    assert result.exit_code == 0 and "(http://a.b/c)" in result.stdout and "`x = 1`" in result.stdout
    checked = run("correct", "-m", made.folder, "--quiet", "--check", "--format", "json", "--max-edit-ratio", "inf", page)
    assert checked.exit_code in (0, 1) and isinstance(json.loads(checked.stdout), list | dict)
