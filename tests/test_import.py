"""Importing specdec changes nothing in the process; the command sets MKL's order of sums, and a Verifier warns if nobody has."""

import os
import subprocess
import sys
import warnings

import pytest

from specdec_cli.decoding.verifier import Verifier
from specdec_cli.processors import MKL_MODE, MKL_VARIABLE
from tests.fakes import tiny_transformer

IMPORT = """
import importlib, os, pkgutil, signal, warnings
def process():
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)]
    return dict(os.environ), handlers, list(warnings.filters), os.getcwd(), os.sched_getaffinity(0)
import numpy, torch, typer, rich, sentencepiece, ctranslate2, sacremoses
before = process()
import specdec_cli
for module in pkgutil.walk_packages(specdec_cli.__path__, "specdec_cli."):
    if module.name != "specdec_cli.__main__" and ".bundles." not in module.name and module.name.count(".") < 2:
        importlib.import_module(module.name)
import specdec_cli.decoding.verifier, specdec_cli.engines.reference, specdec_cli.native.library
assert process() == before, (process(), before)
"""
COMMAND = """
import os, sys
import specdec_cli.app, specdec_cli.__main__
specdec_cli.app.main = lambda: print(os.environ["MKL_CBWR"])
specdec_cli.__main__.main()
"""


def run(program: str, **environment: str) -> str:
    inherited = {name: value for name, value in os.environ.items() if name != MKL_VARIABLE}
    return subprocess.run(
        [sys.executable, "-c", program], env=inherited | environment, capture_output=True, text=True, check=True, timeout=120
    ).stdout


def test_an_import_changes_nothing() -> None:
    assert run(IMPORT) == ""


def test_the_command_sets_the_order_of_sums_unless_the_user_has() -> None:
    assert run(COMMAND) == f"{MKL_MODE}\n"
    assert run(COMMAND, MKL_CBWR="COMPATIBLE") == "COMPATIBLE\n"


def test_a_verifier_warns_if_the_order_of_sums_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.backends.mkl.is_available", lambda: True)
    Verifier(tiny_transformer(1))
    monkeypatch.delenv(MKL_VARIABLE)
    with pytest.warns(RuntimeWarning, match=f"^{MKL_VARIABLE} is not set: .* set it to {MKL_MODE} before torch is used$"):
        Verifier(tiny_transformer(1))
    monkeypatch.setattr("torch.backends.mkl.is_available", lambda: False)
    with warnings.catch_warnings(record=True) as recorded:
        Verifier(tiny_transformer(1))
    assert recorded == []
