"""Models of the T5 family: tables of distances, long outputs, known models and tasks, and models that are refused."""

import gc
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import ctranslate2
import pytest
import torch

from converters import t5
from converters.conversion import ConversionOptions, UnknownTask
from converters.formats import convert_model
from converters.huggingface import from_huggingface
from converters.purposes import KNOWN, find_purpose
from converters.to_ctranslate2 import to_ctranslate2
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model import storage
from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.model.hub import is_complete
from specdec_cli.text.tokenize.ctranslate2 import FolderTokenizer
from tests.conftest import make_lines
from tests.converters.comparison import decode, generate, sources_of

transformers = pytest.importorskip("transformers", reason="transformers is not installed")
huggingface = pytest.importorskip("tests.converters.huggingface", reason="transformers is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
FAMILY = ("T5", "T5 v1.1", "Flan-T5", "mT5", "UMT5", "ByT5", "MADLAD-400")
PARAMS = {
    "summarization": {"prefix": "summarize: ", "min_length": 30, "num_beams": 4},
    "translation_en_to_de": {"prefix": "translate English to German: ", "num_beams": 4, "max_length": 300},
    "translation_en_to_fr": {"prefix": "translate English to French: ", "num_beams": 3, "max_length": 200},
    "translation_xx": {"prefix": "translate", "num_beams": 9},
    "odd": 3,
}


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """Return the saved model of a kind, made once."""
    torch.set_num_threads(1)
    made: dict[str, Any] = {}

    def find(kind: str) -> Any:
        if kind not in made:
            torch.manual_seed(0)
            made[kind] = huggingface.MAKERS[kind](tmp_path_factory.mktemp("saved"))
        return made[kind]

    return find


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like those of Flan-T5, but with a SentencePiece model alone, and untrained."""
    folder: Path = tmp_path_factory.mktemp("untrained")
    huggingface.write_t5_pieces(folder)
    huggingface.make_t5("T5", 192, gated=True, tied=False, steps=0).save_pretrained(folder)
    return folder


def changed(saved: Path, target: Path, **values: Any) -> Path:
    """A copy of a folder with other values in config.json."""
    folder = Path(shutil.copytree(saved, target / "model"))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | values))
    return folder


def converted(folder: Path, source: str = "", target: str = "", task: Any = "correct") -> Bundle:
    """The bundle of a folder."""
    return convert_model(folder, None, ConversionOptions(source, target, task)).joined()


@pytest.mark.parametrize(("buckets", "farthest"), [(32, 128), (8, 20), (64, 500), (7, 31)])
@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_biases_of_distances_are_those_of_buckets(buckets: int, farthest: int, side: str) -> None:
    shape = {"num_heads": 3, "d_kv": 16, "d_model": 48, "relative_attention_num_buckets": buckets}
    settings = transformers.T5Config(relative_attention_max_distance=farthest, is_decoder=side == "decoder", **shape)
    attention = transformers.models.t5.modeling_t5.T5Attention(settings, has_relative_attention_bias=True)
    attention.relative_attention_bias.weight.data.normal_()
    config = settings.to_dict()
    weights = {f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight": attention.relative_attention_bias.weight}
    table = t5.canonical(weights | {"shared.weight": torch.zeros(8, 48)}, config)[f"{side}.relative_bias.weight"]
    reach, length = t5.t5_fields(config, in_bytes=False)["reach"], 4096
    last = (2 if side == "encoder" else 1) * reach
    assert table.shape == (3, last + 1)
    for query in (0, 5, length // 2, length - 1):
        context = torch.tensor(query)[None, None]
        memory = torch.arange(length if side == "encoder" else query + 1)[None]
        found = attention._relative_position_bucket(
            memory - context, bidirectional=side == "encoder", num_buckets=buckets, max_distance=farthest
        )
        expected = attention.relative_attention_bias(found)[0].T
        assert torch.equal(table[:, (memory[0] - query + reach).clamp(0, last)], expected)


@pytest.mark.parametrize("kind", [each if each == "T5" else pytest.param(each, marks=pytest.mark.long) for each in FAMILY])
def test_long_outputs_in_float32_are_those_of_transformers(make: Callable[[str], Any], kind: str) -> None:
    made = make(kind)
    bundle = converted(made.folder, "", made.languages[1], "translate")
    bundle.info, least = replace(bundle.info, min_length=45, task="correct"), {"min_length": 46, "max_length": 61}
    bundle.verifier.float()
    made.model.float()
    sources = [*sources_of(made), *(made.encode(line) for line in make_lines(12, seed=11))]
    assert len(sources) == 40 and max(map(len, sources)) > 200
    expected = generate(made, sources, num_beams=1, do_sample=False, **least)
    assert min(map(len, expected)) > 40
    for decoding in ("greedy", "input-guided", "lookup,ngram-memory,gs-jacobi"):
        assert decode(bundle, sources, decoding=decoding, batch_size=8, max_length=60) == expected, decoding
    expected = generate(made, sources[::4], num_beams=5, do_sample=False, **least)
    assert decode(bundle, sources[::4], decoding="beam", beam_size=5, max_length=60) == expected


@pytest.mark.parametrize(
    "kind", ["T5", "T5 v1.1", *(pytest.param(each, marks=pytest.mark.long) for each in ("UMT5", "ByT5", "MADLAD-400"))]
)
def test_ctranslate2_gives_the_output_of_float32(make: Callable[[str], Any], kind: str, tmp_path: Path) -> None:
    made = make(kind)
    bundle = converted(made.folder, "", made.languages[1], "translate")
    bundle.tokenizer = bundle.tokenizer.instructed("kalo mita: ")
    bundle.verifier.float()
    to_ctranslate2(bundle, tmp_path / "model")
    text = FolderTokenizer(tmp_path / "model")
    lines = [*make_lines(35, seed=13), *(" ".join(make_lines(60, seed=seed)) for seed in range(5))]
    sources = [bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode(line)) for line in lines]
    assert len(text.encode("")) > len(converted(made.folder, "", made.languages[1], "translate").tokenizer.add_special_tokens([]))
    assert max(map(len, sources)) > 2 * bundle.shape.reach
    translator = ctranslate2.Translator(str(tmp_path / "model"), intra_threads=1)  # type: ignore[attr-defined]
    settings = {"beam_size": 1, "min_decoding_length": 0, "max_decoding_length": 40, "max_input_length": 0}
    found = translator.translate_batch(list(map(text.encode, lines)), return_end_token=True, **settings)
    expected = decode(bundle, sources, decoding="greedy", max_length=40)
    assert [each.hypotheses[0] for each in found] == list(map(bundle.tokenizer.pieces, expected))
    assert [text.decode(each.hypotheses[0]) for each in found] == list(map(bundle.tokenizer.decode, expected))
    assert len(set(map(tuple, expected))) > 20


def test_a_folder_with_its_sentencepiece_model_alone_is_complete(saved: Path, tmp_path: Path) -> None:
    assert is_complete(saved)
    folder = Path(shutil.copytree(saved, tmp_path / "model"))
    (folder / "spiece.model").unlink()
    assert not is_complete(folder)
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "ByT5Tokenizer"}')
    assert is_complete(folder)


def test_sentinels_and_unused_rows_are_not_shown(saved: Path) -> None:
    tokenizer = converted(saved).tokenizer
    assert len(tokenizer) == 192 > 60
    assert tokenizer.decode([*tokenizer.encode("kalo"), *range(60, 192)]) == "kalo"


def test_bytes_are_restored_and_none_is_lacking(make: Callable[[str], Any]) -> None:
    tokenizer = converted(make("ByT5").folder).tokenizer
    for text in (*make_lines(60, seed=2), "Ünïcode 汉字 🙂\t\r\n<>{}", "".join(map(chr, range(1, 1000)))):
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert tokenizer.encode(text) == [byte + 3 for byte in text.encode()]
    assert not any(map(tokenizer.lacks, "aÜ汉🙂\n"))
    assert tokenizer.decode([3 + 0xC3, *tokenizer.encode("a"), 3 + 0xFF, 300]) == "a"
    assert [piece for piece, starts in zip(tokenizer.vocabulary(), tokenizer.word_starts(), strict=True) if starts] == ["Ġ"]


def test_layers_of_their_own_biases_can_be_dropped(make: Callable[[str], Any]) -> None:
    folder = make("UMT5").folder
    whole, kept = (from_huggingface(folder, task="correct", decoder_layers=layers).joined().verifier for layers in (None, (1,)))
    assert whole.bias is not None and kept.bias is not None
    heads = whole.config.heads
    assert torch.equal(kept.bias.weight, whole.bias.weight[heads:]) and not torch.equal(kept.bias.weight, whole.bias.weight[:heads])
    ids = torch.tensor([[5, 6, 7, 1]])
    memory = kept.encoder(ids)[0]
    assert torch.equal(memory, whole.encoder(ids)[0])


def test_weights_stay_in_the_mapped_file_but_for_one_matrix_at_a_time(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    conversion = from_huggingface(saved, task="correct")
    maps = [line.split() for line in Path("/proc/self/maps").read_text().splitlines() if line.endswith(str(saved / "model.safetensors"))]
    ranges = [range(*(int(end, 16) for end in each[0].split("-"))) for each in maps]
    named = conversion.bundle.verifier.named_parameters()
    single = [each for name, each in named if not each.is_meta and each.dim() == 2 and not name.endswith("bias.weight")]
    matrices = [*single, *chain(*(matrix.parts for matrix in conversion.parts.values()))]
    assert len(conversion.parts) == 12 and len(matrices) == 38
    assert all(any(each.data_ptr() in part for part in ranges) for each in matrices)

    before, seen = _memory(), []
    compress = storage._compress

    def counted(*arguments: Any) -> Any:
        seen.append(sum(size for address, size in _memory().items() if address not in before))
        return compress(*arguments)

    monkeypatch.setattr(storage, "_compress", counted)
    conversion.save(tmp_path / "bundle", "int8")
    largest = max(sum(part.nbytes for part in matrix.parts) for matrix in conversion.parts.values())
    assert largest <= max(seen) < 2.5 * largest < 0.3 * sum(each.nbytes for each in matrices)
    monkeypatch.undo()
    whole = from_huggingface(saved, task="correct").joined()
    save_bundle(whole, tmp_path / "whole", "int8")
    assert not any(each.is_meta for each in whole.verifier.parameters())
    files = [folder / "verifier" / "model.safetensors" for folder in (tmp_path / "bundle", tmp_path / "whole")]
    assert files[0].read_bytes() == files[1].read_bytes()


def _memory() -> dict[int, int]:
    """The sizes of all memory of tensors, by address."""
    tensors = (each for each in gc.get_objects() if isinstance(each, torch.Tensor) and not each.is_meta)
    return {each.untyped_storage().data_ptr(): each.untyped_storage().nbytes() for each in tensors}


@pytest.mark.parametrize(
    "name", ["coedit-large", "grammarly_CoEdIT-xl", "vennify-t5-base-grammar-correction", "flan-t5-large-grammar-synthesis"]
)
def test_known_correctors_have_their_instructions(saved: Path, tmp_path: Path, name: str) -> None:
    for folder in (tmp_path / name, tmp_path / f"models--owner--{name}" / "snapshots" / "0a1b2c"):
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(saved, folder)
        bundle = converted(folder, task=None)
        assert (bundle.info.task, bundle.info.source_language, bundle.info.target_language) == ("correct", "en", "en")
        (expected,) = (each.instruction for part, each in KNOWN.items() if part in name.lower())
        assert bundle.tokenizer.config.instruction == expected  # type: ignore[attr-defined]


def test_a_model_whose_task_is_not_known_is_refused(saved: Path, tmp_path: Path) -> None:
    for config in ({}, {"task_specific_params": None}, {"task_specific_params": [3]}, {"task_specific_params": PARAMS}):
        with pytest.raises(UnknownTask, match="a model of the T5 family does not say what it is for; name its task with --task"):
            converted(changed(saved, tmp_path / str(len(list(tmp_path.iterdir()))), **config), task=None)
    assert converted(saved).info.task == "correct"
    assert converted(saved).tokenizer.config.instruction == ""  # type: ignore[attr-defined]


def test_tasks_of_the_first_models_have_their_instructions_and_settings(saved: Path, tmp_path: Path) -> None:
    folder = changed(saved, tmp_path, task_specific_params=PARAMS)
    summary = converted(folder, task="summarise")
    assert summary.tokenizer.config.instruction == "summarize: "  # type: ignore[attr-defined]
    assert (summary.info.min_length, summary.info.beam_size) == (29, 4)
    french = converted(folder, "en", "fr", task=None)
    assert (french.info.task, french.info.beam_size, french.info.max_length) == ("translate", 3, 199)
    assert french.tokenizer.instruction == "translate English to French: "
    plain = converted(saved).tokenizer
    expected = plain.encode("translate English to French: kalo")
    assert french.tokenizer.add_special_tokens(french.tokenizer.encode("kalo")) == [*expected, 1]
    assert find_purpose(folder, {"task_specific_params": PARAMS}, "correct") is not None
    with pytest.raises(UsageError, match="does not know the target language 'it'; it knows de, en, fr"):
        converted(folder, "en", "it", task="translate")


def test_a_target_language_of_madlad_is_a_token_before_the_source(make: Callable[[str], Any]) -> None:
    made = make("MADLAD-400")
    tokenizer = converted(made.folder, "", "zh", task="translate").tokenizer
    assert "<2zh_Latn>" in tokenizer.source_pieces(tokenizer.special_tokens.before)
    with pytest.raises(UsageError, match="needs a target language; it knows de, fr, zh_Latn"):
        converted(made.folder, task="translate")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"feed_forward_proj": "gated-tanh"}, "not supported: feed_forward_proj 'gated-tanh'"),
        ({"feed_forward_proj": "double-relu"}, "not supported: feed_forward_proj 'double-relu'"),
        ({"feed_forward_proj": 3}, "not supported: feed_forward_proj 3"),
        ({"is_encoder_decoder": False}, "an encoder alone"),
        ({"quantization_config": {"bits": 4}}, "quantised weights"),
        ({"relative_attention_num_buckets": 2}, "relative_attention_num_buckets 2 with"),
        ({"relative_attention_num_buckets": 10**9}, "relative_attention_num_buckets 1000000000 with"),
        ({"relative_attention_max_distance": 16}, "with relative_attention_max_distance 16"),
        ({"relative_attention_max_distance": 10**9}, "with relative_attention_max_distance 1000000000"),
        ({"relative_attention_max_distance": "x"}, "with relative_attention_max_distance 'x'"),
        ({"relative_attention_num_buckets": 16}, r"a table of relative positions is \(32, 4\), not \(16, 4\)"),
        ({"d_kv": 0}, "config.json: d_kv must be a positive integer, not 0"),
        ({"num_heads": None}, "config.json: num_heads must be a positive integer, not None"),
        ({"num_heads": 3}, r"a table of relative positions is \(32, 4\), not \(32, 3\)"),
        ({"num_decoder_layers": 3}, "decoder.layers.2.* is missing"),
        ({"num_layers": 10**9}, "encoder_layers must be an integer from 0 to 1024"),
        ({"eos_token_id": 10**6}, "eos_token_id is 1000000, but the vocabulary has 192 tokens"),
        ({"d_ff": 128}, r"fc1.weight is \(64, 32\), but the configuration requires \(128, 32\)"),
        ({"layer_norm_epsilon": 5}, "norm_epsilon must be a number from"),
        ({"model_type": "longt5"}, "model_type 'longt5'"),
    ],
)
def test_a_model_that_is_not_supported_is_refused(saved: Path, tmp_path: Path, values: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        converted(changed(saved, tmp_path, **values))


@pytest.mark.parametrize(
    ("name", "activation", "gated"),
    [("relu", "relu", False), ("gelu", "gelu", False), ("gated-gelu", "gelu-tanh", True), ("gated-silu", "silu", True)],
)
def test_activations_are_those_of_transformers(name: str, activation: str, gated: bool) -> None:
    config = transformers.T5Config(feed_forward_proj=name).to_dict()
    fields = t5.t5_fields(config, in_bytes=False)
    assert (fields["activation"], fields["gated"]) == (activation, gated)
