"""Models of other toolkits on the command line, which are converted on first use."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from converters.conversion import ConversionOptions
from converters.formats import convert_model
from converters.huggingface import from_huggingface
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.bundle import load_bundle, read_info
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.opening.conversions import load_checkpoint
from tests.command_line import done, run
from tests.conftest import make_lines

huggingface = pytest.importorskip("tests.converters.huggingface", reason="transformers is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
LINES = "kalo mita resu\n\nno pe difo\n"


@pytest.fixture(scope="module")
def marian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like those of OPUS-MT."""
    torch.set_num_threads(1)
    folder: Path = huggingface.marian(tmp_path_factory.mktemp("saved")).folder
    return folder


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like that of mBART-50."""
    folder: Path = huggingface.mbart_50(tmp_path_factory.mktemp("saved")).folder
    return folder


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache folder for one test."""
    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path / "cache"))
    yield tmp_path / "cache" / "models"


def test_conversion_is_checked(marian: Path, tmp_path: Path) -> None:
    result = done(run("convert", marian, tmp_path / "bundle", "--storage", "float16"))
    assert "This is a short sentence. -> " in result.stderr
    info = read_info(tmp_path / "bundle")
    assert (info.task, info.source_language, info.target_language) == ("translate", "en", "de")
    assert run("convert", marian, tmp_path / "bundle").exit_code == UsageError.exit_code
    assert run("convert", marian, tmp_path / "bundle", "--force", "--quiet").stderr == ""


def test_only_chosen_decoder_layers_are_kept(marian: Path, tmp_path: Path) -> None:
    assert run("convert", marian, tmp_path / "one", "--decoder-layers", "1").exit_code == 0
    assert run("convert", marian, tmp_path / "both", "--decoder-layers", "0,1").exit_code == 0
    one, both = (load_bundle(tmp_path / name).verifier for name in ("one", "both"))
    assert (len(one.layers), len(both.layers)) == (1, 2)
    kept, second = (dict(layer.named_parameters()) for layer in (one.layers[0], both.layers[1]))
    assert all(torch.equal(kept[name], second[name]) for name in second)
    result = run("convert", marian, tmp_path / "none", "--decoder-layers", "7")
    assert "layers 0 to 1, not 7" in result.stderr


def test_a_failed_conversion_leaves_no_files(marian: Path, tmp_path: Path) -> None:
    broken = copy_with(marian, tmp_path / "broken", {"activation_function": "tanh", "decoder_ffn_dim": 128})
    result = run("convert", broken, tmp_path / "bundle")
    assert result.exit_code == ModelError.exit_code
    assert "tanh" in result.stderr and "feed-forward sizes" in result.stderr
    (broken / "config.json").write_text((marian / "config.json").read_text())
    (broken / "model.safetensors").write_bytes((marian / "model.safetensors").read_bytes()[:1000])
    assert run("convert", broken, tmp_path / "bundle").exit_code == ModelError.exit_code
    assert [path.name for path in tmp_path.iterdir() if "bundle" in path.name] == []


def copy_with(folder: Path, target: Path, changes: dict[str, Any]) -> Path:
    """A copy of a model's folder with a changed config.json."""
    target.mkdir()
    for path in folder.iterdir():
        (target / path.name).write_bytes(path.read_bytes())
    config = json.loads((folder / "config.json").read_text())
    (target / "config.json").write_text(json.dumps(config | changes))
    return target


def test_translate_converts_on_first_use(marian: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = done(run("translate", "--model", marian, text=LINES))
    assert "converting to" in first.stderr
    assert len(first.stdout.splitlines()) == 3 and first.stdout.splitlines()[1] == ""
    assert len(list(cache.iterdir())) == 1
    again = run("translate", "--model", marian, "--decoding", "greedy", "--offline", text=LINES)
    assert (again.stdout, again.stderr) == (first.stdout, "")
    monkeypatch.setenv("COLUMNS", "80")
    listed = run("models")
    assert "converted from other toolkits' models" in listed.stderr
    (converted,) = cache.iterdir()
    assert converted.name in listed.stdout


def test_languages_are_chosen_by_options(many: Path, cache: Path) -> None:
    result = run("translate", "--model", many, "--source-language", "en", text=LINES)
    assert result.exit_code == UsageError.exit_code
    assert "target language" in result.stderr and "de_DE" in result.stderr
    pair = ("--source-language", "en", "--target-language", "de_DE")
    german = done(run("translate", "--model", many, *pair, text=LINES))
    assert "de_DE" not in german.stdout
    # What was asked for once is asked for again, and nothing else is swallowed.
    assert run("translate", "--model", many, text=LINES).exit_code == UsageError.exit_code
    # The same conversion serves another pair.
    traced = run("translate", "--model", many, *pair[:3], "fr_XX", "--trace", "--decoding", "greedy", text=LINES)
    assert "fr_XX" in traced.stderr and "converting" not in traced.stderr
    assert len(list(cache.iterdir())) == 1


def test_a_bilingual_model_refuses_other_languages(marian: Path) -> None:
    result = run("translate", "--quiet", "--model", marian, "--target-language", "fr", text=LINES)
    assert result.exit_code == UsageError.exit_code
    assert "not from en to fr" in result.stderr and "converting" not in result.stderr


def test_truncation_in_a_tokenizer_file_is_disabled(tmp_path: Path) -> None:
    folder = huggingface.nllb(tmp_path).folder
    stored = json.loads((folder / "tokenizer.json").read_text())
    limits = {"truncation": {"max_length": 4, "strategy": "LongestFirst", "stride": 0, "direction": "Right"}}
    (folder / "tokenizer.json").write_text(json.dumps(stored | limits))
    tokenizer = from_huggingface(folder, "eng_Latn", "deu_Latn").bundle.tokenizer
    (target,) = tokenizer.encode_targets(["kalo mita resu no pe difo"])
    assert tokenizer.decode(target) == "kalo mita resu no pe difo"


def test_a_language_is_known_by_its_codes_of_two_and_three_letters(tmp_path: Path) -> None:
    folder = huggingface.nllb(tmp_path).folder
    own = from_huggingface(folder, "eng_Latn", "deu_Latn").bundle.tokenizer.special_tokens
    for source, target in (("en", "de"), ("eng", "deu"), ("en-GB", "de_DE")):
        assert from_huggingface(folder, source, target).bundle.tokenizer.special_tokens == own
    assert from_huggingface(folder, "de", "en").bundle.tokenizer.special_tokens != own
    with pytest.raises(UsageError, match="does not know the target language 'fr'"):
        from_huggingface(folder, "en", "fr")


def test_missing_settings_are_named(marian: Path, tmp_path: Path) -> None:
    broken = copy_with(marian, tmp_path / "broken", {})
    config = json.loads((broken / "config.json").read_text())
    del config["max_position_embeddings"]
    (broken / "config.json").write_text(json.dumps(config))
    result = run("convert", broken, tmp_path / "bundle")
    assert result.exit_code == ModelError.exit_code
    assert str(broken) in result.stderr and "max_position_embeddings" in result.stderr


@pytest.mark.parametrize("name", ["./model", "../model", "work/verifeir", "/nowhere/model", "~/model", "a/b/c"])
def test_paths_are_never_requested_from_the_hub(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Any] = []
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *arguments, **_: asked.append(arguments))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "work").mkdir()
    (tmp_path / "text.tsv").write_text("ka\tlo\n", encoding="utf-8")
    for command in (
        ["translate", "-m", name, "text.tsv"],
        ["distill", name, "out", "text.tsv"],
        ["convert", name, "out"],
        ["train-drafter", "out", "-m", name, "--data", "text.tsv", "--dev", "text.tsv"],
    ):
        result = run(*command)
        assert (result.exit_code, asked) == (ModelError.exit_code, [])
        assert name in result.stderr
        assert not (tmp_path / "out").exists()


def test_models_of_the_hub_are_downloaded_by_name(marian: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[tuple[str, bool]] = []

    def snapshot_download(name: str, *, local_files_only: bool, **_: Any) -> str:
        asked.append((name, local_files_only))
        if local_files_only:
            raise FileNotFoundError("not in the cache")
        return str(marian)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot_download)
    result = run("visualize", "kalo", "--model", "someone/model", "--offline")
    assert result.exit_code == ModelError.exit_code and "offline" in result.stderr
    assert asked == [("someone/model", True)]
    result = done(run("translate", "--model", "someone/model", text=LINES))
    assert asked[1:] == [("someone/model", True), ("someone/model", False)]
    assert run("convert", "someone/model", tmp_path / "bundle").exit_code == 0


def test_ctranslate2_gives_the_same_output(many: Path, tmp_path: Path) -> None:
    pair = ("--source-language", "en_XX", "--target-language", "de_DE")
    for target in ("bundle", "ctranslate2"):
        result = done(run("convert", many, tmp_path / target, "--to", target, *pair))
    again = run("convert", tmp_path / "bundle", tmp_path / "again")
    said = {one.stderr.partition(" -> ")[2].partition("\n")[0] for one in (result, again)}
    assert len(said) == 1


@pytest.mark.parametrize("kind", ["marian", "many"])
def test_a_drafter_of_a_converted_model_is_trained_on_text_alone(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    languages = ("--source-language", "en_XX", "--target-language", "de_DE") if kind == "many" else ()
    assert run("convert", request.getfixturevalue(kind), tmp_path / "bundle", *languages).exit_code == 0
    (tmp_path / "mono.txt").write_text("\n".join(make_lines(30, seed=3)))
    changes = ("drafter.max_block=4", "drafter.chain=16", "drafter.feed_forward=64", "run.max_updates=4", "run.batch_tokens=128")
    settings = [part for change in (*changes, "run.precision=32-true", "run.evaluate_every=2") for part in ("--set", change)]
    sources = ("--source", tmp_path / "mono.txt", "--dev", tmp_path / "mono.txt")
    done(run("train-drafter", tmp_path / "faster", "-m", tmp_path / "bundle", *sources, *settings, "--threads", 1, "--device", "cpu"))
    bundle = load_bundle(tmp_path / "faster")
    assert isinstance(bundle.drafter, BlockDrafter) and bundle.drafter.config.mask == bundle.tokenizer.mask
    translate = ("translate", "-m", tmp_path / "faster", tmp_path / "mono.txt", "--max-length", 12)
    drafted = run(*translate, "--decoding", "specdec")
    assert drafted.stdout == run(*translate, "--decoding", "greedy").stdout
    assert len(set(drafted.stdout.splitlines())) > 10


@pytest.mark.long
def test_bench_scores_summaries_with_rouge(tmp_path: Path) -> None:
    (tmp_path / "saved").mkdir()
    folder = huggingface.bart(tmp_path / "saved").folder
    assert run("convert", folder, tmp_path / "bundle").exit_code == 0
    assert read_info(tmp_path / "bundle").task == "summarise"
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("kalo mita. Resu no.\tkalo mita\npe difo suno\tdifo\n")
    names = ("greedy", "lookup,ngram-memory,gs-jacobi", "jacobi", "hybrid-jacobi:fixed-point", "ctranslate2-greedy")
    rows = [part for name in names for part in ("--row", name)]
    done(
        run(
            "bench",
            pairs,
            "-m",
            tmp_path / "bundle",
            *rows,
            "--repetitions",
            1,
            "--precision",
            "float32",
            "--json",
            tmp_path / "bench.json",
        )
    )
    measured = {row["decoding"]: row for row in json.loads((tmp_path / "bench.json").read_text())["rows"]}
    assert all(isinstance(row["rougeLsum"], float) and row["rougeLsum"] == measured["greedy"]["rougeLsum"] for row in measured.values())
    assert "bleu" not in measured["greedy"] or measured["greedy"]["bleu"] is None
    assert measured["ctranslate2-greedy"]["identical"] == [2, 2]
    # A line of two sentences is decoded as one text.
    assert run("translate", "-m", tmp_path / "bundle", "--json", text="kalo mita. Resu no.\n").stdout.count("</s>") == 0


@pytest.mark.parametrize("name", ["no/such/folder", "nothing"])
def test_folders_without_a_model_are_refused(name: str, tmp_path: Path) -> None:
    assert run("translate", "--model", name, text=LINES).exit_code == ModelError.exit_code
    assert run("convert", name, tmp_path / "bundle").exit_code == ModelError.exit_code


def test_the_code_example_for_ctranslate2_has_the_special_tokens(many: Path, tmp_path: Path) -> None:
    languages = ("--source-language", "en", "--target-language", "de")
    result = done(run("convert", many, tmp_path / "model", "--to", "ctranslate2", *languages))
    said, _, code = result.stderr.partition("\nIn Python:\n\n")
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.startswith(said.rpartition(" -> ")[2].strip()) and said.rpartition(" -> ")[2].strip()


def test_a_kept_conversion_is_found_without_the_libraries_that_made_it(
    marian: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = tmp_path / "hub"
    snapshot = hub / "models--someone--model" / "snapshots" / "1234"
    (snapshot.parents[1] / "refs").mkdir(parents=True)
    (snapshot.parents[1] / "refs" / "main").write_text("1234")
    snapshot.parent.mkdir()
    copy_with(marian, snapshot, {})
    monkeypatch.setenv("HF_HUB_CACHE", str(hub))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(hub))
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: str(snapshot))
    program = (
        "import sys; from specdec_cli.app import app\n"
        "sys.modules |= dict.fromkeys(['torch', 'safetensors', 'huggingface_hub._snapshot_download'])\n"
        "app(['translate', '-m', sys.argv[1], '--offline'], standalone_mode=False)\n"
        "assert 'converters.formats' not in sys.modules"
    )
    for name in (str(marian), "someone/model"):
        first = run("translate", "--model", name, text=LINES)
        assert first.exit_code == 0 and "converting to" in first.stderr
        again = subprocess.run([sys.executable, "-c", program, name], input=LINES, capture_output=True, text=True, check=False)
        assert (again.returncode, again.stdout) == (0, first.stdout), again.stderr


def test_other_precisions_than_int8_read_the_checkpoint(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "saved").mkdir()
    made = huggingface.marian(tmp_path / "saved")
    assert run("translate", "--model", made.folder, "--precision", "int8", text=LINES).exit_code == 0
    (kept,) = cache.iterdir()
    expected = from_huggingface(made.folder).joined().verifier.state_dict()
    loaded = load_checkpoint(kept).verifier.state_dict()
    assert all(torch.equal(loaded[name], value) for name, value in expected.items()) and loaded.keys() == expected.keys()
    # The weights in int8 are not those; nothing takes them for floating-point ones.
    rounded = load_bundle(kept, in_int8=True).verifier.state_dict()
    assert not torch.equal(rounded["layers.0.attention.output.weight"], expected["layers.0.attention.output.weight"])
    assert torch.equal(rounded["encoder.embedding.positions"], expected["encoder.embedding.positions"])
    with pytest.raises(ModelError, match="in int8, for a CPU alone"):
        load_bundle(kept)
    texts = ["kalo mita resu", "no pe difo", "ta re su"]
    lines = "".join(f"{text}\n" for text in texts)
    float32 = done(
        run("translate", "--model", made.folder, "--decoding", "greedy", "--precision", "float32", "--raw", "--json", text=lines)
    )
    ids = [list(made.encode(text)) for text in texts]
    with torch.inference_mode():
        outputs = [made.model.generate(torch.tensor([each]), num_beams=1, do_sample=False)[0].tolist()[1:] for each in ids]
    tokenizer = load_checkpoint(kept).tokenizer
    assert [json.loads(line)["text"] for line in float32.stdout.splitlines()] == [tokenizer.decode(each) for each in outputs]


def test_a_checkpoint_that_is_gone_is_an_error_where_it_is_needed(marian: Path, tmp_path: Path, cache: Path) -> None:
    copy_with(marian, tmp_path / "model", {})
    first = run("translate", "--model", tmp_path / "model", text=LINES)
    (kept,) = cache.iterdir()
    (tmp_path / "model" / "generation_config.json").write_text("{}")
    for command in (("translate", "--precision", "float32", "--offline", "-m", kept.name), ("convert", kept, tmp_path / "bundle")):
        changed = run(*command, text=LINES)
        assert changed.exit_code == ModelError.exit_code
        assert "not the files that were converted" in changed.stderr and "need the checkpoint" in changed.stderr
    (tmp_path / "model").rename(tmp_path / "elsewhere")
    gone = run("translate", "--precision", "float32", "--offline", "--model", kept.name, text=LINES)
    assert gone.exit_code == ModelError.exit_code
    assert f"{tmp_path / 'model'}: no such folder or file" in gone.stderr and "need the checkpoint" in gone.stderr
    # In int8 on a CPU, the checkpoint is not needed.
    assert run("translate", "--offline", "--model", kept.name, text=LINES).stdout == first.stdout
    (kept / "checkpoint.json").write_text('{"model": 3}')
    assert "model must be text" in run("convert", kept, tmp_path / "bundle").stderr
    (kept / "checkpoint.json").write_text('{"model": "someone/model"}')
    away = run("translate", "--precision", "float32", "--offline", "--model", kept.name, text=LINES)
    assert "someone/model: not in the cache, and offline nothing is downloaded" in away.stderr and "need the checkpoint" in away.stderr


def test_conversions_of_an_earlier_version_are_named(marian: Path, cache: Path) -> None:
    assert run("translate", "--model", marian, text=LINES).exit_code == 0
    assert "earlier version" not in run("models").stderr
    (kept,) = cache.iterdir()
    old = cache / "an old-0123"
    kept.rename(old)
    (old / "checkpoint.json").unlink()
    said = run("models").stderr
    assert re.search(r"1 conversion of an earlier version \(0\.\d MB\), used by name alone; to remove: rm -r '\S+/an old-0123'", said)


def test_a_model_that_is_too_large_for_the_machine_is_refused_before_it_is_read(
    marian: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("converters.checkpoints.free_memory", lambda _: 300_000_000)
    monkeypatch.setattr("converters.huggingface.read_weights", lambda _: pytest.fail("the weights are read"))
    for command in (["translate", "-m", marian], ["convert", marian, tmp_path / "bundle"]):
        result = run(*command, text=LINES)
        assert result.exit_code == ModelError.exit_code
        assert re.search(r"its conversion needs 0\.4 GB of memory, and 0\.3 GB are free", result.stderr)
    assert not cache.exists() or list(cache.iterdir()) == []


def test_a_model_that_is_too_large_for_the_disk_is_refused_before_it_is_read(
    marian: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("converters.checkpoints.shutil.disk_usage", lambda _: SimpleNamespace(free=1000))
    monkeypatch.setattr("converters.huggingface.read_weights", lambda _: pytest.fail("the weights are read"))
    for command in (["translate", "-m", marian], ["convert", marian, tmp_path / "new" / "bundle"]):
        result = run(*command, text=LINES)
        assert result.exit_code == ModelError.exit_code
        assert re.search(r"its conversion needs at least 0\.0 GB of disk space, and 0\.0 GB are free in /", result.stderr)
    assert not cache.exists() or list(cache.iterdir()) == []
    assert not (tmp_path / "new").exists()


def test_what_an_interrupted_conversion_leaves_is_no_bundle(marian: Path, cache: Path) -> None:
    assert run("translate", "--model", marian, text=LINES).exit_code == 0
    (kept,) = cache.iterdir()
    kept.rename(cache / f".{kept.name}.123.partial")
    listed = run("models")
    assert kept.name not in listed.stdout and "converted from" not in listed.stderr
    assert "converting to" in run("translate", "--model", marian, text=LINES).stderr


def test_matrices_in_halves_stay_in_halves_until_they_are_written(marian: Path, tmp_path: Path) -> None:
    halves = copy_with(marian, tmp_path / "halves", {})
    save_file({name: value.half() for name, value in load_file(marian / "model.safetensors").items()}, halves / "model.safetensors")
    verifier = convert_model(halves, None, ConversionOptions()).joined().verifier
    assert {weight.dtype for weight in verifier.parameters() if weight.dim() == 2} == {torch.float16, torch.float32}
    assert verifier.get_parameter("layers.0.feed_forward.inner.weight").dtype == verifier.embedding.tokens.weight.dtype == torch.float16
    assert verifier.output.weight is verifier.embedding.tokens.weight and verifier.output.bias.dtype == torch.float32
    assert verifier.encoder.embedding.positions.data_ptr() != verifier.embedding.positions.data_ptr()
    assert run("translate", "--model", halves, text=LINES).exit_code == 0
    assert run("translate", "--model", halves, "--precision", "float32", text=LINES).exit_code == 0
