"""The command line as a process: exit codes, streams, and imports."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from specdec_cli.app import COMMANDS
from specdec_cli.version import __version__
from tests import command_line

HEAVY = {"torch", "numpy", "sentencepiece", "sacremoses", "sacrebleu", "ctranslate2", "safetensors", "lightning_fabric"}
NEVER_TO_DECODE = {
    *("ctranslate2", "huggingface_hub", "lightning_fabric", "rich", "sacrebleu", "sacremoses", "setuptools", "tokenizers"),
    *("torch._dynamo", "torch._inductor", "transformers", "yaml", "sympy"),
}

WITH_A_COMMAND = """
import subprocess, sys
from pathlib import Path
from specdec_cli.app import app, main
from specdec_cli.errors import *
from specdec_cli.text.io.lines import read_lines
from specdec_cli.text.io.writing import LineWriter

@app.command("try")
def command() -> None:
    {body}

sys.argv = ["specdec", "try"]
main()
"""


def run(body: str, stdout: str = "", unbuffered: bool = False) -> subprocess.CompletedProcess[str]:
    """Run a command whose function is `body`, with the redirections `stdout` of the shell."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    if unbuffered:
        environment["PYTHONUNBUFFERED"] = "1"
    command = [sys.executable, "-W", "error", "-c", WITH_A_COMMAND.format(body=body)]
    shell = ["bash", "-c", f'"$@" {stdout}; exit ${{PIPESTATUS[0]}}', "bash", *command]
    return subprocess.run(shell, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize(("error", "code"), [("SpecdecError", 1), ("UsageError", 2), ("InputError", 3), ("ModelError", 3)])
def test_failures_have_a_message_and_an_exit_code(error: str, code: int) -> None:
    result = run(f"print('done so far'); raise {error}('a.txt, line 3: bad')")
    assert (result.returncode, result.stdout, result.stderr) == (code, "done so far\n", "specdec: error: a.txt, line 3: bad\n")


def test_an_interrupt_exits_with_130() -> None:
    result = run("raise KeyboardInterrupt")
    assert (result.returncode, result.stderr) == (130, "")


def test_a_termination_leaves_no_temporary_files(tmp_path: Path) -> None:
    body = f"import os, signal, tempfile; folder = tempfile.TemporaryDirectory(dir={str(tmp_path)!r}); os.kill(os.getpid(), signal.SIGTERM)"
    result = run(body)
    assert (result.returncode, list(tmp_path.iterdir())) == (143, [])


@pytest.mark.parametrize(
    ("command", "option", "value"),
    [
        *((command, "--threads", value) for command in ("translate", "correct", "bench", "serve") for value in ("0", "1025")),
        *((command, "--batch-size", "0") for command in ("translate", "bench")),
        ("translate", "--memory", "0"),
        ("correct", "--max-edit-ratio", "-1"),
        ("translate", "--similarity", "101"),
        ("bench", "--repetitions", "0"),
    ],
)
def test_numbers_outside_their_range_are_wrong_use(command: str, option: str, value: str) -> None:
    result = command_line.run(command, option, value)
    assert result.exit_code == 2 and f"Invalid value for '{option}'" in result.output


def test_unexpected_exceptions_have_a_traceback() -> None:
    result = run("1 / 0")
    assert result.returncode == 1
    assert "Traceback" in result.stderr
    assert "ZeroDivisionError" in result.stderr


@pytest.mark.parametrize(
    "body",
    [
        "[print('y' * 100) for _ in range(100000)]",
        "import time; time.sleep(0.2); print('only at the end')",
        "import rich; [rich.print('y' * 100) for _ in range(1000)]",
        "writer = LineWriter(); [writer.write('y') for _ in range(100000)]",
    ],
)
@pytest.mark.parametrize("unbuffered", [False, True])
def test_a_closed_pipe_ends_the_program_silently(body: str, unbuffered: bool) -> None:
    result = run(body, "| head -c 0", unbuffered)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_closed_pipe_that_is_the_output_file_ends_the_program_silently() -> None:
    opened = "import os; read, write = os.pipe(); writer = LineWriter(Path('/dev/fd/%d' % write)); os.close(read)"
    result = run(f"{opened}\n    with writer:\n        writer.write('y')")
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("body", ["print('lost')", "LineWriter().write('lost')"])
@pytest.mark.parametrize("unbuffered", [False, True])
def test_a_full_disk_is_a_failure(body: str, unbuffered: bool) -> None:
    result = run(body, "> /dev/full", unbuffered)
    assert (result.returncode, result.stderr) == (3, "specdec: error: stdout: No space left on device\n")


@pytest.mark.parametrize("unbuffered", [False, True])
def test_a_line_that_fits_only_partly_is_a_failure(tmp_path: Path, unbuffered: bool) -> None:
    body = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); LineWriter().write('y' * 1500)"
    result = run(body, f"> {tmp_path / 'output'}", unbuffered)
    assert (result.returncode, result.stderr) == (3, "specdec: error: stdout: File too large\n")


@pytest.mark.parametrize("unbuffered", [False, True])
@pytest.mark.parametrize("descriptor", [1, 2])
def test_a_full_pipe_that_does_not_block_is_waited_for(descriptor: int, unbuffered: bool) -> None:
    stream = "sys.stdout" if descriptor == 1 else "sys.stderr"
    texts = "[print(str(number) * length, file=stream) for number, length in [*enumerate([500] * 500), *enumerate([99999] * 5)]]"
    body = f"import os; os.set_blocking({descriptor}, False); stream = {stream}; {texts}"
    result = run(body, f"{'2>&1' * (descriptor == 2)} | (sleep 0.2; cat)", unbuffered)
    expected = [*(str(number) * 500 for number in range(500)), *(str(number) * 99999 for number in range(5))]
    assert (result.returncode, result.stdout.splitlines() == expected, result.stderr) == (0, True, "")


def test_a_broken_pipe_to_another_process_is_reported() -> None:
    child = "subprocess.Popen([sys.executable, '-c', ''], stdin=subprocess.PIPE, bufsize=0)"
    result = run(f"p = {child}; p.wait(); p.stdin.write(b'x')")
    assert result.returncode == 1
    assert "BrokenPipeError" in result.stderr


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("bytearray(2**62)", "out of memory"),
        pytest.param("import torch; torch.empty(2**50)", "out of memory", marks=pytest.mark.long),
        ("raise OSError(12, 'Cannot allocate memory')", "out of memory"),
        ("raise RuntimeError('unable to mmap 9 bytes from file <x>: Cannot allocate memory (12)')", "out of memory"),
        ("raise ImportError('libtorch_cpu.so: failed to map segment from shared object')", "out of memory"),
        ("import os; os.stat('/no/such')", "/no/such: no such file"),
        (r"import os; os.stat('/no\n/\x1b[31msuch')", r"/no\n/\x1b[31msuch: no such file"),
        ("import os; os.close(99)", "is closed"),
    ],
)
def test_system_errors_have_a_message_of_one_line(body: str, cause: str) -> None:
    result = run(f"print('done so far'); {body}")
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (3, "done so far\n", 1)
    assert result.stderr.startswith(f"specdec: error: {cause}")


def test_a_library_that_may_not_be_executed_is_not_a_lack_of_memory() -> None:
    result = run("raise ImportError('a.so: failed to map segment from shared object: Operation not permitted')")
    assert (result.returncode, "Operation not permitted" in result.stderr, "out of memory" in result.stderr) == (1, True, False)


@pytest.mark.parametrize(
    ("streams", "code", "message"),
    [("<&-", 3, "stdin: is closed"), (">&-", 3, "stdout: is closed"), ("2>&-", 0, "")],
)
def test_a_closed_stdin_or_stdout_is_named(streams: str, code: int, message: str) -> None:
    result = run(
        "[LineWriter().write(line.text) for line in read_lines()]; print('end')", f"{streams or ''} {'<<< line' * (streams != '<&-')}"
    )
    assert (result.returncode, message in result.stderr, "Traceback" in result.stderr) == (code, True, False)


@pytest.mark.parametrize("stderr", ["2> /dev/full", "2> >(head -c 0)"])
@pytest.mark.parametrize("unbuffered", [False, True])
def test_what_stderr_cannot_take_is_lost(stderr: str, unbuffered: bool) -> None:
    result = run("[print('warning ' * 100, file=sys.stderr) for _ in range(1000)]; print('all')", stderr, unbuffered)
    assert (result.returncode, result.stdout) == (0, "all\n")
    assert run("raise InputError('lost')", stderr, unbuffered).returncode == 3


@pytest.mark.parametrize(("encoding", "code", "written"), [("latin-1", 0x2581, "\\u2581\n"), ("utf-8:strict", 0xDCFF, "\\udcff\n")])
def test_characters_that_the_encoding_lacks_are_escaped(monkeypatch: pytest.MonkeyPatch, encoding: str, code: int, written: str) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    result = run(f"print(chr({code}))")
    assert (result.returncode, result.stdout, result.stderr) == (0, written, "")


def test_files_do_not_replace_closed_streams(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_text("secret\n")
    result = run(f"stream = open({str(path)!r}, 'r+'); print(next(read_lines()).text)", "<&-")
    assert (result.returncode, result.stdout) == (3, "")
    result = run(f"stream = open({str(path)!r}, 'r+'); print('new')", ">&-")
    assert (result.returncode, path.read_text()) == (3, "secret\n")


def test_wrong_usage_exits_with_2() -> None:
    for arguments in (["--nix"], ["nix"], ["prepare"], ["prepare", "out", "--vocabulary-size", "x"]):
        assert command_line.run(*arguments).exit_code == 2


def test_the_message_for_a_wrong_choice_names_the_value_and_the_choices() -> None:
    words = " ".join(command_line.run("translate", "--device", "tpu").stderr.split())
    assert "for '--device': 'tpu' is not one of 'auto', 'cpu', 'cuda'." in words


def test_the_version_is_printed() -> None:
    assert command_line.run("--version").stdout == f"specdec {__version__}\n"


def test_the_package_runs_as_a_module() -> None:
    result = subprocess.run([sys.executable, "-m", "specdec_cli", "-h"], capture_output=True, text=True, check=True)
    assert "Usage: specdec [OPTIONS] COMMAND" in result.stdout


def test_help_imports_no_large_library() -> None:
    script = """
import sys
from specdec_cli.app import app, COMMANDS
for arguments in [["--help"], *([name, "--help"] for name in COMMANDS)]:
    assert app(arguments, standalone_mode=False) == 0, arguments
print(*sys.modules, file=sys.stderr)
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert HEAVY & set(result.stderr.split()) == set()
    assert result.stdout.count("Usage: ") == 1 + len(COMMANDS)


@pytest.mark.parametrize("command", ["translate", "correct"])
@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_decoding_imports_no_unneeded_library(command: str, precision: str, bundle_folder: Path, corrector_folder: Path) -> None:
    model = corrector_folder if command == "correct" else bundle_folder
    arguments = [command, "-m", str(model), "--precision", precision, "--threads", "1"]
    script = f"import sys; from specdec_cli.app import app; app({arguments}, standalone_mode=False); print(*sys.modules, file=sys.stderr)"
    result = subprocess.run([sys.executable, "-c", script], input="kalo\n", capture_output=True, text=True, check=True)
    assert result.stdout.count("\n") == 1
    assert NEVER_TO_DECODE & set(result.stderr.split()) == set()


def test_exit_skips_garbage_collection() -> None:
    script = """
import atexit, gc, sys
from specdec_cli.app import main
atexit.register(lambda: print(gc.get_freeze_count() > 1000))
sys.argv = ["specdec", "--version"]
main()
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "True"


@pytest.mark.parametrize("arguments", [["--version"], ["models"], ["models", "en-de"], ["translate", "--help"]])
def test_only_the_command_in_use_is_imported(arguments: list[str]) -> None:
    script = f"import sys; from specdec_cli.app import app; app({arguments}, standalone_mode=False); print(*sys.modules, file=sys.stderr)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    imported = set(result.stderr.split())
    commands = {name for name, module in COMMANDS.items() if f"specdec_cli.commands.{module}" in imported}
    assert (commands, HEAVY & imported) == (set(arguments[:1]) & COMMANDS.keys(), set())


def test_an_unknown_command_gets_a_suggestion() -> None:
    result = command_line.run("tranlate")
    assert result.exit_code == 2 and "Did you mean 'translate'" in result.stderr
