"""Whether kernels can compute a model is known without Triton, and importing the product does not import Triton."""

import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import pytest
import torch

from specdec_cli.kernels.support import supported
from specdec_cli.model.config import TransformerConfig
from tests.fakes import RELATIVE, RELATIVE_SHAPE

GPU, CPU = torch.device("cuda"), torch.device("cpu")
CASES: list[tuple[dict[str, Any], str]] = [
    ({"width": 512, "heads": 2}, "heads are 256 wide, and kernels have at most 128"),
    ({"vocabulary_size": 2**18 + 1}, "the vocabulary has 262145 tokens, and kernels have at most 262144"),
]


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Triton seem to be installed, and its interpreter off."""
    monkeypatch.setattr("specdec_cli.kernels.support.find_spec", lambda name: name)
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)


@pytest.mark.parametrize(("changes", "problem"), CASES)
def test_a_model_outside_the_limits_is_refused(changes: dict[str, Any], problem: str) -> None:
    assert supported(TransformerConfig(**{"vocabulary_size": 2**18} | changes), GPU) == problem


@pytest.mark.parametrize("heads", [4, 8, 16])
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_models_within_the_limits_are_accepted(heads: int, norm: Any, dtype: torch.dtype) -> None:
    assert supported(TransformerConfig(2**18, heads=heads, norm=norm), GPU, dtype) is None


@pytest.mark.parametrize("kind", RELATIVE)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_models_of_the_t5_family_are_accepted(kind: str, dtype: torch.dtype) -> None:
    assert supported(TransformerConfig(2**18, **RELATIVE_SHAPE | RELATIVE[kind]), GPU, dtype) is None


def test_the_device_and_the_type_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    config = TransformerConfig(100)
    assert supported(config, CPU) == "kernels run on a GPU, not on cpu"
    assert supported(config, GPU, torch.float64) == "kernels do not compute in torch.float64"
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert supported(config, CPU) is None
    assert supported(config, CPU, torch.bfloat16) == "Triton's interpreter does not multiply numbers in bfloat16"
    monkeypatch.setattr("specdec_cli.kernels.support.find_spec", find_spec if find_spec("triton") is None else lambda _: None)
    assert supported(config, GPU) == "triton is not installed"


def test_the_verifier_does_not_import_triton() -> None:
    program = (
        "import sys; from specdec_cli.decoding.verifier import Verifier; from specdec_cli.kernels.support import supported; "
        "assert 'triton' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
