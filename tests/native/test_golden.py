"""Every instruction set computes the logits of the stored digests, to the bit: those of x86, and of ARM under QEMU."""

import array
import os
import random
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.native.model import shape_of
from specdec_cli.native.tensors import drafter_tensors, verifier_tensors
from tests.native.conftest import FLAGS, ISAS, SOURCES

DIGESTS = Path(__file__).parent.parent / "golden" / "native_digests.txt"
ARM = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
NOT_THERE = 5
SMALL = TransformerConfig(230, width=64, feed_forward=112, heads=4, encoder_layers=2, decoder_layers=2, max_positions=64)
DRAFTER = DrafterConfig(layers=2, feed_forward=80, max_block=5, chain=32, candidates=5, shortlist=170, recurrent=True)
MODELS = {
    "pre-norm, relu": SMALL,
    "post-norm, gelu": replace(SMALL, norm="post", activation="gelu", positions="learned"),
    "odd heads, silu": replace(SMALL, width=48, heads=6, activation="silu", output_bias=True),
}


def write_model(config: TransformerConfig, path: Path) -> None:
    """Write a model and a drafter with random weights, and some sources, as golden.c reads them."""
    generator = random.Random(3)
    tensors = [*verifier_tensors(config), *drafter_tensors(DRAFTER, config)]
    with path.open("wb") as stream:
        stream.write(bytes(shape_of(config, DRAFTER)))
        stream.write(array.array("q", [len(tensors)]))
        for name, shape in tensors:
            rows, columns = (*shape, 1)[:2]
            middle = 1.0 if "norm" in name and name.endswith("weight") else 0.0
            scale = 0.5 if columns == 1 else 3.0 / columns**0.5
            stream.write(array.array("q", [rows, columns]))
            stream.write(array.array("f", [middle + scale * (generator.random() - 0.5) for _ in range(rows * columns)]))
        sources = [[*(generator.randrange(8, config.vocabulary_size) for _ in range(length)), config.eos] for length in (1, 7, 16, 23, 5)]
        starts = [sum(map(len, sources[:number])) for number in range(len(sources) + 1)]
        stream.write(array.array("q", [len(sources), *starts]))
        stream.write(array.array("i", [token for source in sources for token in source]))


def build(compiler: str, folder: Path, *flags: str) -> Path:
    """Compile golden.c with the engine."""
    sources = [*map(str, sorted(SOURCES.glob("*.c"))), str(Path(__file__).parent / "golden.c")]
    own = [flag for flag in FLAGS if flag not in ("-shared", "-fPIC")]
    subprocess.run([compiler, *own, *flags, "-I", str(SOURCES), *sources, "-o", str(folder / "golden"), "-lm"], check=True)
    return folder / "golden"


def digests(command: list[str], folder: Path, isa: str) -> str:
    """The digests of all models; skips an instruction set that the processor lacks."""
    found = []
    for number, (name, config) in enumerate(MODELS.items()):
        path = folder / f"{number}.model"
        write_model(config, path)
        done = subprocess.run([*command, str(path), isa], capture_output=True, text=True, check=False)
        if done.returncode == NOT_THERE:
            pytest.skip(f"this processor has no {isa}")
        assert done.returncode == 0, (isa, done.returncode, done.stderr)
        found.append(f"{name}: {' '.join(done.stdout.split())}\n")
    return "".join(found)


@pytest.fixture(scope="module")
def native_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """golden.c for this machine."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    return build("cc", tmp_path_factory.mktemp("golden"))


@pytest.fixture(scope="module")
def arm_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """golden.c for 64-bit ARM."""
    missing = [tool for tool in ARM if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"{' and '.join(missing)} not installed")
    return build(ARM[0], tmp_path_factory.mktemp("arm"), "-static")


@pytest.mark.parametrize("isa", ISAS)
def test_every_instruction_set_gives_the_stored_logits(native_program: Path, isa: str, tmp_path: Path) -> None:
    found = digests([str(native_program)], tmp_path, isa)
    if "UPDATE_GOLDEN" in os.environ and isa == "scalar":
        DIGESTS.write_text(found, encoding="utf-8")
    assert found == DIGESTS.read_text(encoding="utf-8")


@pytest.mark.parametrize("isa", ["scalar", "neon"])
def test_arm_gives_the_stored_logits(arm_program: Path, isa: str, tmp_path: Path) -> None:
    assert digests([ARM[1], "-cpu", "max", str(arm_program)], tmp_path, isa) == DIGESTS.read_text(encoding="utf-8")
