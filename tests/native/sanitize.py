"""Runs exercise.py with the native engine built for AddressSanitizer with UndefinedBehaviorSanitizer, then for ThreadSanitizer.

All files but the kernels are instrumented; those take minutes to compile so, and touch no memory that is not handed to them. Plain C
is optimised: it would take many times longer otherwise.

Usage: python -m tests.native.sanitize [--short] [INSTRUCTION_SET ..]
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCES = Path(__file__).parent.parent.parent / "specdec_cli" / "native"
FLAGS = ("-std=gnu11", "-O1", "-g", "-ffp-contract=off", "-fPIC", "-fvisibility=hidden", "-pthread", "-DWORTHWHILE=1", "-DTURN=0")
SANITIZERS = {"address,undefined": "libasan.so", "thread": "libtsan.so"}
OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1",  # Python itself leaks at its end
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:report_signal_unsafe=0",
}


def compile_object(source: Path, folder: Path, *flags: str) -> str:
    """Compile a file; the path of the object."""
    to = folder / f"{source.stem}.o"
    subprocess.run(["gcc", *FLAGS, *flags, "-c", str(source), "-o", str(to)], check=True)
    return str(to)


def runtime_of(sanitizer: str) -> str | None:
    """The path of gcc's library for a sanitizer, None without gcc or the library."""
    if shutil.which("gcc") is None:
        return None
    named = ["gcc", f"-print-file-name={SANITIZERS[sanitizer]}"]
    path = subprocess.run(named, capture_output=True, text=True, check=True).stdout.strip()
    return path if Path(path).is_absolute() else None  # the bare name: there is no such library


def check(sanitizer: str, folder: Path, kernels: list[str]) -> bool:
    """Whether a sanitizer finds nothing; False too if gcc does not have it."""
    runtime = runtime_of(sanitizer)
    print(f"sanitizer: {sanitizer}{'' if runtime else ': gcc does not have it'}", file=sys.stderr)
    if runtime is None:
        return False
    flag = f"-fsanitize={sanitizer}"
    others = [source for source in sorted(SOURCES.glob("*.c")) if not source.stem.startswith("isa_")]
    objects = [compile_object(source, folder, flag, "-fno-sanitize-recover=all") for source in others]
    library = folder / "engine.so"
    subprocess.run(["gcc", "-shared", flag, *objects, *kernels, "-o", str(library), "-lm", "-pthread"], check=True)
    environment = os.environ | OPTIONS | {"SPECDEC_NATIVE": str(library), "LD_PRELOAD": runtime}
    return subprocess.run([sys.executable, "-m", "tests.native.exercise", *sys.argv[1:]], env=environment, check=False).returncode == 0


def main() -> int:
    """The exit code: 0 if no sanitizer finds anything. The arguments are those of exercise.py."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kernels = [compile_object(each, folder, *(["-O3"] * (each.stem == "isa_scalar"))) for each in sorted(SOURCES.glob("isa_*.c"))]
        return 0 if all(check(sanitizer, folder, kernels) for sanitizer in SANITIZERS) else 1


if __name__ == "__main__":
    sys.exit(main())
