"""The native library, built where it is missing or old, and its kernels one by one."""

import copy
import ctypes
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from specdec_cli.native.library import load_library
from tests.conftest import shared
from tests.fakes import RELATIVE, RELATIVE_SHAPE, redraw
from tests.native.expected import Expectations, expectations_of

if TYPE_CHECKING:
    from specdec_cli.model.bundle import Bundle

ROOT = Path(__file__).parent.parent.parent
SOURCES = ROOT / "specdec_cli" / "native"
ISAS = ("scalar", "neon") if platform.machine() in ("aarch64", "arm64") else ("scalar", "avx2", "avx-vnni", "avx512-vnni")
FLAGS = ("-std=gnu11", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread", "-DWORTHWHILE=1", "-DTURN=0")
"""With those of setup.py; threads share even the work of tiny models."""


VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "post-norm": {"norm": "post", "activation": "gelu", "positions": "learned", "position_offset": 2, "embedding_norm": True},
    "odd": {"width": 48, "heads": 6, "feed_forward": 80, "activation": "silu", "output_bias": True, "tied_output": False},
    "apart": {"shared_embeddings": False, "tied_output": False, "embedding_scale": False, "encoder_layers": 0, "decoder_layers": 1},
}


@pytest.fixture(scope="session", autouse=True)
def native() -> None:
    """The library of the present sources."""
    built = sorted(SOURCES.glob("_engine*.so"))
    newest = max(path.stat().st_mtime for path in SOURCES.iterdir() if path.suffix in (".c", ".h", ".inc"))
    if built and built[0].stat().st_mtime >= newest:
        return
    pytest.importorskip("setuptools", reason="setuptools is not installed")
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    subprocess.run([sys.executable, "setup.py", "-q", "build_ext", "--inplace", "--force"], cwd=ROOT, check=True)


@pytest.fixture(scope="session")
def probe_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The engine as a library that also has the functions of probe.c."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")

    def build(folder: Path) -> None:
        sources = [*map(str, sorted(SOURCES.glob("*.c"))), str(Path(__file__).parent / "probe.c")]
        subprocess.run(["cc", *FLAGS, "-I", str(SOURCES), *sources, "-o", str(folder / "probe.so"), "-lm"], check=True)

    return shared(tmp_path_factory, "probe", build) / "probe.so"


@pytest.fixture(scope="session")
def probe(probe_path: Path) -> Any:
    """The library with the functions of probe.c."""
    library = ctypes.CDLL(str(probe_path))
    for name in ("dot", "log_probability"):
        getattr(library, f"probe_{name}").restype = ctypes.c_float
    library.specdec_adaptive_create.argtypes = [ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int32] * 4, ctypes.c_void_p]
    library.probe_adaptive_size.restype = ctypes.c_int64
    for name in ("product", "sum", "taken_again"):
        getattr(library, f"probe_{name}").argtypes = [ctypes.c_int64, ctypes.c_int64]
    for name in ("product", "sum"):
        getattr(library, f"probe_{name}").restype = ctypes.c_int64
    return library


@pytest.fixture(scope="module")
def sharing(probe_path: Path) -> Iterator[None]:
    """Decode with an engine whose threads share even the work of tiny models."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPECDEC_NATIVE", str(probe_path))
        load_library.cache_clear()
        yield
    load_library.cache_clear()


@pytest.fixture
def expected(request: pytest.FixtureRequest) -> Iterator[Expectations]:
    """The outputs of the reference engine for this test case."""
    stored = expectations_of(request.node)
    yield stored
    stored.write()


@pytest.fixture(params=ISAS)
def isa(request: pytest.FixtureRequest, probe: Any) -> bytes:
    """Each instruction set that this processor has."""
    name = str(request.param).encode()
    if not probe.probe_has(name):
        pytest.skip(f"this processor has no {request.param}")
    return name


@pytest.fixture(scope="module", params=VARIANTS)
def pair(
    request: pytest.FixtureRequest, make_bundle: Callable[..., "Bundle"], tmp_path_factory: pytest.TempPathFactory
) -> tuple["Bundle", Path]:
    """A bundle in int8, and the file of its weights."""
    return make_pair(make_bundle(**VARIANTS[request.param]), tmp_path_factory.mktemp("native"), half=request.param == "odd")


@pytest.fixture(scope="module", params=RELATIVE)
def relative_pair(
    request: pytest.FixtureRequest, make_bundle: Callable[..., "Bundle"], tmp_path_factory: pytest.TempPathFactory
) -> tuple["Bundle", Path]:
    """As `pair`, with relative positions."""
    return make_pair(make_bundle(**RELATIVE_SHAPE | RELATIVE[request.param]), tmp_path_factory.mktemp("native"))


def make_pair(bundle: "Bundle", folder: Path, *, half: bool = False) -> tuple["Bundle", Path]:
    """A bundle like `bundle` in int8, with weights that are drawn anew, and the file of these; with `half` in float16."""
    import torch

    from specdec_cli.model.bundle import save_bundle
    from specdec_cli.model.int8 import quantize

    made = copy.deepcopy(bundle)
    redraw(made.verifier)
    with torch.no_grad():
        for name, parameter in made.verifier.named_parameters():
            if name.endswith(("cross_attention.output.weight", "outer.weight")):
                parameter.mul_(3.0)
    save_bundle(made, folder, storage="float16" if half else "float32")
    for parameter in made.verifier.parameters():
        parameter.data = parameter.data.half().float() if half else parameter.data
    quantize(made.verifier)
    return made, folder / "verifier" / "model.safetensors"
