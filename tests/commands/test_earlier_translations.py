"""`specdec translate` with a memory or an earlier version: greedy's output, JSON fields, statistics and refused options."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import command_line
from tests.tables import sample, tables

CASES = tables(__file__)

pytest.importorskip("rapidfuzz")
TEXT = "kalo mita resu\nno pe difo. Kalo resu!\n\n- mita kalo {name} no\n"


def run(bundle: Path, *arguments: object, text: str = TEXT) -> command_line.Result:
    common = ("-m", str(bundle), "--threads", "1", "--max-length", "9", "--no-split")
    return command_line.run("translate", *common, *arguments, text=text.encode())


def records(result: command_line.Result) -> list[dict[str, Any]]:
    """The objects that --json wrote."""
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


Texts = st.text(st.sampled_from("kalomit resunpdf. "), min_size=1, max_size=30)


@pytest.mark.parametrize("engine", ["native", pytest.param("reference", marks=pytest.mark.long)])
@given(
    pairs=st.lists(st.tuples(st.sampled_from(TEXT.splitlines()) | Texts, Texts), min_size=1, max_size=6), batch_size=st.sampled_from([1, 3])
)
@settings(deadline=None, max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_memory_gives_greedys_output(
    engine: str, pairs: list[tuple[str, str]], batch_size: int, bundle_folder: Path, tmp_path: Path
) -> None:
    memory = tmp_path / "memory.tsv"
    memory.write_text("kalo\tmita\n" + "".join(f"{source}\t{target}\n" for source, target in pairs))
    common = ("--engine", engine, "--precision", "int8", "--batch-size", batch_size)
    greedy = run(bundle_folder, *common, "--decoding", "greedy")
    drafted = run(bundle_folder, *common, "--tm", memory, "-s", 0)
    assert (drafted.exit_code, drafted.stdout) == (0, greedy.stdout)


@pytest.fixture
def earlier(bundle_folder: Path, tmp_path: Path) -> Callable[[str], tuple[Path, Path]]:
    """Translates an earlier version of a text: the files of its lines and of their translations."""

    def translate(text: str) -> tuple[Path, Path]:
        source, target = tmp_path / "old.source", tmp_path / "old.target"
        source.write_text(text)
        target.write_text(run(bundle_folder, text=text).stdout)
        return source, target

    return translate


def test_json_and_statistics_say_what_became_of_drafts(bundle_folder: Path, earlier: Callable[[str], tuple[Path, Path]]) -> None:
    files = earlier("kalo mita resu\nno pe difo. Kalo resu!\n")
    result = run(bundle_folder, "--previous", *files, "--json", "--stats")
    first, second, blank, last = records(result)
    for record in (first, second):
        assert (record["draft"], record["similarity"], record["decoding"]) == ("previous", 100.0, "given-drafts")
        assert record["accepted"] == record["tokens"] - record["rounds"] > 0
    assert not {"draft", "similarity", "accepted"} & (blank.keys() | last.keys())
    words = " ".join(result.stderr.split())
    accepted, tokens = (first[key] + second[key] for key in ("accepted", "tokens"))
    assert "previous, for 2 of" in words and f"100.0 % similar, {accepted} of {tokens} tokens accepted" in words


WRAPPED = (
    "kalo mita resu no pe kalo mita resu no pe kalo\n"
    "mita resu no pe kalo mita resu no pe kalo mita\n"
    "resu no pe kalo mita resu no pe kalo mita resu.\n"
)


def test_a_memory_from_an_earlier_version_gives_the_same_drafts(
    bundle_folder: Path, earlier: Callable[[str], tuple[Path, Path]], tmp_path: Path
) -> None:
    source, target = earlier("kalo mita resu\n")
    pairs = zip(source.read_text().splitlines(), target.read_text().splitlines(), strict=True)
    (tmp_path / "memory.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in pairs))
    one, other = (
        records(run(bundle_folder, "--previous", source, target, "--json")),
        records(run(bundle_folder, "--tm", tmp_path / "memory.tsv", "--json")),
    )
    assert [record.pop("draft", None) for record in one] == ["previous", None, None, None]
    assert [record.pop("draft", None) for record in other] == ["tm", None, None, None]
    assert one == other


@pytest.mark.parametrize(("name", "text", "before", "after"), CASES.documents_have_earlier_versions_too)
def test_documents_have_earlier_versions_too(name: str, text: str, before: str, after: str, bundle_folder: Path, tmp_path: Path) -> None:
    old, translated, new = (tmp_path / f"{which}-{name}" for which in ("old", "translated", "new"))
    old.write_text(text)
    translated.write_text(run(bundle_folder, old).stdout.replace("#, fuzzy\n", ""))
    new.write_text(text.replace(before, after))
    greedy = run(bundle_folder, new)
    drafted = run(bundle_folder, "--previous", old, translated, new, "--batch-size", 1)
    assert (drafted.exit_code, drafted.stdout) == (0, greedy.stdout)
    first = records(run(bundle_folder, "--previous", old, translated, new, "--json"))[0]
    assert (first["draft"], first["similarity"]) == ("previous", 100.0)


CATALOGUE = sample("earlier.po")


def test_wrapped_text_has_earlier_versions_by_paragraphs(bundle_folder: Path, tmp_path: Path) -> None:
    old, translated, short = (tmp_path / f"{which}.txt" for which in ("old", "translated", "short"))
    old.write_text(f"{WRAPPED}\n{WRAPPED}")
    translated.write_text(f"{WRAPPED.replace('kalo ', '')}\n{WRAPPED.replace('mita ', '')}")
    found = records(run(bundle_folder, "--previous", old, translated, old, "--json"))
    assert [record.get("similarity") for record in found] == [100.0, None, 100.0]
    short.write_text(WRAPPED)
    result = run(bundle_folder, "--previous", old, short, old)
    assert (result.exit_code, result.stderr) == (3, f"specdec: error: {short}: the number of paragraphs is 1, but 2 in {old}\n")


def test_fuzzy_entries_with_their_previous_source_have_drafts(bundle_folder: Path, tmp_path: Path) -> None:
    catalogue = tmp_path / "a.po"
    catalogue.write_text(CATALOGUE.format("no", "no"))
    own = [record["text"] for record in records(run(bundle_folder, catalogue, "--json"))]
    catalogue.write_text(CATALOGUE.format(*own))
    result = run(bundle_folder, catalogue, "--json", "--stats")
    first, second, last = records(result)
    assert (first["draft"], second["draft"], second["similarity"]) == ("previous", "previous", 100.0)
    assert min(first["accepted"], second["accepted"]) > 0 and "draft" not in last
    assert [each["text"] for each in (first, second, last)] == own
    assert "previous, for 2 of" in " ".join(result.stderr.split())
    assert run(bundle_folder, catalogue).stdout == run(bundle_folder, catalogue, "--decoding", "jacobi").stdout
    assert "draft" not in records(run(bundle_folder, catalogue, "--json", "--decoding", "beam"))[0]


def test_equal_sources_are_copied_on_request_only(bundle_folder: Path, tmp_path: Path) -> None:
    memory = tmp_path / "memory.tsv"
    memory.write_text("kalo mita resu\tetwas ganz anderes\nkalo mita rese\tnein\n")
    copied = records(run(bundle_folder, "--tm", memory, "--exact-matches", "copy", "--json"))
    drafted = records(run(bundle_folder, "--tm", memory, "--exact-matches", "draft", "--json"))
    assert (copied[0]["text"], copied[0]["tokens"], copied[0]["rounds"]) == ("etwas ganz anderes", 0, 0)
    assert (copied[0]["decoding"], drafted[0]["decoding"]) == ("copy", "given-drafts")
    assert (copied[0]["draft"], copied[0]["similarity"]) == ("tm", 100.0)
    assert drafted[0]["text"] != "etwas ganz anderes" and drafted[0]["rounds"] > 1
    assert copied[1:] == drafted[1:]
    near = records(run(bundle_folder, "--tm", memory, "--exact-matches", "copy", "--json", text="kalo mita resa\n"))
    assert near[0]["tokens"] > 0 and near[0]["similarity"] < 100


def test_sentences_of_longer_texts_are_not_copied(bundle_folder: Path, tmp_path: Path) -> None:
    memory = tmp_path / "memory.tsv"
    memory.write_text("Kalo mita. Resu kalo.\tNein. Ja.\nNo pe.\tDoch.\nKalo no. No pe.\tNein. Ja.\n")
    arguments = ("--tm", memory, "--json", "--exact-matches")
    text = "Resu kalo.\nNo pe.\n"
    copied, drafted = (records(run(bundle_folder, *arguments, how, text=text)) for how in ("copy", "draft"))
    assert copied[0] == drafted[0] and copied[0]["similarity"] == 100.0 and copied[0]["tokens"] > 0
    assert (copied[1]["text"], copied[1]["tokens"]) == ("Doch.", 0)


@pytest.mark.parametrize(("arguments", "code", "words"), CASES.wrong_use_is_explained)
def test_wrong_use_is_explained(
    arguments: list[object], code: int, words: str, bundle_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.tsv").write_text("kalo\tmita\nmita\tkalo\n")
    (tmp_path / "n.tsv").write_text("kalo\n")
    (tmp_path / "m.md").write_text("# kalo\n")
    monkeypatch.chdir(tmp_path)
    result = run(bundle_folder, *arguments)
    assert result.exit_code == code, result.output
    assert words in " ".join(result.stderr.split())


@pytest.mark.parametrize("batch_size", [1, 4])
def test_drafts_that_do_not_pay_are_left_out(batch_size: int, bundle_folder: Path, tmp_path: Path) -> None:
    text = "".join(f"kalo mita {number}\n" for number in range(400))
    memory = tmp_path / "memory.tsv"
    memory.write_text("".join(f"{line}\tno no no\n" for line in text.splitlines()))
    common = ("--batch-size", batch_size, "--json")
    plain, drafted = (records(run(bundle_folder, *common, *own, text=text)) for own in ((), ("--tm", memory)))
    assert [record["text"] for record in drafted] == [record["text"] for record in plain]
    assert 48 <= sum("draft" in record for record in drafted) < 200


def test_lines_before_one_that_cannot_be_read_are_written(
    bundle_folder: Path, earlier: Callable[[str], tuple[Path, Path]], tmp_path: Path
) -> None:
    files = earlier("kalo mita resu\n")
    (tmp_path / "new").write_bytes(b"kalo mita resu\n\xff\n")
    result = run(bundle_folder, "--previous", *files, tmp_path / "new")
    assert (result.exit_code, result.stdout) == (3, files[1].read_text()) and "new, line 2" in result.stderr
