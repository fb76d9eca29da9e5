"""`specdec distill`, from the command line to files."""

import copy
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from specdec_cli.commands.distill import distill
from specdec_cli.distillation import run as run_module
from specdec_cli.distillation.bundle_teachers import Ensemble
from specdec_cli.distillation.run import Filters, Shards, reason_to_drop
from specdec_cli.distillation.teachers import Resources, Search, TeacherProcess
from specdec_cli.errors import InputError, ModelError, UsageError
from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.native.network import NativeNetwork
from specdec_cli.opening.engines import open_for_loop
from specdec_cli.opening.machine import Machine, MachineOptions
from specdec_cli.opening.models import ModelChoice, open_bundle
from tests import command_line
from tests.command_line import Result, done, run_function
from tests.conftest import largest_file, make_lines
from tests.tables import tables

CASES = tables(__file__)


def run(*arguments: object, text: str | None = None) -> Result:
    return run_function(distill, "--beam-size", "1", "--threads", "1", "--max-length", "20", *arguments, text=text)


def test_a_bundle_and_its_conversion_write_the_same_text(
    bundle_folder: Path, ctranslate2_folder: Path, lines: list[str], tmp_path: Path
) -> None:
    text = "\n".join([*lines, "", lines[0]]) + "\n"
    (tmp_path / "source.txt").write_text(text)
    by_bundle = run(bundle_folder, tmp_path / "a", tmp_path / "source.txt", "--shard-lines", 10)
    by_ctranslate2 = run(ctranslate2_folder, tmp_path / "b", text=text)

    assert (by_bundle.exit_code, by_ctranslate2.exit_code) == (0, 0), by_bundle.output + by_ctranslate2.output
    assert (tmp_path / "a" / "distilled.tsv").read_text() == (tmp_path / "b" / "distilled.tsv").read_text()
    assert by_bundle.stdout == ""
    batches = "batches of up to 1,024 source tokens, the default on cpu"
    for words in (batches, "repeated source", "blank source", "no end within the maximum length", "kept"):
        assert words in by_bundle.stderr
    assert (tmp_path / "a" / "shard-00002.tsv").exists()


def test_an_ensemble_has_two_number_formats(bundle_folder: Path, tmp_path: Path) -> None:
    result = run(bundle_folder, tmp_path / "out", "--with", bundle_folder, "--quantization", "bfloat16", text="ka\n")
    assert isinstance(result.exception, UsageError)
    assert "an ensemble computes in float32 or int8" in str(result.exception)


def test_an_ensemble_in_int8_searches_as_one_of_the_oracle(bundle_folder: Path, lines: list[str], tmp_path: Path) -> None:
    search = ("--beam-size", 3, "--max-length", 20)
    done(
        run(
            bundle_folder,
            tmp_path / "out",
            "--with",
            bundle_folder,
            "--quantization",
            "int8",
            *search,
            "--quiet",
            text="\n".join(lines) + "\n",
        )
    )
    bundles = [open_bundle(str(bundle_folder), Machine("cpu", "int8", 1)) for _ in range(2)]
    expected = [
        (lines[index], found.text) for index, found in Ensemble(bundles, Search(3, 1.0, 20), 200).translate(lines) if found.finished
    ]
    written = [tuple(line.split("\t")) for line in (tmp_path / "out" / "distilled.tsv").read_text().splitlines()]
    assert written and set(written) <= set(expected)
    assert isinstance(open_for_loop(ModelChoice(str(bundle_folder)), MachineOptions(precision="int8")).network, NativeNetwork)


def test_an_ensemble_of_teachers_translates(
    bundle: Bundle, bundle_folder: Path, ctranslate2_folder: Path, lines: list[str], tmp_path: Path
) -> None:
    other = replace(bundle, verifier=copy.deepcopy(bundle.verifier))
    with torch.no_grad():
        for weight in other.verifier.parameters():
            weight.add_(0.3 * weight.std(correction=0) * torch.randn(weight.shape, generator=torch.Generator().manual_seed(5)))
    save_bundle(other, tmp_path / "model")
    text = "\n".join(lines) + "\n"
    teachers: dict[str, tuple[object, ...]] = {
        "alone": (bundle_folder,),
        "other": (tmp_path / "model",),
        "twice": (bundle_folder, bundle_folder),
        "both": (bundle_folder, tmp_path / "model"),
        "reversed": (tmp_path / "model", bundle_folder),
    }
    made = {}
    for name, (first, *further) in teachers.items():
        arguments = [argument for each in further for argument in ("--with", each)]
        done(run(first, tmp_path / name, *arguments, "--beam-size", 3, "--quiet", text=text))
        made[name] = (tmp_path / name / "distilled.tsv").read_text()
    # The mean of equal probabilities is each of them, and the order of the teachers has no effect.
    assert made["twice"] == made["alone"] and made["both"] == made["reversed"]
    assert made["both"] not in (made["alone"], made["other"])
    refused = run(bundle_folder, tmp_path / "mixed", "--with", ctranslate2_folder, text=text)
    assert isinstance(refused.exception, UsageError | ModelError)


def test_a_second_run_continues(bundle_folder: Path, lines: list[str], tmp_path: Path) -> None:
    text = "\n".join(lines) + "\n"
    assert run(bundle_folder, tmp_path / "out", "--quiet", text=text).stderr == ""
    before = (tmp_path / "out" / "distilled.tsv").read_bytes()
    (tmp_path / "out" / "shard-00000.tsv").unlink()
    assert run(bundle_folder, tmp_path / "out", text=text).exit_code == 0
    assert (tmp_path / "out" / "distilled.tsv").read_bytes() == before


def test_a_second_run_requires_the_same_text_and_settings(ctranslate2_folder: Path, lines: list[str], tmp_path: Path) -> None:
    run(ctranslate2_folder, tmp_path / "out", text="\n".join(lines))
    for arguments, text, words in (
        ((), "ka lo\n", "other source text"),
        (("--quantization", "int8"), "\n".join(lines), "compute_type 'float32'"),
    ):
        result = run(ctranslate2_folder, tmp_path / "out", *arguments, text=text)
        assert isinstance(result.exception, UsageError)
        assert words in str(result.exception)


@pytest.mark.parametrize(
    ("arguments", "text", "kind", "words"),
    [
        (("--max-source-length", 65), "ka\n", UsageError, "positions for 64"),
        ((), "\n\n", InputError, "no source line"),
        (("--quantization", "int3"), "ka\n", UsageError, "--quantization int3: not known; known are float32, int8,"),
        (("--device", "cuda"), "ka\n", UsageError, "--device cuda: no CUDA device is available"),
    ],
)
def test_invalid_options_are_refused(
    arguments: tuple[object, ...],
    text: str,
    kind: type[Exception],
    words: str,
    ctranslate2_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("specdec_cli.commands.distill.has_gpu", lambda: False)
    result = run(ctranslate2_folder, tmp_path / "out", *arguments, text=text)
    assert isinstance(result.exception, kind)
    assert words in str(result.exception)
    assert not (tmp_path / "out").exists()


def test_a_distillation_without_output_fails(bundle_folder: Path, lines: list[str], tmp_path: Path) -> None:
    # An output of one token is either empty or has no EOS.
    result = run(bundle_folder, tmp_path / "out", "--max-length", 1, text="\n".join(lines))
    assert isinstance(result.exception, InputError)
    assert f"out: no translation of {len(lines)} lines was kept (" in str(result.exception)
    assert not (tmp_path / "out" / "distilled.tsv").exists()


def test_an_interrupted_distillation_names_the_way_to_resume(
    ctranslate2_folder: Path, lines: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = (ctranslate2_folder, tmp_path / "out", "--shard-lines", 10)
    write = Shards.write

    def interrupt(shards: Shards, index: int, *rest: Any) -> None:
        if index == 2:
            raise KeyboardInterrupt
        write(shards, index, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(Shards, "write", interrupt)
        stopped = run(*arguments, text="\n".join(lines))
    assert stopped.exit_code == 130
    assert "interrupted after 2 of 3 shards; the same command resumes there" in stopped.stderr
    resumed = done(run(*arguments, text="\n".join(lines)))
    assert "out: resuming after 2 of 3 shards" in resumed.stderr
    assert (tmp_path / "out" / "distilled.tsv").exists()


def test_a_full_disk_is_an_error_that_names_the_file(ctranslate2_folder: Path, tmp_path: Path) -> None:
    with largest_file(800):
        arguments = ["distill", ctranslate2_folder, tmp_path / "out", "--beam-size", 1, "--threads", 1, "--max-length", 20, "--quiet"]
        result = command_line.run(*arguments, text="\n".join(make_lines(600)))
    assert (result.exit_code, result.stderr) == (3, f"specdec: error: {tmp_path / 'out' / 'shard-00000.tsv'}: File too large\n")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["manifest.json"]


@pytest.mark.parametrize(("content", "words"), [("", ": empty"), ("a\tb\nc\n", ", line 2: 1 tab-separated field")])
def test_input_is_checked_before_the_teacher(content: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "text.tsv").write_text(content, encoding="utf-8")
    result = run("no/teacher/here", tmp_path / "out", tmp_path / "text.tsv")
    assert isinstance(result.exception, InputError)
    assert f"text.tsv{words}" in str(result.exception)


def test_a_missing_teacher_is_reported(tmp_path: Path) -> None:
    result = run(tmp_path, tmp_path / "out", text="ka\n")
    assert isinstance(result.exception, ModelError)


def test_the_hypothesis_nearest_to_a_target_is_written(ctranslate2_folder: Path, lines: list[str], tmp_path: Path) -> None:
    hypotheses = defaultdict[int, list[str]](list)
    with TeacherProcess(ctranslate2_folder, Search(beam_size=4, max_length=20, n_best=4), Resources()) as teacher:
        for index, translation in teacher.translate(lines):
            if reason_to_drop(lines[index], translation, Filters(keep_copies=True)) is None:
                hypotheses[index].append(translation.text)
    expected = {lines[index]: texts[-1] for index, texts in hypotheses.items()}
    assert any(len(texts) > 1 for texts in hypotheses.values())
    (tmp_path / "pairs.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in expected.items()))
    options = ("--beam-size", 4, "--keep-copies", "--quiet", "--nearest", 100)
    assert run(ctranslate2_folder, tmp_path / "out", tmp_path / "pairs.tsv", *options).exit_code == 0
    found = dict(line.split("\t") for line in (tmp_path / "out" / "distilled.tsv").read_text().splitlines())
    assert found == expected


def test_an_ensemble_has_several_hypotheses(bundle: Bundle, lines: list[str]) -> None:
    best, several = (list(Ensemble([bundle, bundle], Search(3, 1.0, 20, n_best=n), 200).translate(lines)) for n in (1, 3))
    assert [several[3 * number] for number in range(len(best))] == best
    assert [index for index, _ in several] == [index for index, _ in best for _ in range(3)]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [(("--nearest", 0, "pairs.tsv"), InputError), (("--nearest", 0), UsageError), (("--nearest", 0, "-"), UsageError)],
)
def test_targets_are_needed_for_the_nearest_hypothesis(
    bundle_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[object, ...], error: type[Exception]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.tsv").write_text("kalo\n")
    assert isinstance(run(bundle_folder, tmp_path / "out", *arguments, text="kalo\tmita\n").exception, error)
    assert not (tmp_path / "out").exists()


def draw(*arguments: object) -> Result:
    return run_function(distill, "--threads", "1", "--max-length", "20", "--keep-copies", *arguments)


def test_draws_are_those_of_the_seed_for_every_size_of_shards(
    bundle_folder: Path, lines: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source.txt"
    source.write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(run_module, "reason_to_drop", lambda *_: None)  # random models seldom end a sentence
    runs = {
        "a": (),
        "b": ("--shard-lines", 3),
        "other": ("--seed", 2),
        "cold": ("--temperature", 1e-6),
        "colder": ("--temperature", 1e-6, "--seed", 7),
        "one": ("--top-k", 1),
    }
    for name, options in runs.items():
        result = draw(bundle_folder, tmp_path / name, source, "--sample", "--quantization", "int8", *options)
        assert result.exit_code == 0, result.output + str(result.exception)
    written = {name: (tmp_path / name / "distilled.tsv").read_text() for name in runs}
    assert written["a"] == written["b"] != written["other"]
    assert written["cold"] == written["colder"] == written["one"] != written["a"]
    assert draw(bundle_folder, tmp_path / "float", source, "--sample").exit_code == 0
    resumed = draw(bundle_folder, tmp_path / "b", source, "--sample", "--quantization", "int8", "--shard-lines", 3, "--seed", 3)
    assert isinstance(resumed.exception, UsageError) and "sampling" in str(resumed.exception)


@pytest.mark.parametrize(("options", "message"), CASES.what_does_not_go_with_sampling_is_refused)
def test_what_does_not_go_with_sampling_is_refused(options: list[object], message: str, bundle_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "source.txt").write_text("ka\tlo\n")
    result = draw(bundle_folder, tmp_path / "out", tmp_path / "source.txt", *options)
    assert isinstance(result.exception, UsageError)
    assert message in str(result.exception)
    assert not (tmp_path / "out").exists()


def test_tokens_of_other_toolkits_are_not_drawn(ctranslate2_folder: Path, bundle_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "source.txt").write_text("ka\n")
    result = draw(ctranslate2_folder, tmp_path / "out", tmp_path / "source.txt", "--sample")
    assert isinstance(result.exception, UsageError)
    assert "is a CTranslate2 folder; only bundles are sampled from" in str(result.exception)
    result = draw(bundle_folder, tmp_path / "out", tmp_path / "source.txt", "--sample", "--with", bundle_folder)
    assert isinstance(result.exception, UsageError) and "does not go with --with" in str(result.exception)


def test_a_draft_model_does_not_change_what_is_written(
    bundle_folder: Path, lines: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source.txt"
    source.write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(run_module, "reason_to_drop", lambda *_: None)
    monkeypatch.setattr("specdec_cli.engines.native_drafts.WORTH_MEASURING_BATCHES", 1)
    drafted = ("--draft-model", bundle_folder)
    for name, options in {"greedy": ("--beam-size", 1), "drawn": ("--sample",)}.items():
        written = []
        for number, own in enumerate(((), drafted)):
            result = draw(bundle_folder, tmp_path / f"{name}{number}", source, "--quantization", "int8", *options, *own)
            assert result.exit_code == 0, result.output + str(result.exception)
            written.append((tmp_path / f"{name}{number}" / "distilled.tsv").read_text())
        assert name == "greedy" or written[0] == written[1]  # CTranslate2's greedy output in int8 has other bits
        assert all(f"{line}\t" in written[1] for line in lines)


@pytest.mark.parametrize(("options", "message"), CASES.where_nothing_is_drafted_a_draft_model_is_refused)
def test_where_nothing_is_drafted_a_draft_model_is_refused(
    options: list[object], message: str, bundle_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "source.txt").write_text("ka\tlo\n")
    result = draw(bundle_folder, tmp_path / "out", tmp_path / "source.txt", *options)
    assert isinstance(result.exception, UsageError) and message in str(result.exception)
    assert not (tmp_path / "out").exists()
