"""Bundles of the same function with outliers, and what int8 costs them."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.bundle import Bundle, load_bundle, save_bundle
from specdec_cli.model.int8.layers import Int8Linear
from tests.fakes import RELATIVE, RELATIVE_SHAPE, tiny_transformer
from tools.outliers import SimulatedInt8, compare, main, plant, simulated

VARIANTS: dict[str, dict[str, Any]] = {name: RELATIVE_SHAPE | kind for name, kind in RELATIVE.items()} | {
    "with biases": {"activation": "relu"},
    "gated, with biases": {"gated": True, "activation": "silu", "norm": "post"},
}


@pytest.mark.parametrize("factor", [0.1, 10.0, 30.0, 100.0])
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_function_stays_the_same(variant: str, factor: float) -> None:
    model = tiny_transformer(3, **VARIANTS[variant]).double()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    draw = torch.Generator().manual_seed(5)
    source, target = (torch.randint(5, 40, (6, 12), generator=draw) for _ in range(2))
    with torch.no_grad():
        expected = model(source, target)
        # 3 inner layers, 3 self-attentions and 2 cross-attentions.
        count = plant(model, factor, 0.05)
        inner, width = model.config.feed_forward, model.config.heads_width
        assert count == 3 * round(0.05 * inner) + 5 * round(0.05 * width)
        torch.testing.assert_close(model(source, target), expected, rtol=1e-10, atol=1e-10)
    changed = {name for name, value in model.state_dict().items() if not torch.equal(value, before[name])}
    for part in ("query_key_value.weight", "key_value.weight", "attention.output.weight", "inner.weight", "outer.weight"):
        assert any(name.endswith(part) for name in changed), part
    assert not any("norm" in name or "embedding" in name for name in changed)
    name = "layers.0.feed_forward.inner.weight"
    rows = (model.state_dict()[name] / before[name]).mean(1)
    assert sorted(rows.unique().tolist()) == pytest.approx(sorted([1.0, factor]))
    assert not model.config.gated or bool((rows[:inner] == 1).all()), "only the half without an activation commutes with a factor"


def test_int8_is_simulated_within_its_rounding() -> None:
    torch.manual_seed(0)
    linear, x = nn.Linear(64, 48), torch.randn(20, 64) * torch.linspace(0.1, 3, 20)[:, None]
    with torch.no_grad():
        exact, ours, simulation = linear(x), Int8Linear(linear)(x), SimulatedInt8(linear, 0)(x)
        error = (ours - exact).abs().mean()
        assert (simulation - ours).abs().max() < 0.01 * error
        x[:, 7] *= 100
        linear.weight[:, 7] /= 100
        errors = [float((SimulatedInt8(linear, block)(x) - linear(x)).abs().mean()) for block in (0, 32, 8)]
    assert errors[0] > 1.2 * errors[1] > 1.4 * errors[2]


@pytest.fixture
def corrector(make_bundle: Callable[..., Bundle]) -> Bundle:
    """A bundle of T5's form whose outputs depend on the source."""
    bundle = make_bundle()
    kind = RELATIVE_SHAPE | RELATIVE["gated"] | {"feed_forward": 128}
    return replace(bundle, verifier=tiny_transformer(4, vocabulary_size=len(bundle.tokenizer), **kind))


def test_outliers_cost_int8_more_and_ranges_for_blocks_less(
    corrector: Bundle, lines: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_bundle(corrector, tmp_path / "plain")
    main(["plant", str(tmp_path / "plain"), str(tmp_path / "planted"), "--factor", "100", "--share", "0.02"])
    assert "14 units times 100" in capsys.readouterr().out
    assert not torch.equal(
        *(load_bundle(tmp_path / each).verifier.state_dict()["layers.0.feed_forward.inner.weight"] for each in ("plain", "planted"))
    )
    plain, planted = (list(compare(tmp_path / each, lines, ["0", "16"], 16)) for each in ("plain", "planted"))
    assert [each.name for each in plain] == ["int8", "blocks 0", "blocks 16"] and {each.lines for each in plain} == {len(lines)}
    assert all(0 < each.mean < each.largest for each in (*plain, *planted))
    for found in (plain, planted):
        assert found[0].mean == pytest.approx(found[1].mean, rel=0.3), "the simulation is not int8"
    assert planted[0].mean > 2 * plain[0].mean and planted[0].equal <= plain[0].equal
    assert planted[2].mean < 0.7 * planted[1].mean
    main(["plant", str(tmp_path / "plain"), str(tmp_path / "equal"), "--factor", "100", "--share", "0.02", "--equalise"])
    assert "14 units times 100" in capsys.readouterr().out
    (equal,) = compare(tmp_path / "equal", lines, (), 16)
    assert equal.mean < 1.2 * plain[0].mean and equal.equal >= planted[0].equal
    (tmp_path / "lines.txt").write_text("".join(f"{line}\n\n" for line in lines))
    main(["compare", str(tmp_path / "planted"), str(tmp_path / "lines.txt"), "--count", "3", "--blocks", "16:outer"])
    said = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"int8: \d of 3 outputs equal to float32's; logits differ by 0\.\d+ \(root mean square\), at most \d\.\d+", said[0])
    assert said[1].startswith("blocks 16:outer: ") and len(said) == 2


def test_ranges_for_blocks_can_be_of_some_products_alone(corrector: Bundle) -> None:
    rounded = simulated(corrector.verifier, "16:outer")
    blocks = {name.rpartition(".")[2]: each.block for name, each in rounded.named_modules() if isinstance(each, SimulatedInt8)}
    assert blocks["outer"] == 16 and blocks["inner"] == blocks["key_value"] == 32


def test_what_cannot_be_done_is_refused(corrector: Bundle, tmp_path: Path) -> None:
    for values in ((0.0, 0.1), (-1.0, 0.1), (10.0, 0.0), (10.0, 1.5)):
        with pytest.raises(UsageError, match="greater than 0"):
            plant(corrector.verifier, *values)
    with pytest.raises(ModelError, match="behind gelu cannot be multiplied"):
        plant(tiny_transformer(activation="gelu"), 10, 0.1)
    assert plant(tiny_transformer(activation="gelu"), 10, 0.1, ["values"]) > 0
    for blocks, words in (("x", "a number is expected"), ("16:outest", "no product of that name")):
        with pytest.raises(UsageError, match=words):
            simulated(corrector.verifier, blocks)
    with pytest.raises(SystemExit, match="no-such"):
        main(["plant", "no-such", str(tmp_path / "planted")])
    assert not (tmp_path / "planted").exists()
