"""What computes a bundle on a GPU follows from the check of the card's first use, whose answer is kept."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from specdec_cli.decoding.graphs import Graphs
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.opening import gpu
from specdec_cli.opening.gpu import prepare_for_gpu
from tests.decoding.imitation import ImitatedCapture
from tests.fakes import tiny_drafter, tiny_transformer


def made(bundle: Bundle, inner: int = 32) -> Bundle:
    model = tiny_transformer(vocabulary_size=len(bundle.tokenizer), feed_forward=inner)
    return Bundle(BundleInfo(decoding="specdec"), bundle.tokenizer, model, tiny_drafter(model))


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
    monkeypatch.setattr(gpu, "why_not_kernels", lambda _: None)
    with pytest.warns(RuntimeWarning, match="no compiler"):  # the answer is kept
        assert prepare_for_gpu(made(bundle)).network is None


def test_eager_operators_compute_where_rounds_cannot_be_captured(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(ImitatedCapture):
        """Fails when it is to capture."""

        def capture(self, compute: Callable[[], None]) -> Callable[[], None]:  # noqa: ARG002
            raise RuntimeError("capture is not supported")

    def verifier(model: object) -> Verifier:
        found = Verifier(model)  # type: ignore[arg-type]
        found.graphs = Graphs(Broken())
        return found

    monkeypatch.setattr(gpu, "Verifier", verifier)
    monkeypatch.setattr(gpu, "_key", lambda *_: ("eager",))
    with pytest.warns(RuntimeWarning, match="launched one by one.*capture is not supported"):
        assert not prepare_for_gpu(made(bundle)).captured


def test_a_model_that_kernels_do_not_support_has_no_warning(bundle: Bundle, monkeypatch: pytest.MonkeyPatch, recwarn: object) -> None:
    monkeypatch.setattr(gpu, "supported", lambda *_: "a model of another kind")
    monkeypatch.setattr(gpu, "_key", lambda *_: ("unsupported",))
    chosen = prepare_for_gpu(made(bundle))
    assert chosen.network is None
    assert chosen.captured
    assert not list(recwarn)  # type: ignore[call-overload]


def test_the_answer_depends_on_card_versions_and_model(bundle: Bundle) -> None:
    one, other = made(bundle), made(bundle, 48)
    weight = one.verifier.embedding.tokens.weight
    assert gpu._key(one, weight) != gpu._key(other, weight)
    assert gpu._key(one, weight) != gpu._key(one, weight.half())
    assert gpu._key(one, weight) != gpu._key(replace(one, drafter=None), weight)
    assert torch.__version__ in gpu._key(one, weight)
