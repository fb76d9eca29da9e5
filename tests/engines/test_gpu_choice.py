"""What computes a bundle on a GPU follows from the check of the card's first use, whose answer is kept."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from specdec_cli.decoding.graphs import Graphs
from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.opening import gpu, machine
from specdec_cli.opening.engines import Computation, open_engine
from specdec_cli.opening.gpu import Means, prepare_for_gpu
from specdec_cli.opening.machine import Machine, MachineOptions, move_to
from specdec_cli.opening.models import ModelChoice
from tests.decoding.imitation import ImitatedCapture
from tests.fakes import RELATIVE_SHAPE, tiny_drafter, tiny_transformer


def made(bundle: Bundle, inner: int = 32) -> Bundle:
    model = tiny_transformer(vocabulary_size=len(bundle.tokenizer), feed_forward=inner)
    return Bundle(BundleInfo(decoding="specdec"), bundle.tokenizer, model, tiny_drafter(model))


def statistics(bundle: Bundle) -> str:
    """What `--stats` tells of CUDA graphs."""
    return Engine(bundle, resolve(DecodingOptions(decoding="greedy"), bundle)).captured


def fails(bundle: Bundle) -> str | None:  # noqa: ARG001
    raise RuntimeError("no compiler")


@pytest.mark.parametrize("check", [fails, lambda _: "no compiler"])
def test_operators_compute_where_kernels_do_not(bundle: Bundle, monkeypatch: pytest.MonkeyPatch, check: object) -> None:
    monkeypatch.setattr(gpu, "supported", lambda *_: None)
    monkeypatch.setattr(gpu, "why_not_kernels", check)
    monkeypatch.setattr(gpu, "_key", lambda *_: (repr(check),))
    with pytest.warns(RuntimeWarning, match="no compiler"):
        chosen = prepare_for_gpu(made(bundle))
    assert chosen.network is None
    assert chosen.captured
    assert "launched one by one; not by kernels: " in statistics(chosen)
    assert "no compiler" in statistics(chosen)
    monkeypatch.setattr(gpu, "why_not_kernels", lambda _: None)
    with pytest.warns(RuntimeWarning, match="no compiler"):  # the answer is kept
        assert prepare_for_gpu(made(bundle)).network is None


def test_eager_operators_compute_where_rounds_cannot_be_captured(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(ImitatedCapture):
        """Fails when it is to capture."""

        def capture(self, compute: Callable[[], None]) -> Callable[[], None]:  # noqa: ARG002
            raise RuntimeError("capture is not supported")

    def verifier(*arguments: Any) -> Verifier:
        found = Verifier(*arguments)
        found.graphs = Graphs(Broken())
        return found

    monkeypatch.setattr(gpu, "Verifier", verifier)
    monkeypatch.setattr(gpu, "_key", lambda *_: ("eager",))
    with pytest.warns(RuntimeWarning, match="launched one by one.*capture is not supported"):
        chosen = prepare_for_gpu(made(bundle))
    assert not chosen.captured
    shown = statistics(chosen)
    assert "launched one by one; not by kernels: " in shown
    assert "rounds cannot be captured: RuntimeError: capture is not supported" in shown


def test_a_model_that_kernels_do_not_support_has_no_warning(bundle: Bundle, monkeypatch: pytest.MonkeyPatch, recwarn: object) -> None:
    monkeypatch.setattr(gpu, "supported", lambda *_: "a model of another kind")
    monkeypatch.setattr(gpu, "_key", lambda *_: ("unsupported",))
    chosen = prepare_for_gpu(made(bundle))
    assert chosen.network is None
    assert chosen.captured
    assert not list(recwarn)  # type: ignore[call-overload]
    assert statistics(chosen) == "none; operators were launched one by one; not by kernels: a model of another kind"
    assert statistics(made(bundle)) == ""


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Callable[[Means, str], None]:
    """Let the processor seem to be a GPU, on which the check of float16 finds what the function is called with."""

    def seem(means: Means, problem: str) -> None:
        def found(bundle: Bundle) -> tuple[Means, str]:
            assert bundle.verifier.embedding.tokens.weight.dtype is torch.float16
            assert bundle.drafter is None or next(bundle.drafter.parameters()).dtype is torch.float16
            return means, problem

        monkeypatch.setattr(gpu, "_means", found)
        monkeypatch.setattr(machine, "resolve_machine", lambda *_: Machine("cpu", "auto", 1))
        monkeypatch.setattr(machine, "has_bfloat16_products", lambda _: False)

    return seem


@pytest.mark.parametrize("means", ["kernels", "operators", "eager"])
def test_the_fastest_precision_is_that_in_which_kernels_are_exact(
    bundle: Bundle, card: Callable[[Means, str], None], recwarn: pytest.WarningsRecorder, means: Means
) -> None:
    card(means, "" if means == "kernels" else "bits differ")
    before = made(bundle).verifier.state_dict()
    moved = move_to(Machine("cpu", "auto", 1), made(bundle))
    assert moved.drafter is not None
    wanted = torch.float16 if means == "kernels" else torch.float32
    assert {each.dtype for module in (moved.verifier, moved.drafter) for each in module.parameters()} == {wanted}
    assert all(torch.equal(value, before[name].to(wanted)) for name, value in moved.verifier.state_dict().items())
    messages = [str(each.message) for each in recwarn if each.category is RuntimeWarning]
    assert messages == ([] if means == "kernels" else ["on this GPU the precision is float32 instead of float16: bits differ"])


@pytest.mark.parametrize(("means", "wanted"), [("kernels", "float16"), ("operators", "float32")])
def test_an_engine_names_the_chosen_precision(bundle_folder: Path, card: Callable[[Means, str], None], means: Means, wanted: str) -> None:
    card(means, "")
    model, options, request = ModelChoice(str(bundle_folder)), MachineOptions(engine="reference"), DecodingOptions(decoding="greedy")
    opened = open_engine(model, options, request)
    assert opened.machine.precision == wanted
    assert [each.number for each in opened.engine.decode([Sentence(0, [4, 5, 3])])] == [0]
    assert Computation.resolve(model, options, request).precision == wanted


def test_models_with_rms_norms_compute_in_bfloat16(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def found(moved: Bundle) -> tuple[Means, str]:
        seen.append(moved.verifier.embedding.tokens.weight.dtype)
        return "kernels", ""

    monkeypatch.setattr(gpu, "_means", found)
    model = tiny_transformer(vocabulary_size=len(bundle.tokenizer), **RELATIVE_SHAPE)
    assert gpu.fastest_exact(Bundle(bundle.info, bundle.tokenizer, model), "cpu") == "bfloat16"
    assert seen == [torch.bfloat16]


def test_the_answer_depends_on_card_versions_and_model(bundle: Bundle) -> None:
    one, other = made(bundle), made(bundle, 48)
    weight = one.verifier.embedding.tokens.weight
    assert gpu._key(one, weight) != gpu._key(other, weight)
    assert gpu._key(one, weight) != gpu._key(one, weight.half())
    assert gpu._key(one, weight) != gpu._key(replace(one, drafter=None), weight)
    assert torch.__version__ in gpu._key(one, weight)
