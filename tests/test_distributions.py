"""The source distribution and the wheel: what is in them, and that the wheel translates where there is no compiler."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler"),
]
ROOT = Path(__file__).parent.parent
BUILD = "import setuptools.build_meta as build, sys; print(getattr(build, sys.argv[1])(sys.argv[2]))"


def build(what: str, sources: Path, to: Path) -> Path:
    """Build `sdist` or `wheel` from a folder of sources; its path."""
    done = subprocess.run([sys.executable, "-c", BUILD, f"build_{what}", str(to)], cwd=sources, capture_output=True, text=True, check=True)
    return to / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked source distribution, with only one of the shipped bundles."""
    pytest.importorskip("setuptools", minversion="77")
    copy, folder = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("sources")
    for name in ("specdec_cli", "converters"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("en-gec", "*.so", "__pycache__"))
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    with tarfile.open(build("sdist", copy, folder)) as archive:
        archive.extractall(folder, filter="data")
    return next(path for path in folder.iterdir() if path.is_dir())


@pytest.fixture(scope="module")
def wheel(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that is built from the source distribution."""
    return build("wheel", sources, tmp_path_factory.mktemp("wheel"))


def test_the_source_distribution_has_all_sources_of_the_engine(sources: Path) -> None:
    folder = Path("specdec_cli") / "native"
    wanted = {path.name for path in (ROOT / folder).iterdir() if path.suffix in (".c", ".h", ".inc", ".py")}
    assert wanted <= {path.name for path in (sources / folder).iterdir()}


def test_one_wheel_serves_all_versions_of_python(wheel: Path) -> None:
    assert "-cp311-abi3-" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        assert "specdec_cli/native/_engine.abi3.so" in archive.namelist()


def test_the_wheel_translates_natively_without_a_compiler(wheel: Path, tmp_path: Path) -> None:
    fresh = tmp_path / "fresh"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(fresh)], check=True)
    python = fresh / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True)
    packages = next(fresh.glob("lib/python*/site-packages"))
    # The dependencies are those of this environment; the package itself comes first from the fresh one.
    (packages / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n", encoding="utf-8")
    environment = {"PATH": str(fresh / "bin"), "HOME": str(tmp_path), "LANG": os.environ.get("LANG", "C.UTF-8")}
    done = subprocess.run(
        [str(fresh / "bin" / "specdec"), "translate", "--stats"],
        input="Tom is at home.\n", capture_output=True, text=True, check=True, env=environment, cwd=tmp_path,
    )  # fmt: skip
    assert done.stdout == "Tom ist zu Hause.\n"
    assert "native engine (" in done.stderr
    found = subprocess.run(
        [str(python), "-c", "import specdec_cli; print(specdec_cli.__file__)"], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert Path(found.stdout.strip()).is_relative_to(fresh)


def test_without_a_compiler_the_wheel_has_no_engine(sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(sources, copy, ignore=shutil.ignore_patterns("*.so", "build", "bundles"))
    monkeypatch.setenv("CC", "/nowhere/cc")
    with zipfile.ZipFile(build("wheel", copy, tmp_path)) as archive:
        names = archive.namelist()
    assert "specdec_cli/native/library.py" in names
    assert not [name for name in names if name.endswith(".so")]
