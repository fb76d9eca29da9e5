"""Builds the native engine: plain C that is called by ctypes, so that the wheel fits every version of Python 3."""

import os
import sys
import sysconfig
from pathlib import Path
from zlib import crc32

from setuptools import Extension, setup

if os.name == "nt":
    sys.exit("specdec runs on Linux and macOS. On Windows, install it in the Windows Subsystem for Linux.")

# Python without the global lock has no limited API.
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
FOLDER = Path("specdec_cli/native")
# With this number the package notices a library of other sources.
CHECKSUM = f"-DSPECDEC_HEADER={crc32((FOLDER / 'specdec.h').read_bytes())}u"
# Nothing is fused that the sources do not fuse: every compiler and every instruction set gives the same bits.
FLAGS = [CHECKSUM, "-std=gnu11", "-O3", "-ffp-contract=off", "-fvisibility=hidden", "-pthread", "-g0", "-Wall", "-Wextra"]

setup(
    ext_modules=[
        Extension(
            "specdec_cli.native._engine",
            sources=sorted(map(str, FOLDER.glob("*.c"))),
            depends=sorted(map(str, (*FOLDER.glob("*.h"), *FOLDER.glob("*.inc")))),
            extra_compile_args=FLAGS,
            extra_link_args=["-pthread"],
            libraries=["m"],
            py_limited_api=not FREE_THREADED,
            optional=True,  # without a compiler the package installs all the same, and says what it lacks
        )
    ],
    options={} if FREE_THREADED else {"bdist_wheel": {"py_limited_api": "cp311"}},
)
