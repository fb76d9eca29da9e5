"""A light install, without PyTorch and other large libraries: what it can do, and what it says of the rest."""

import subprocess
import sys

import pytest

LIGHT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
import specdec_cli.failures
specdec_cli.failures._is_installed = lambda name: name not in {names}
from specdec_cli.__main__ import main
main()
"""
MISSING = {
    *("torch", "numpy", "sacremoses", "sacrebleu", "ctranslate2", "safetensors", "tokenizers", "huggingface_hub", "yaml", "lemminflect"),
    "pyyaml",
}


def run(*arguments: str, text: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LIGHT.format(names=MISSING), *arguments]
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
