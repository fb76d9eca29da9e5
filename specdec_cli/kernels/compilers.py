"""Compilation of the kernels with a C compiler of the machine; failures are stored, so that a compiler is not tried
again.
"""

import contextlib
import json
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from specdec_cli.files import write_json

NAMES = ("cc", "gcc", "clang")
"""Compilers that are tried, in this order, after the one in the environment variable CC."""
TIMEOUT = 300.0
"""Seconds after which a running compiler is stopped and counts as failed."""


class CompilationError(Exception):
    """An error: no compiler could compile the kernels; the message gives the reasons in one line."""


def compile_library(sources: Sequence[str], flags: Sequence[str], failures: Path) -> bytes:
    """Compile C `sources` to a shared library with the first compiler that succeeds, and return the library's
    content.

    The errors of a compiler that fails are stored in the JSON file `failures` with the identity of the compiler,
    which is not tried again. Raises CompilationError, naming each compiler and the first error it reported, if none
    succeeds.
    """
    known = _read(failures)
    for command in _compilers():
        identity = _identity(command)
        if identity in known:
            continue
        try:
            return _compile(command, sources, flags)
        except CompilationError as error:
            known[identity] = str(error)
            with contextlib.suppress(OSError):
                write_json(failures, known)
    tried = [(shlex.join(command), known[_identity(command)]) for command in _compilers()]
    if not tried:
        raise CompilationError("no C compiler was found")
    raise CompilationError("; ".join(f"{name}: {_first_error(said)}" for name, said in tried))


def _compilers() -> Iterator[list[str]]:
    """The command of each compiler that is there, its program as an absolute path; none twice."""
    seen = set()
    for name in (os.environ.get("CC", ""), *NAMES):
        words = shlex.split(name)
        program = shutil.which(words[0]) if words else None
        if program is None:
            continue
        command = [program, *words[1:]]
        if _identity(command) not in seen:
            seen.add(_identity(command))
            yield command


def _identity(command: Sequence[str]) -> str:
    """A compiler's real path, size, time of change and arguments: another version is another compiler."""
    program = Path(command[0]).resolve()
    seen = program.stat()
    return shlex.join([str(program), str(seen.st_size), str(seen.st_mtime_ns), *command[1:]])


def _compile(command: Sequence[str], sources: Sequence[str], flags: Sequence[str]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        linked = Path(folder) / "kernels.so"
        try:
            done = subprocess.run(
                [*command, *flags, *sources, "-o", str(linked), "-lm"], capture_output=True, text=True, errors="replace", timeout=TIMEOUT
            )
        except subprocess.TimeoutExpired:
            raise CompilationError(f"took longer than {TIMEOUT:g} s") from None
        except OSError as error:
            raise CompilationError(f"cannot be run ({error})") from error
        if done.returncode != 0 or not linked.exists():
            raise CompilationError(done.stderr.strip() or f"ended with status {done.returncode} and wrote no library")
        return linked.read_bytes()


def _first_error(said: str) -> str:
    lines = said.splitlines()
    return next((line for line in lines if "error" in line), lines[0]).strip()


def _read(failures: Path) -> dict[str, str]:
    try:
        known = json.loads(failures.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: said for name, said in known.items() if isinstance(said, str)} if isinstance(known, dict) else {}
