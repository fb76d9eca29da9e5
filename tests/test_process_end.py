"""The end of the process of a command: what it flushes, runs and waits for."""

import subprocess
import sys
from pathlib import Path

import pytest

BEGINNING = """
import atexit, sys, threading, time
import specdec_cli.app
from specdec_cli.__main__ import main
"""
ENDS = {
    "exit functions": ("def run():\n    atexit.register(print, 'last')\n    sys.exit(3)\n", 3, "last\n", ""),
    "no exit": ("def run():\n    print('done', end='')\n", 0, "done", ""),
    "a message": ("def run():\n    sys.exit('a message')\n", 1, "", "a message\n"),
    "a thread that works on": (
        "def work():\n    time.sleep(0.5)\n    print('later')\ndef run():\n    threading.Thread(target=work).start()\n    sys.exit(4)\n",
        4,
        "later\n",
        "",
    ),
    "a thread that does not matter": (
        "def run():\n    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n    sys.exit(5)\n",
        5,
        "",
        "",
    ),
    "a generator at work": (
        "def lines():\n    try:\n        yield 1\n        yield 2\n    finally:\n        print('closed')\n"
        "def run():\n    for line in lines():\n        sys.exit(130)\n",
        130,
        "closed\n",
        "",
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_the_end_of_a_process(name: str) -> None:
    program, code, output, errors = ENDS[name]
    ending = "specdec_cli.app.main = run\nmain()\n"
    run = subprocess.run([sys.executable, "-c", BEGINNING + program + ending], capture_output=True, text=True, check=False, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (code, output, errors)


def test_output_that_cannot_be_flushed_is_an_error() -> None:
    program = BEGINNING + "def run():\n    print('text')\nspecdec_cli.app.main = run\nmain()\n"
    full_device = Path("/dev/full")
    if not full_device.exists():
        pytest.skip("this system has no /dev/full")
    with full_device.open("w") as full:
        run = subprocess.run([sys.executable, "-c", program], stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert run.returncode != 0
    assert "No space left" in run.stderr
