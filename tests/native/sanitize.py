"""Runs exercise.py with the native engine built for AddressSanitizer with UndefinedBehaviorSanitizer, then for ThreadSanitizer.

All files but the kernels are instrumented; those take minutes to compile so, and touch no memory that is not handed to them. Plain C
is optimised: it would take many times longer otherwise.

Usage: python -m tests.native.sanitize
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCES = Path(__file__).parent.parent.parent / "specdec_cli" / "native"
FLAGS = ("-std=gnu11", "-O1", "-g", "-ffp-contract=off", "-fPIC", "-fvisibility=hidden", "-pthread", "-DWORTHWHILE=1")
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


def check(sanitizer: str, runtime: str, folder: Path, kernels: list[str]) -> bool:
    """Whether a sanitizer finds nothing."""
    flag = f"-fsanitize={sanitizer}"
    others = [source for source in sorted(SOURCES.glob("*.c")) if not source.stem.startswith("isa_")]
    objects = [compile_object(source, folder, flag, "-fno-sanitize-recover=all") for source in others]
    library = folder / "engine.so"
    subprocess.run(["gcc", "-shared", flag, *objects, *kernels, "-o", str(library), "-lm", "-pthread"], check=True)
    preload = subprocess.run(["gcc", f"-print-file-name={runtime}"], capture_output=True, text=True, check=True).stdout.strip()
    environment = os.environ | OPTIONS | {"SPECDEC_NATIVE": str(library), "LD_PRELOAD": preload}
    print(f"sanitizer: {sanitizer}", file=sys.stderr)
    return subprocess.run([sys.executable, "-m", "tests.native.exercise", *sys.argv[1:]], env=environment, check=False).returncode == 0


def main() -> int:
    """The exit code: 0 if no sanitizer finds anything. Arguments are instruction sets; without any, all are run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kernels = [compile_object(each, folder, *(["-O3"] * (each.stem == "isa_scalar"))) for each in sorted(SOURCES.glob("isa_*.c"))]
        return 0 if all(check(sanitizer, runtime, folder, kernels) for sanitizer, runtime in SANITIZERS.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
