"""Factors of units before int8 weights are made: the same function, the same bits in float32, and no planted outliers."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from converters.conversion import Conversion
from converters.equalise import MOST, equalise
from specdec_cli.model.bundle import Bundle, load_bundle
from specdec_cli.model.storage import LazyMatrix, Parts, join_parts
from specdec_cli.model.transformer import Transformer
from tests.fakes import RELATIVE, RELATIVE_SHAPE, tiny_transformer
from tools.outliers import plant

VARIANTS: dict[str, dict[str, Any]] = {name: RELATIVE_SHAPE | kind for name, kind in RELATIVE.items()} | {
    "with biases": {"activation": "relu"},
    "gated, with biases": {"gated": True, "activation": "silu", "norm": "post"},
}


def planted(variant: str, factor: float) -> Transformer:
    """A model in which some units of each layer are larger by `factor`."""
    model = tiny_transformer(3, **VARIANTS[variant])
    plant(model, factor, 0.05)
    return model


def taken_apart(model: Transformer) -> Parts:
    """The joined matrices of `model` as a converter leaves them: parts, and tensors without memory in their place."""
    parts: Parts = {}
    for name, value in list(model.named_parameters()):
        count = {"query_key_value.weight": 3, "key_value.weight": 2}.get(".".join(name.split(".")[-2:]), 0)
        if model.config.gated and name.endswith("inner.weight"):
            count = 2
        if count:
            parts[name] = LazyMatrix(list(value.detach().chunk(count)))
            owner, _, kind = name.rpartition(".")
            setattr(model.get_submodule(owner), kind, torch.nn.Parameter(value.detach().to("meta")))
    return parts


def outputs(model: Transformer) -> torch.Tensor:
    draw = torch.Generator().manual_seed(5)
    source, target = (torch.randint(5, 40, (6, 12), generator=draw) for _ in range(2))
    with torch.no_grad():
        logits: torch.Tensor = model(source, target)
    return logits


def ranges(model: Transformer) -> float:
    """The largest quotient of a unit's weights to those of the median unit, of what is read in the layers' second products."""
    largest = 0.0
    for name, value in model.named_parameters():
        if name.endswith(("outer.weight", "output.weight")) and name.startswith(("layers", "encoder.layers")):
            sizes = value.detach().norm(dim=0)
            largest = max(largest, float((sizes / sizes.median()).log2().abs().max()))
    return largest


@pytest.mark.parametrize("factor", [1.0, 10.0, 30.0, 100.0])
@pytest.mark.parametrize("variant", VARIANTS)
def test_outliers_go_and_float32_keeps_its_bits(variant: str, factor: float) -> None:
    model = planted(variant, factor)
    before, spread = outputs(model), ranges(model)
    matrices = {name: value.clone() for name, value in model.state_dict().items()}
    parts = taken_apart(model)
    count = equalise(model, parts)
    join_parts(model, parts)
    assert not parts and torch.equal(outputs(model), before)
    usual = ranges(tiny_transformer(3, **VARIANTS[variant]))
    assert ranges(model) < usual + 1
    if factor == 1:
        return
    assert count > 0 and spread > usual + math.log2(factor) - 2
    changed = {name for name, value in model.state_dict().items() if not torch.equal(value, matrices[name])}
    for part in ("query_key_value.weight", "key_value.weight", "attention.output.weight", "inner.weight", "outer.weight"):
        assert any(name.endswith(part) for name in changed), part
    for name in changed:
        assert name.endswith(("bias", "query_key_value.weight", "key_value.weight", "output.weight", "inner.weight", "outer.weight"))
        exponents = (model.state_dict()[name] / matrices[name]).nan_to_num(1).log2()
        assert torch.equal(exponents, exponents.round()), "a factor is no power of two"
    if model.config.gated:
        half = model.config.feed_forward
        name = "layers.0.feed_forward.inner.weight"
        assert torch.equal(model.state_dict()[name][:half], matrices[name][:half]), "the half with an activation does not commute"


def test_queries_and_keys_are_not_touched() -> None:
    model = planted("shared", 30)
    name = "layers.0.attention.query_key_value.weight"
    before, width = model.state_dict()[name].clone(), model.config.heads_width
    parts = taken_apart(model)
    equalise(model, parts)
    join_parts(model, parts)
    after = model.state_dict()[name]
    assert torch.equal(after[: 2 * width], before[: 2 * width]) and not torch.equal(after[2 * width :], before[2 * width :])


def test_units_without_weights_and_other_activations_are_left() -> None:
    model = tiny_transformer(3, activation="gelu")
    before = {name: value.clone() for name, value in model.state_dict().items() if "feed_forward" in name}
    parts: Parts = {}
    equalise(model, parts)
    assert not any("feed_forward" in name for name in parts)
    join_parts(model, parts)
    assert all(torch.equal(model.state_dict()[name], value) for name, value in before.items())
    model = tiny_transformer(3, activation="relu")
    inner, outer = (model.state_dict()[f"layers.0.feed_forward.{name}.weight"] for name in ("inner", "outer"))
    inner[0], outer[:, 1] = 0, 0
    inner[2] *= 1e-15
    outer[:, 3] *= 1e-15
    parts = {}
    equalise(model, parts)
    rows, columns = parts["layers.0.feed_forward.inner.weight"].rows, parts["layers.0.feed_forward.outer.weight"].columns
    assert rows is not None and columns is not None and torch.equal(rows * columns, torch.ones(len(rows)))
    assert rows[:4].log2().tolist() == [0, 0, MOST, -MOST]


@pytest.mark.parametrize("storage", ["float32", "int8"])
def test_a_conversion_writes_what_it_equalised(bundle: Bundle, tmp_path: Path, storage: Any) -> None:
    made: list[Conversion] = []
    for _ in range(2):
        model = tiny_transformer(3, vocabulary_size=len(bundle.tokenizer), **VARIANTS["gated"])
        plant(model, 30, 0.05)
        made.append(Conversion(Bundle(bundle.info, bundle.tokenizer, model), parts=taken_apart(model)))
    assert made[1].equalise() > 0
    for number, conversion in enumerate(made):
        conversion.save(tmp_path / str(number), storage)
    plain, equal = (load_bundle(tmp_path / str(number)).verifier for number in range(2))
    found, expected = outputs(equal), outputs(made[0].joined().verifier)
    if storage == "float32":
        assert torch.equal(found, expected) and torch.equal(outputs(plain), expected)
    else:
        errors = [float((each - expected).square().mean()) for each in (found, outputs(plain))]
        assert errors[0] < 0.5 * errors[1]
