"""`specdec bench`, from the command line to tables."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from specdec_cli.benchmark.measure import describe_environment
from specdec_cli.benchmark.results import Measured, Outcome, summarise
from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.runs import Output, Run
from specdec_cli.errors import InputError, SpecdecError, UsageError
from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.model.order import Order
from tests.command_line import done
from tests.commands.bench.conftest import run


@pytest.mark.usefixtures("real_processes")
def test_bench_writes_rows_as_json(folder: Path, tmp_path: Path) -> None:
    rows = ("greedy", "specdec", "ctranslate2-greedy")
    arguments = [argument for row in rows for argument in ("--row", row)]
    result = done(
        run("-m", folder, *arguments, "--profile", "--histogram", "--plot", tmp_path / "a.svg", "--json", tmp_path / "bench.json")
    )
    for words in (*rows, "3 of 3", "3 lines, 3 sentences", "drafter's encoder", "Speedup of specdec", "tok:13a"):
        assert words in result.stdout
    assert result.stderr == ""
    assert all(f"<!-- {words} -->" in (tmp_path / "a.svg").read_text() for words in (*rows, "speedup over greedy", "BLEU"))

    assert "<!-- specdec over greedy -->" in (tmp_path / "a-histogram.svg").read_text()
    assert "<!-- verifier -->" in (tmp_path / "a-profile.svg").read_text()

    record = json.loads((tmp_path / "bench.json").read_text())
    assert record["input"] == {"name": "stdin", "lines": 3, "sentences": 3}
    greedy, specdec, ctranslate2 = record["rows"]
    assert [row["decoding"] for row in record["rows"]] == list(rows)
    # In int8, CTranslate2 rounds otherwise on processors without VNNI.
    assert greedy["identical"] == specdec["identical"] == [3, 3] and ctranslate2["identical"][1] == 3
    assert greedy["bleu"] == specdec["bleu"]
    assert (greedy["tokens_per_round"], greedy["speedup_vs_greedy"], greedy["speedup_vs_beam"]) == (1.0, 1.0, None)
    assert specdec["iterations"] <= greedy["iterations"] and ctranslate2["iterations"] is None
    assert (specdec["settings"]["block_size"], ctranslate2["settings"]["compute_type"]) == (4, specdec["settings"]["precision"])
    assert all(row["peak_memory_mb"] > 20 and row["ms_per_sentence"]["median"] > 0 for row in record["rows"])
    assert {"encoder", "drafter", "verifier"} <= set(record["profiles"]["specdec"])
    (histogram,) = record["histograms"]
    assert (histogram["row"], histogram["baseline"]) == ("specdec", "greedy")
    assert sum(one["count"] for one in histogram["bins"]) == 2  # One of the three lines is blank.


@pytest.fixture(scope="module")
def ordered(make_bundle: Callable[..., Bundle], tmp_path_factory: pytest.TempPathFactory) -> Callable[[Order], Path]:
    """Makes the folder of a bundle with a model of a generation order."""

    def made(order: Order) -> Path:
        bundle = make_bundle(order=order, positions="learned")
        bundle.info = replace(bundle.info, decoding="auto")
        save_bundle(bundle, folder := tmp_path_factory.mktemp(order) / "model")
        return folder

    return made


@pytest.mark.parametrize(
    ("order", "own"), [("bidirectional", "bidirectional"), ("right-to-left", "beam"), ("double-left-to-right", "beam")]
)
def test_the_default_row_of_another_order_is_its_search(order: Order, own: str, ordered: Callable[[Order], Path], tmp_path: Path) -> None:
    done(run("-m", ordered(order), "--json", tmp_path / "bench.json"))
    (row,) = json.loads((tmp_path / "bench.json").read_text())["rows"]
    assert (row["decoding"], row["settings"]["beam_size"], row["speedup_vs_greedy"]) == (own, 5, None)
    assert 1.0 <= row["tokens_per_round"] <= (1.0 if order == "right-to-left" else 2.0)


def test_a_sweep_of_another_order_has_no_greedy_row(ordered: Callable[[Order], Path], tmp_path: Path) -> None:
    done(run("-m", ordered("bidirectional"), "--sweep", "beam-size=1,2", "--json", tmp_path / "bench.json"))
    rows = json.loads((tmp_path / "bench.json").read_text())["rows"]
    assert [(row["decoding"], row["settings"]["beam_size"]) for row in rows] == [("bidirectional", 1), ("bidirectional", 2)]


@pytest.mark.parametrize("asked", ["greedy", "beam", "lookup,gs-jacobi"])
def test_rows_that_do_not_fit_the_order_are_refused(asked: str, ordered: Callable[[Order], Path]) -> None:
    result = run("-m", ordered("bidirectional"), "--row", asked)
    words = f"--row {asked}: this bundle's order is bidirectional, which only decoding bidirectional writes in"
    assert (type(result.exception), str(result.exception)) == (UsageError, words)


def test_a_left_to_right_bundle_refuses_bidirectional_rows(folder: Path) -> None:
    result = run("-m", folder, "--row", "bidirectional")
    assert str(result.exception).startswith("--row bidirectional: this bundle's order is left-to-right")


def test_a_masked_model_has_default_rows(make_bundle: Callable[..., Bundle], tmp_path: Path) -> None:
    made = make_bundle(order="masked")
    made.info = replace(made.info, decoding="auto")
    save_bundle(made, tmp_path / "masked")
    result = run("-m", tmp_path / "masked", "--markdown", "--json", tmp_path / "bench.json")
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    assert "repeated tokens" in result.stdout
    rows = json.loads((tmp_path / "bench.json").read_text())["rows"]
    assert [(row["decoding"], row["settings"]["iterations"], row["iterations"]) for row in rows] == [
        ("mask-predict", 4, 4.0),
        ("mask-predict", 10, 10.0),
    ]
    assert all(0 <= row["repetition"] < 1 and row["settings"]["length_beam"] == 5 for row in rows)
    swept = done(run("-m", tmp_path / "masked", "--sweep", "iterations=1,2", "--sweep", "length-beam=1", "--markdown"))
    assert [line.split(" | ")[:3] for line in swept.stdout.splitlines() if line.startswith("| mask")] == [
        ["| mask-predict", "1.00", "1"],
        ["| mask-predict", "2.00", "1"],
    ]
    refused = run("-m", tmp_path / "masked", "--row", "greedy")
    assert (refused.exit_code, "order is masked, which only decoding mask-predict" in str(refused.exception)) == (1, True)


@pytest.mark.usefixtures("real_processes")
def test_models_are_compared_in_one_run(folder: Path, ordered: Callable[[Order], Path], tmp_path: Path) -> None:
    other = ordered("bidirectional")
    result = done(run("-m", folder, "-m", other, "--sweep", "beam-size=1,2", "--json", tmp_path / "a.json", "--markdown"))
    record = json.loads((tmp_path / "a.json").read_text())
    names = [(row["model"], row["decoding"], row["settings"].get("beam_size")) for row in record["rows"]]
    searches = [(str(model), decoding, size) for model, decoding in ((folder, "beam"), (other, "bidirectional")) for size in (1, 2)]
    assert names == [(str(folder), "greedy", None), *searches]
    assert [row["speedup_vs_greedy"] is None for row in record["rows"]] == [False, False, False, True, True]
    header = next(line for line in result.stdout.splitlines() if line.startswith("| model"))
    assert "decoding | beam size" in header and "speedup vs the first row" in header


def test_jacobi_rows_report_their_known_length(folder: Path, tmp_path: Path) -> None:
    rows = ["greedy", "jacobi:fixed-point", "gs-jacobi:fixed-point", "hybrid-jacobi"]
    arguments = [argument for row in rows for argument in ("--row", row)]
    done(run("-m", folder, *arguments, "--oracle-length", "--block-size", 3, "--json", tmp_path / "known.json"))
    known = json.loads((tmp_path / "known.json").read_text())["rows"]
    assert [row["settings"].get("oracle_length") for row in known] == [None, True, True, None]
    assert all(row["identical"] == [3, 3] for row in known)
    run("-m", folder, "--row", "hybrid-jacobi", "--jacobi-length", "max", "--json", tmp_path / "max.json")
    assert json.loads((tmp_path / "max.json").read_text())["rows"][0]["settings"]["jacobi_length"] == "max"


def test_a_sweep_runs_without_references(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "a.src").write_text("ka lo\nmi\n")
    result = done(run("-m", folder, "--input", tmp_path / "a.src", "--markdown", "--sweep", "block-size=1,3", "--row", "specdec"))
    lines = [line.split(" | ") for line in result.stdout.splitlines() if line.startswith("| ")]
    assert [line[:2] for line in lines[2:]] == [["| greedy", "—"], ["| specdec", "1"], ["| specdec", "3"]]
    assert "BLEU" not in lines[0]


@pytest.mark.parametrize(("precision", "broken"), [("float32", True), ("int8", True), ("bfloat16", False)])
def test_output_that_differs_from_greedys_fails_after_the_report(
    precision: str, broken: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = [Measured(Row(name), {}, (Run(1.0, (Output("a", ((token, 3),), 2),)),)) for name, token in (("greedy", 5), ("specdec", 6))]
    environment = describe_environment() | {"device": "cpu", "gpu": None, "precision": precision, "threads": 1, "torch": "2", "model": "m"}
    counts = {"name": "a", "lines": 1, "sentences": 1}
    outcome = Outcome(summarise(rows, lambda _: None), environment | {"repetitions": 1}, counts, {}, {"beam": "why"})
    monkeypatch.setattr("specdec_cli.work.benching.run", lambda *_: outcome)

    result = run("--json", tmp_path / "bench.json")
    assert isinstance(result.exception, SpecdecError) == broken
    assert not broken or "row specdec: 0 of 1 lines equal those of greedy; line 1 does not" in str(result.exception)
    assert "0 of 1" in result.stdout
    assert result.stderr == "specdec: left out: beam (why)\n"
    assert json.loads((tmp_path / "bench.json").read_text())["rows"][1]["identical"] == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "text", "kind", "words"),
    [
        (["--reference", "a"], "", UsageError, "--reference needs --input"),
        (["a.tsv", "--input", "b"], "", UsageError, "are alternatives"),
        (["--sweep", "threads=1", "--profile"], "", UsageError, "cannot be swept"),
        (["-m", "en-de", "-m", "en-gec"], "", UsageError, "different tasks: en-de translate, en-gec correct"),
        (["-m", "en-de", "-m", "en-gec", "--task", "translate", "--histogram"], "", UsageError, "give --model once"),
        (["--sweep", "threads=1", "--sweep", "threads=2"], "", UsageError, "given twice"),
        (["--row", "gredy"], "", UsageError, "'gredy' is not known"),
        (["--row", "hybrid-jacobi", "--oracle-length"], "", UsageError, "--oracle-length is for rows of jacobi and gs-jacobi"),
        (["--row", "gs-jacobi", "--jacobi-length", "5"], "", UsageError, "--jacobi-length is for rows of jacobi and hybrid-jacobi"),
        (["--row", "greedy", "--block-size", "5"], "", UsageError, "--block-size is for rows that draft"),
        (["--row", "auto", "--beam-size", "5"], "", UsageError, "--beam-size is for rows of beam search"),
        (["--row", "specdec", "--length-penalty", "1"], "", UsageError, "--length-penalty is for rows of beam search"),
        (["--row", "jacobi", "--oracle-length", "--jacobi-length", "5"], "", UsageError, "contradict"),
        (["--json", "no/a"], "", UsageError, "no/a: its folder does not exist"),
        ([], " \t\n", InputError, "stdin: no text"),
        (["nowhere.tsv"], "", InputError, "nowhere.tsv"),
    ],
)
def test_invalid_input_is_refused_before_anything_runs(arguments: list[str], text: str, kind: type[Exception], words: str) -> None:
    result = run(*arguments, text=text)
    assert isinstance(result.exception, kind)
    assert words in str(result.exception)


@pytest.mark.parametrize("arguments", [["a.svg", "--json", "a.svg"], ["--input", "a.svg", "--plot", "a.svg"]])
def test_a_file_that_is_read_is_not_overwritten(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.svg").write_text("a\tb\n")
    assert "a.svg: is both input and output" in str(run(*arguments).exception)
    assert Path("a.svg").read_text() == "a\tb\n"


def test_corrections_are_scored_by_metrics_of_corrections(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "a.m2").write_text("S ka lo mi .\nA 1 2|||R|||ta|||REQUIRED|||-NONE-|||0\n\nS no pe\n")
    rows = ("greedy", "input-guided:unique", "input-guided")
    arguments = [argument for row in rows for argument in ("--row", row)]
    result = done(run("-m", folder, tmp_path / "a.m2", "--task", "correct", *arguments, "--json", tmp_path / "b.json"))
    assert "F0.5" in result.stdout and "BLEU" not in result.stdout
    greedy, unique, nearest = json.loads((tmp_path / "b.json").read_text())["rows"]
    assert greedy["f05"] == unique["f05"] == nearest["f05"] is not None
    assert (greedy["bleu"], unique["identical"], nearest["identical"]) == (None, [2, 2], [2, 2])
    assert (unique["settings"]["match"], nearest["settings"]["match"]) == ("unique", "nearest")

    result = done(run("-m", folder, tmp_path / "a.m2", "--task", "correct", "--row", "input-guided", "--sweep", "min-score=-1000,0"))
    assert "min score" in result.stdout
    # Where no edit is applied, the output is the source, which has no edits.
    (held,) = (line for line in result.stdout.splitlines() if " 0.0 " in line and "input" in line)
    assert [cell for cell in held.split() if cell in ("100.00", "0.00")][:3] == ["100.00", "0.00", "0.00"]


def test_options_that_a_task_does_not_have_are_refused(folder: Path) -> None:
    assert "no text to decode" in str(run("-m", folder, "--task", "correct", text="").exception)
    assert "--score characters is for" in str(run("-m", folder, "--score", "characters").exception)
    assert "--keep-tokens is for" in str(run("-m", folder, "--keep-tokens").exception)
