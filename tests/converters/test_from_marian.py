"""Conversion of Marian models: refused models, companion files, and tokens that are never emitted."""

import shutil
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

from converters.conversion import ConversionOptions
from converters.formats import convert_model
from converters.marian import CONFIGURATION, from_marian, is_marian, read_arrays, read_settings, read_vocabulary
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.choices import suppressed

marian = pytest.importorskip("tests.converters.marian", reason="transformers is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """Makes a model of a kind; each kind is made once."""
    torch.set_num_threads(1)

    def make_one(kind: str) -> Any:
        torch.manual_seed(0)
        return marian.MAKERS[kind](tmp_path_factory.mktemp("saved"))

    return cache(make_one)


@pytest.fixture
def saved(make: Callable[[str], Any], tmp_path: Path) -> Path:
    """A copy of an OPUS-MT model in the folder of the test."""
    folder = tmp_path / "en-de"
    shutil.copytree(make("OPUS-MT, two vocabularies").folder, folder)
    return folder / "opus.npz"


def change(saved: Path, settings: dict[str, Any] | None = None, **arrays: Any) -> None:
    """Change settings and arrays of a model in place."""
    before = read_arrays(saved)
    kept = {name: array for name, array in before.items() if not name.startswith("special:")}
    marian.write_model(saved, kept | arrays, read_settings(before[CONFIGURATION].tobytes()) | (settings or {}))


@pytest.mark.parametrize("kind", list(marian.MAKERS))
def test_start_padding_and_unknown_are_never_emitted(kind: str, make: Callable[[str], Any]) -> None:
    bundle = from_marian(make(kind).folder, "en", "de").joined()
    config, bias = bundle.verifier.config, bundle.verifier.output.bias
    start, unknown = config.decoder_start, bundle.tokenizer.id_of("<unk>")
    assert start == config.padding == bundle.tokenizer.id_of("<pad>") == config.vocabulary_size - 1
    assert not bundle.verifier.embedding.tokens.weight[start].any()
    assert unknown is not None and bool(suppressed(bias[[start, unknown]]).all()) and not suppressed(bias[config.eos])


def test_only_chosen_decoder_layers_are_kept(saved: Path) -> None:
    one, both = (from_marian(saved, decoder_layers=layers).joined().verifier for layers in ((1,), (0, 1)))
    first, last = one.layers[0].state_dict(), both.layers[1].state_dict()
    assert len(one.layers) == 1 and all(torch.equal(value, last[name]) for name, value in first.items())
    with pytest.raises(UsageError, match="layers 0 to 1, not 2"):
        from_marian(saved, decoder_layers=[2])


def test_language_tokens_precede_the_source(saved: Path) -> None:
    vocabulary = saved.with_name("opus.src.vocab.yml")
    pieces = read_vocabulary(vocabulary)
    marian.write_vocabulary(vocabulary, [*pieces[:-2], ">>deu<<", ">>nld<<"])
    tokenizer = from_marian(saved, "en", "nld").bundle.tokenizer
    assert tokenizer.add_special_tokens([5]) == [len(pieces) - 1, 5, 0]
    with pytest.raises(UsageError, match="it knows deu, nld"):
        from_marian(saved)


def test_all_unsupported_settings_are_named_together(saved: Path) -> None:
    wrong = {"transformer-decoder-autoreg": "rnn", "transformer-ffn-activation": "gelu", "transformer-tied-layers": [1, 1], "ulr": True}
    change(saved, wrong | {"transformer-postprocess": "dahn", "right-left": True, "dim-vocabs": [9, 9, 9], "transformer-heads": 0})
    with pytest.raises(ModelError, match=r"opus\.npz: not supported") as raised:
        from_marian(saved)
    for what in ("'rnn'", "'gelu'", "[1, 1]", "ulr True", "'dahn'", "right-left True", "3 vocabularies", "no transformer-heads"):
        assert what in str(raised.value)


def test_unknown_arrays_are_named(saved: Path) -> None:
    change(saved, decoder_l1_rnn_W=numpy.zeros((32, 32)), encoder_l2_ffn_W1=numpy.zeros((32, 8)))
    with pytest.raises(ModelError, match=r"encoder\.layers\.1\.fc1\.weight is \(8, 32\), .*; decoder_l1_rnn_W is not supported"):
        from_marian(saved)


def test_arrays_of_objects_are_refused(saved: Path) -> None:
    change(saved, decoder_l1_rnn_W=numpy.array([{}, {}], dtype=object))
    with pytest.raises(ModelError, match=r"opus\.npz: not readable as arrays \(Object arrays"):
        from_marian(saved)


def test_an_array_larger_than_its_storage_is_named(saved: Path) -> None:
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 800)}"
    with zipfile.ZipFile(saved, "a") as archive:
        archive.writestr("large.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + b"\0" * 80)
    with pytest.raises(ModelError, match=r"opus\.npz: not readable as arrays \(large\.npy claims to be \(1000000, 800\) of float32, but"):
        from_marian(saved)


def test_deeply_nested_settings_are_refused(saved: Path) -> None:
    saved.with_name("decoder.yml").write_text("a: " + "[" * 3000 + "]" * 3000)
    with pytest.raises(ModelError, match=r"decoder\.yml: not readable as YAML"):
        convert_model(saved, "marian", ConversionOptions())


def test_a_zip_bomb_is_refused(saved: Path) -> None:
    with zipfile.ZipFile(saved, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("large.npy", "w") as stream:
        for _ in range(30):
            stream.write(bytes(2**20))
    with pytest.raises(ModelError, match=r"opus\.npz: the members claim \d+ bytes, but the file has \d+"):
        from_marian(saved)


def test_damaged_files_are_named(saved: Path) -> None:
    whole = saved.read_bytes()
    saved.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelError, match=r"opus\.npz: not readable as arrays"):
        from_marian(saved.parent)
    assert not is_marian(saved) and not is_marian(saved.parent)
    saved.write_bytes(whole)
    numpy.savez(saved.with_name("other.npz"), Wemb=numpy.zeros((2, 2)))
    assert is_marian(saved) and is_marian(saved.parent) and not is_marian(saved.with_name("other.npz"))
    with pytest.raises(ModelError, match=r"other\.npz: not a Marian model"):
        from_marian(saved.with_name("other.npz"))
    saved.with_name("target.spm").unlink()
    with pytest.raises(ModelError, match=r"no target\.spm"):
        from_marian(saved)
    with saved.with_name("opus.trg.vocab.yml").open("a") as stream:
        stream.write("mita\n")
    with pytest.raises(ModelError, match=r"opus\.trg\.vocab\.yml, line \d+: expected a piece and its id, found 'mita'"):
        from_marian(saved)


def test_pieces_with_a_meaning_in_yaml_are_read_as_text(tmp_path: Path) -> None:
    lines = [
        '"</s>": 0',
        "<unk>: 1",
        '"\\u2581\\"a\\x85": 2',
        "'it''s': 3",
        "no: 4",
        "<<: 5",
        "=: 6",
        "\u2028: 7",
        '":": 8',
        "a:b: 9",
        "'': 10",
    ]
    (tmp_path / "vocab.yml").write_text("\n".join(lines), encoding="utf-8")
    expected = ["</s>", "<unk>", '\u2581"a\x85', "it's", "no", "<<", "=", "\u2028", ":", "a:b", ""]
    assert read_vocabulary(tmp_path / "vocab.yml") == expected
    (tmp_path / "vocab.json.yml").write_text('{"</s>": 0, "a": 2}')
    assert read_vocabulary(tmp_path / "vocab.json.yml") == ["</s>", "<unused 1>", "a"]


def test_long_pieces_of_a_vocabulary_have_two_lines(tmp_path: Path) -> None:
    long, path = "\u2581" + "\u00e9" * 140, tmp_path / "vocab.yml"
    path.write_text(f"</s>: 0\n? {long}\n: 1\n? '{long}''s'\n: 2\n? \"{long}\\x85\"\n:   3\n?: 4\n'? ': 5\n", encoding="utf-8")
    assert read_vocabulary(path) == ["</s>", long, f"{long}'s", f"{long}\x85", "?", "? "]


@pytest.mark.parametrize(
    ("lines", "fault"), [("? a\nb: 1", "line 2: expected the id of a piece"), ("a: 0\n? b", "no id behind"), ("? a\n: x", "line 2")]
)
def test_a_long_piece_without_an_id_is_named(lines: str, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "vocab.yml"
    path.write_text(lines)
    with pytest.raises(ModelError, match=f"vocab.yml.*{fault}"):
        read_vocabulary(path)
