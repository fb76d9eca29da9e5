"""Conversion of fairseq checkpoints: settings, dictionaries, old names, and refused models."""

import argparse
import os
from pathlib import Path
from typing import Any

import pytest
import torch

from converters.checkpoints import read_pickle
from converters.fairseq import from_fairseq, is_fairseq, read_dictionary
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.bundle import Bundle

fairseq = pytest.importorskip("tests.converters.fairseq", reason="transformers is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint of an untrained Transformer with two dictionaries."""
    folder: Path = tmp_path_factory.mktemp("untrained")
    fairseq.transformer(folder, joined=False, steps=0)
    return folder / "checkpoint_best.pt"


def changed(checkpoint: Path, to: Path, **settings: Any) -> Path:
    """A copy of a checkpoint and its folder with other settings."""
    for path in checkpoint.parent.iterdir():
        if path != checkpoint:
            (to / path.name).write_bytes(path.read_bytes())
    stored = read_pickle(checkpoint)
    fairseq.write_checkpoint(to / "model.pt", stored["model"], vars(stored["args"]) | settings)
    return to / "model.pt"


def same_weights(first: Bundle, second: Bundle) -> bool:
    pairs = zip(first.verifier.state_dict().items(), second.verifier.state_dict().items(), strict=True)
    return first.verifier.config == second.verifier.config and all(a == b and torch.equal(x, y) for (a, x), (b, y) in pairs)


def test_names_of_old_checkpoints_are_converted(checkpoint: Path, tmp_path: Path) -> None:
    path = changed(checkpoint, tmp_path)
    stored = read_pickle(path)
    old = fairseq.fused(stored["model"])
    old["decoder.embed_out"] = old.pop("decoder.output_projection.weight")
    assert not any("q_proj" in name or "norm.weight" in name for name in old)
    torch.save({"args": stored["args"], "model": old}, path)
    assert same_weights(from_fairseq(path).joined(), from_fairseq(checkpoint).joined())


@pytest.mark.parametrize("nested", [False, True])
def test_nested_settings_are_read(checkpoint: Path, tmp_path: Path, nested: bool) -> None:
    path = changed(checkpoint, tmp_path)
    stored = read_pickle(path)
    args = vars(stored["args"])
    task = {"_name": "translation", "source_lang": args.pop("source_lang"), "target_lang": args.pop("target_lang")}
    model: Any = argparse.Namespace(**args)
    if nested:
        sides = {
            side: {n.removeprefix(f"{side}_"): args.pop(n) for n in list(args) if n.startswith(side)} for side in ("encoder", "decoder")
        }
        model = {"_name": args.pop("arch"), **args, **sides}
    torch.save({"args": None, "cfg": {"task": task, "model": model, "common": {"fp16": True}}, "model": stored["model"]}, path)
    found = from_fairseq(path).joined()
    assert same_weights(found, from_fairseq(checkpoint).joined())
    assert (found.info.source_language, found.info.target_language) == ("en", "de")


def test_only_chosen_decoder_layers_are_kept(checkpoint: Path) -> None:
    one, both = (from_fairseq(checkpoint, decoder_layers=layers).joined().verifier for layers in ((1,), (0, 1)))
    first, last = one.layers[0].state_dict(), both.layers[1].state_dict()
    assert len(one.layers) == 1 and all(torch.equal(value, last[name]) for name, value in first.items())
    with pytest.raises(UsageError, match="layers 0 to 1, not 2"):
        from_fairseq(checkpoint, decoder_layers=[2])


def test_all_unsupported_settings_are_named_together(checkpoint: Path, tmp_path: Path) -> None:
    wrong = {"arch": "lightconv_iwslt_de_en", "activation_fn": "gelu_fast", "decoder_attention_heads": 2, "adaptive_input": True}
    path = changed(checkpoint, tmp_path, **wrong, decoder_output_dim=16, decoder_normalize_before=True)
    with pytest.raises(ModelError) as raised:
        from_fairseq(path)
    for what in (
        "lightconv",
        "gelu_fast",
        r"heads that differ between encoder (4) and decoder (2)",
        "adaptive_input",
        "output_dim=16",
        "norm",
    ):
        assert what in str(raised.value)


def test_unknown_weights_are_named(checkpoint: Path, tmp_path: Path) -> None:
    path = changed(checkpoint, tmp_path)
    stored = read_pickle(path)
    stored["model"]["encoder.layers.0.attn_ln.weight"] = torch.ones(32)
    del stored["model"]["decoder.layers.1.fc1.bias"]
    torch.save(stored, path)
    with pytest.raises(ModelError, match=r"decoder\.layers\.1\.fc1\.bias is missing; encoder\.layers\.0\.attn_ln\.weight is not supported"):
        from_fairseq(path)


class Foreign:
    """An object whose unpickling runs a command."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> Any:
        return os.system, (self.command,)


def test_other_classes_are_not_unpickled(checkpoint: Path, tmp_path: Path) -> None:
    path = changed(checkpoint, tmp_path)
    torch.save(read_pickle(path) | {"extra_state": Foreign(f"touch {tmp_path / 'ran'}")}, path)
    with pytest.raises(ModelError, match=r"model\.pt: holds \w+\.system; only weights and plain values are loaded"):
        from_fairseq(path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("line", "problem"), [("kalo", "a token and a count"), ("kalo many", "a token and a count"), ("</s> 5", "duplicate")]
)
def test_malformed_lines_of_a_dictionary_are_named(tmp_path: Path, line: str, problem: str) -> None:
    (tmp_path / "dict.en.txt").write_text(f"ka 3\n\u3000 2\n{line}\nlo 1\n")
    with pytest.raises(ModelError, match=rf"dict\.en\.txt, line 3: .*{problem}"):
        read_dictionary(tmp_path / "dict.en.txt")


def test_dictionary_lines_can_overwrite_earlier_ones(tmp_path: Path) -> None:
    (tmp_path / "dict.txt").write_text("ka 3\n<unk> 0 #fairseq:overwrite\n\u2028 1\n")
    assert read_dictionary(tmp_path / "dict.txt") == ["<s>", "<pad>", "</s>", "<unk>", "ka", "<unk>", "\u2028"]


def test_missing_parts_are_named(checkpoint: Path, tmp_path: Path) -> None:
    path = changed(checkpoint, tmp_path)
    (tmp_path / "bpecodes").unlink()
    with pytest.raises(ModelError, match=r"no subwords \(sentencepiece\.bpe\.model, bpecodes"):
        from_fairseq(path)
    (tmp_path / "dict.de.txt").unlink()
    with pytest.raises(ModelError, match=r"no dictionary \(dict\.de\.txt or dict\.txt\)"):
        from_fairseq(path)
    (tmp_path / "checkpoint_last.pt").touch()
    with pytest.raises(ModelError, match=r"several models \(checkpoint_last\.pt, model\.pt\); name one"):
        from_fairseq(tmp_path)
    # The folder is recognised, so that the error about several models is shown.
    assert is_fairseq(path) and is_fairseq(tmp_path)
    for file in tmp_path.glob("*.pt"):
        file.unlink()
    with pytest.raises(ModelError, match=rf"{tmp_path}: no model; a checkpoint of fairseq \(\*\.pt\) is expected in this folder"):
        from_fairseq(tmp_path)
