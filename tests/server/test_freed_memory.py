"""Freed memory is kept for the next batch."""

import platform
import subprocess
import sys

import pytest

SCRIPT = """
import ctypes, resource, sys, threading
from specdec_cli.server.worker import keep_freed_memory

c = ctypes.CDLL(None)
c.malloc.restype, c.malloc.argtypes, c.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]

def batch():
    blocks = [c.malloc(2**20) for _ in range(8)]
    for block in blocks:
        ctypes.memset(block, 1, 2**20)
    for block in blocks:
        c.free(block)

def run():
    batch()
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    for _ in range(10):
        batch()
    print(resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before)

if sys.argv[1] == "kept":
    keep_freed_memory()
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has these settings")
def test_batches_cause_few_page_faults() -> None:
    faults = {
        way: int(subprocess.run([sys.executable, "-c", SCRIPT, way], capture_output=True, text=True, check=True).stdout)
        for way in ("kept", "returned")
    }
    assert faults["kept"] < 100 < faults["returned"]
