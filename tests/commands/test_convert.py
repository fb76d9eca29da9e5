"""`specdec convert`: the result, its check, and refused input."""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from specdec_cli.commands.convert import convert
from specdec_cli.errors import InputError, ModelError, UsageError
from specdec_cli.model.bundle import load_bundle, read_info, save_bundle
from specdec_cli.model.drafter import make_drafter
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.text.edits import Edit
from specdec_cli.text.spelling.ngrams import FILE as NGRAMS
from specdec_cli.text.spelling.speller import FILE as LEXICON
from tests import command_line
from tests.command_line import Result, done, run_function
from tests.conftest import largest_file, make_lines
from tests.tables import tables

CASES = tables(__file__)


def run(*arguments: object) -> Result:
    return run_function(convert, *arguments)


def test_conversion_to_ctranslate2_is_checked(bundle_folder: Path, tmp_path: Path) -> None:
    result = done(run(bundle_folder, tmp_path / "model", "--to", "ctranslate2", "--quantization", "int8"))
    assert "This is a short sentence. -> " in result.stderr
    assert result.stdout == ""
    said, _, code = result.stderr.partition("\nIn Python:\n\n")
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    # A random model emits no EOS, and the check stops at 64 tokens.
    assert shown.startswith(said.partition(" -> ")[2].strip())
    assert (tmp_path / "model" / "model.bin").exists()


@pytest.mark.parametrize(("arguments", "words"), CASES.formats_that_do_not_apply_are_refused)
def test_formats_that_do_not_apply_are_refused(arguments: list[str], words: str, bundle_folder: Path, tmp_path: Path) -> None:
    result = run(bundle_folder, tmp_path / "model", *arguments)
    assert isinstance(result.exception, UsageError)
    assert words in str(result.exception)


def test_a_bundle_is_stored_in_another_format(bundle_folder: Path, tmp_path: Path) -> None:
    done(run(bundle_folder, tmp_path / "small", "--storage", "float16", "--set", "licence=CC0"))
    assert read_info(tmp_path / "small").licence == "CC0"
    weights = Path("verifier", "model.safetensors")
    assert (tmp_path / "small" / weights).stat().st_size < 0.6 * (bundle_folder / weights).stat().st_size
    assert isinstance(run(bundle_folder, tmp_path / "small").exception, UsageError)


def test_a_vocabulary_is_ordered_by_pairs(bundle_folder: Path, tmp_path: Path) -> None:
    lines = make_lines(20, seed=4)
    (tmp_path / "pairs.tsv").write_text("".join(f"some source\t{line}\n" for line in lines))
    order = ("--order-vocabulary", tmp_path / "pairs.tsv")
    result = done(run(bundle_folder, tmp_path / "ordered", *order))
    assert "This is a short sentence. -> " in result.stderr
    before, after = (load_bundle(folder).tokenizer for folder in (bundle_folder, tmp_path / "ordered"))
    assert max(after.encode(lines[0])) < max(before.encode(lines[0]))
    assert isinstance(run(bundle_folder, tmp_path / "model", *order, "--to", "ctranslate2").exception, UsageError)
    (tmp_path / "pairs.tsv").write_text("")
    assert isinstance(run(bundle_folder, tmp_path / "model", *order).exception, InputError)


def test_ordering_a_vocabulary_drops_the_drafter(bundle_folder: Path, tmp_path: Path) -> None:
    bundle = load_bundle(bundle_folder)
    bundle.drafter = make_drafter(DrafterConfig(layers=1, feed_forward=32), bundle.verifier)
    bundle.info = replace(bundle.info, decoding="specdec")
    save_bundle(bundle, tmp_path / "drafted")
    (tmp_path / "pairs.tsv").write_text("a\tb c\n")
    result = done(run(tmp_path / "drafted", tmp_path / "ordered", "--order-vocabulary", tmp_path / "pairs.tsv"))
    assert "its drafter is dropped" in result.stderr
    assert read_info(tmp_path / "ordered").decoding == "auto"


def test_averaging_with_a_bundle_without_a_drafter_drops_the_drafter(bundle_folder: Path, tmp_path: Path) -> None:
    bundle = load_bundle(bundle_folder)
    bundle.drafter = make_drafter(DrafterConfig(layers=1, feed_forward=32), bundle.verifier)
    save_bundle(bundle, tmp_path / "drafted")
    result = done(run(tmp_path / "drafted", tmp_path / "mean", "--average", bundle_folder))
    assert f"{tmp_path / 'drafted'}: its drafter is dropped" in result.stderr
    assert load_bundle(tmp_path / "mean").drafter is None
    result = run(tmp_path / "drafted", tmp_path / "both", "--average", tmp_path / "drafted")
    assert (result.exit_code, "dropped" in result.stderr) == (0, False)


@pytest.mark.parametrize(
    ("change", "message"),
    [("decoding=foo", "'foo' is not known"), ("decoding=specdec", "decoding specdec: this bundle has no drafter"), ("task=foo", "task")],
)
def test_values_that_do_not_fit_are_not_stored(change: str, message: str, bundle_folder: Path, tmp_path: Path) -> None:
    result = run(bundle_folder, tmp_path / "changed", "--set", change)
    assert message in str(result.exception)
    assert not (tmp_path / "changed").exists()


def test_the_ngrams_of_text_are_counted(bundle_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("ka lo mi\n" * 3)
    counted = ("--ngrams", tmp_path / "text.txt")
    assert isinstance(run(bundle_folder, tmp_path / "translates", *counted).exception, UsageError)
    done(run(bundle_folder, tmp_path / "corrects", "--set", "task=correct"))
    done(run(tmp_path / "corrects", tmp_path / "counts", *counted))
    bundle = load_bundle(tmp_path / "counts")
    assert bundle.info.ngrams
    assert bundle.ngrams is not None
    assert bundle.ngrams.log_ratio("ka mi", Edit(3, 3, "", "lo ")) > 0
    assert run(tmp_path / "counts", tmp_path / "copy").exit_code == 0
    assert (tmp_path / "copy" / NGRAMS).read_bytes() == (tmp_path / "counts" / NGRAMS).read_bytes()
    assert run(tmp_path / "counts", tmp_path / "without", "--set", "ngrams=false").exit_code == 0
    assert not (tmp_path / "without" / NGRAMS).exists()
    assert isinstance(run(tmp_path / "corrects", tmp_path / "none", "--set", "ngrams=true").exception, UsageError)
    (tmp_path / "counts" / NGRAMS).unlink()
    with pytest.raises(ModelError, match=NGRAMS):
        load_bundle(tmp_path / "counts")


def test_labels_are_read_from_the_folder_of_the_bundle(bundle_folder: Path, tmp_path: Path) -> None:
    source = Path(shutil.copytree(bundle_folder, tmp_path / "source"))
    assert "labels=true: the bundle has no labels" in str(run(source, tmp_path / "none", "--set", "labels=true").exception)
    (source / "labels.tsv").write_text("Home\tStartseite\n")
    assert run(source, tmp_path / "labelled", "--set", "labels=true").exit_code == 0
    labels = load_bundle(tmp_path / "labelled").labels
    assert labels is not None
    assert labels.find("Home") == "Startseite"


def test_a_lexicon_is_stored(bundle_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("ka lo mi\n" * 3)
    (tmp_path / "words.txt").write_text("ka\nlo\nlo's\nMi\n")
    listed, counted = ("--lexicon", tmp_path / "words.txt"), ("--ngrams", tmp_path / "text.txt")
    assert "a lexicon needs n-grams" in str(run(bundle_folder, tmp_path / "none", "--set", "task=correct", *listed).exception)
    assert run(bundle_folder, tmp_path / "corrects", "--set", "task=correct").exit_code == 0
    done(run(tmp_path / "corrects", tmp_path / "spells", *counted, *listed))
    assert (tmp_path / "spells" / LEXICON).read_text() == "Mi\nka\nlo\n"
    assert run(tmp_path / "spells", tmp_path / "copy").exit_code == 0
    assert load_bundle(tmp_path / "copy").lexicon is not None
    assert run(tmp_path / "spells", tmp_path / "without", "--set", "lexicon=false").exit_code == 0
    assert not (tmp_path / "without" / LEXICON).exists()
    assert "--lexicon reads one" in str(run(tmp_path / "corrects", tmp_path / "none", *counted, "--set", "lexicon=true").exception)
    assert "--lexicon is for bundles" in str(run(tmp_path / "spells", tmp_path / "none", "--to", "ctranslate2", *listed).exception)
    (tmp_path / "spells" / LEXICON).unlink()
    with pytest.raises(ModelError, match=LEXICON):
        load_bundle(tmp_path / "spells")


@pytest.mark.parametrize("file", ["checkpoint.pt", "metrics.csv"])
def test_a_folder_of_a_training_run_is_not_replaced(file: str, bundle_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(bundle_folder, tmp_path / "run")
    (folder / file).write_bytes(b"of a run")
    result = run(folder, folder, "--force")
    assert isinstance(result.exception, UsageError)
    assert f"has {file} of a training run, which would be lost" in str(result.exception)
    assert (folder / file).read_bytes() == b"of a run"
    (folder / file).unlink()
    assert run(folder, folder, "--force").exit_code == 0


def test_folders_of_other_kinds_are_refused(tmp_path: Path) -> None:
    result = run(tmp_path, tmp_path / "model", "--to", "ctranslate2")
    assert isinstance(result.exception, ModelError)
    assert "neither a bundle nor a model of" in str(result.exception)


@pytest.mark.parametrize(("arguments", "file"), [((), "verifier/model.safetensors"), (("--to", "ctranslate2"), "model.bin")])
def test_a_full_disk_is_an_error_that_names_the_file(
    arguments: tuple[str, ...], file: str, bundle_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with largest_file(50_000):
        result = command_line.run("convert", bundle_folder, tmp_path / "model", *arguments)
    assert result.exit_code == 3
    assert result.stderr == f"specdec: error: {tmp_path / 'model' / file}: File too large\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "words"), [("en-gec*0.3", "its tokenizer is not that of the bundle"), ("en-gek", "no shipped bundle has that name")]
)
def test_a_bundle_to_average_is_found_by_name(name: str, words: str, bundle_folder: Path, tmp_path: Path) -> None:
    result = run(bundle_folder, tmp_path / "mean", "--average", name)
    assert isinstance(result.exception, ModelError)
    assert words in str(result.exception)


@pytest.mark.parametrize(("change", "words"), CASES.settings_out_of_range_are_refused)
def test_settings_out_of_range_are_refused(change: str, words: str, bundle_folder: Path, tmp_path: Path) -> None:
    result = run(bundle_folder, tmp_path / "model", "--set", change)
    assert isinstance(result.exception, UsageError)
    assert words in str(result.exception)
    assert list(tmp_path.iterdir()) == []
