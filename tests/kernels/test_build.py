"""Compilation, caching and loading of the kernels, and decoding without them."""

import copy
import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from specdec_cli.commands.machine import resolve_machine
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.files import cache_folder
from specdec_cli.kernels import build, compilers
from specdec_cli.kernels.build import Kernels, kernels_or_reason
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.int8 import quantize
from specdec_cli.pipeline.engine import Engine
from specdec_cli.pipeline.request import DecodingRequest
from specdec_cli.pipeline.settings import resolve
from tests.fakes import make_sentences, tiny_transformer

SEAL = 32


@pytest.fixture(scope="module")
def library(cache: None) -> bytes:  # noqa: ARG001
    """The compiled library of this machine."""
    if kernels_or_reason().kernels is None:
        pytest.skip("no kernels on this machine")
    return (cache_folder() / f"kernels-{build.kernels_digest()}.so").read_bytes()[:-SEAL]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The path of the library in an empty cache, on a processor with the instructions and with $CC as the only compiler."""
    monkeypatch.delenv("SPECDEC_KERNELS", raising=False)
    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(build, "_has_instructions", lambda: True)
    monkeypatch.setattr(compilers, "NAMES", ())
    monkeypatch.delenv("CC", raising=False)
    kernels_or_reason.cache_clear()
    yield tmp_path / "cache" / f"kernels-{build.kernels_digest()}.so"
    kernels_or_reason.cache_clear()


@pytest.fixture
def make_compiler(tmp_path: Path) -> Callable[[str, str], Path]:
    """Makes a program that records each call in `calls` and runs a line of shell, with the output file as $output."""

    def make(name: str, line: str) -> Path:
        program = tmp_path / name
        program.write_text(
            f'#!/bin/sh\necho {name} >> "{tmp_path}/calls"\n'
            f'for word; do if [ "$before" = -o ]; then output=$word; fi; before=$word; done\n{line}\n'
        )
        program.chmod(0o755)
        return program

    return make


def calls(path: Path) -> list[str]:
    noted = path.parents[1] / "calls"
    return noted.read_text().split() if noted.exists() else []


def load_again() -> Kernels | None:
    """Load the kernels as a new process does."""
    kernels_or_reason.cache_clear()
    return kernels_or_reason().kernels


def test_a_missing_compiler_is_the_reason_for_missing_kernels(path: Path) -> None:
    assert load_again() is None
    assert kernels_or_reason().reason == "no C compiler was found"
    assert not path.exists()


def test_kernels_can_be_switched_off(path: Path, make_compiler: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", str(make_compiler("mine", "exit 1")))
    monkeypatch.setenv("SPECDEC_KERNELS", "off")
    assert load_again() is None and kernels_or_reason().reason == "SPECDEC_KERNELS is off"
    assert calls(path) == []


def test_processors_without_the_instructions_run_no_compiler(
    tmp_path: Path, path: Path, make_compiler: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.delenv("SPECDEC_KERNELS", raising=False)
    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CC", str(make_compiler("mine", "exit 1")))
    monkeypatch.setattr(build, "_CPU", tmp_path / "cpuinfo")
    (tmp_path / "cpuinfo").write_text("model name\t: old\nflags\t\t: fpu sse2 avx2 avx512f\n")
    assert load_again() is None and "neither AVX-512 VNNI nor AVX-VNNI" in kernels_or_reason().reason
    assert calls(path) == []


def test_a_compiler_that_failed_is_not_tried_again(
    path: Path, make_compiler: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = make_compiler("broken", "echo preparing >&2; echo 'kernels.c:3:1: error: no such thing' >&2; exit 1")
    monkeypatch.setenv("CC", str(program))
    for _ in range(3):
        assert load_again() is None
        assert kernels_or_reason().reason == f"{program}: kernels.c:3:1: error: no such thing"
    assert calls(path) == ["broken"]
    assert "preparing" in path.with_suffix(".failed.json").read_text()
    make_compiler("broken", "echo 'error: still not' >&2; exit 1 # another version")
    assert load_again() is None and "still not" in kernels_or_reason().reason
    assert calls(path) == ["broken"] * 2


@pytest.mark.slow
def test_the_next_compiler_is_tried(
    path: Path, library: bytes, tmp_path: Path, make_compiler: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "library").write_bytes(library)
    monkeypatch.setenv("CC", f"{make_compiler('first', 'exit 1')} -m64")
    monkeypatch.setattr(compilers, "NAMES", ("absent", str(make_compiler("second", f'cp "{tmp_path}/library" "$output"'))))
    for _ in range(2):
        assert load_again() is not None
    assert calls(path) == ["first", "second"]


def test_a_compiler_has_limited_time(path: Path, make_compiler: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilers, "TIMEOUT", 0.5)
    monkeypatch.setenv("CC", str(make_compiler("slow", "exec sleep 60")))
    assert load_again() is None and "took longer than 0.5 s" in kernels_or_reason().reason
    assert load_again() is None and calls(path) == ["slow"]


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["truncated", "zeroed", "garbage", "of something else", "empty", "a folder's worth"])
def test_a_damaged_library_is_compiled_again(
    damage: str, path: Path, library: bytes, tmp_path: Path, make_compiler: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "library").write_bytes(library)
    monkeypatch.setenv("CC", str(make_compiler("mine", f'cp "{tmp_path}/library" "$output"')))
    assert load_again() is not None
    whole = path.read_bytes()
    torch_library = Path(torch.__file__).parent / "lib" / "libtorch_global_deps.so"
    path.unlink()  # the loaded library is not overwritten
    path.write_bytes(
        {
            "truncated": whole[: len(whole) // 2],
            "zeroed": bytes(len(whole)),
            "garbage": bytes(range(256)) * 40,
            "of something else": torch_library.read_bytes(),
            "empty": b"",
            "a folder's worth": whole * 3,
        }[damage]
    )
    assert load_again() is not None
    assert path.read_bytes() == whole
    assert calls(path) == ["mine"] * 2


@pytest.mark.slow
def test_simultaneous_first_uses_leave_one_library(
    path: Path, library: bytes, tmp_path: Path, make_compiler: Callable[[str, str], Path]
) -> None:
    (tmp_path / "library").write_bytes(library)
    # Each process waits in the compiler for the other one.
    wait = f'while [ "$(wc -l < "{tmp_path}/calls")" -lt 2 ]; do sleep 0.05; done'
    compiler = make_compiler("mine", f'{wait}; cp "{tmp_path}/library" "$output"')
    code = "from specdec_cli.kernels.build import kernels_or_reason as load; print(load().kernels is not None, load().reason)"
    environment = os.environ | {"CC": str(compiler)}
    first, second = (subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment) for _ in range(2))
    assert [each.communicate(timeout=300)[0] for each in (first, second)] == [b"True \n"] * 2
    assert calls(path) == ["mine"] * 2
    assert [kept.name for kept in path.parent.iterdir()] == [path.name]


def test_a_cache_that_cannot_be_written_to_runs_no_compiler(
    path: Path, make_compiler: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", str(make_compiler("mine", "exit 1")))
    monkeypatch.setenv("SPECDEC_CACHE", "/dev/null/cache")
    assert load_again() is None and "/dev/null/cache cannot be written to" in kernels_or_reason().reason
    assert calls(path) == []


@pytest.mark.parametrize(("precision", "words"), [("auto", "the precision is float32"), ("int8", "int8 is slow, with the same output")])
def test_missing_kernels_are_reported_in_one_line_unless_quiet(
    precision: str, words: str, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert resolve_machine("cpu", precision, 1, quiet=True).precision == ("float32" if precision == "auto" else "int8")
    assert capsys.readouterr().err == ""
    resolve_machine("cpu", precision, 1, quiet=False)
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"specdec: no compiled kernels for int8: no C compiler was found; {words}"
    assert not path.exists()


@pytest.mark.parametrize("decoding", ["greedy", "input-guided", "lookup", "beam"])
def test_float32_never_runs_the_compiler(
    decoding: str, bundle: Bundle, path: Path, make_compiler: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", str(make_compiler("mine", "exit 1")))
    engine = Engine(bundle, resolve(DecodingRequest(decoding=decoding, with_scores=True), bundle))
    assert len(list(engine.decode([Sentence(0, [7, 8, 9, 3])]))) == 1
    assert calls(path) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flag", "instructions"),
    [("-DNO_SHUFFLEVECTOR", ""), ("-mno-avx512f", "AVX-VNNI")],
    ids=["as by GCC before 12, which has `__builtin_shuffle` alone", "on a processor without AVX-512"],
)
@torch.inference_mode()
def test_other_compilers_and_processors_give_the_same_bits(flag: str, instructions: str, library: bytes, tmp_path: Path) -> None:
    assert library
    if instructions == "AVX-VNNI" and b"avx_vnni" not in build._CPU.read_bytes().split():
        pytest.skip("this processor has no AVX-VNNI")
    sources = [str(source) for source in build.SOURCES if source.suffix == ".c"]
    flags = [flag for flag in build.FLAGS if flag != "-O3"]  # sums are equal without optimisation
    compiled = compilers.compile_library(sources, [*flags, "-O1", flag], tmp_path / "failed.json")
    (tmp_path / "other.so").write_bytes(compiled)
    mine, other = kernels_or_reason().kernels, Kernels(ctypes.CDLL(str(tmp_path / "other.so")))
    assert mine is not None and other.instructions == (instructions or mine.instructions)
    plain, sentences = tiny_transformer(width=80, heads=5, vocabulary_size=200), make_sentences(3, 32)
    found = []
    for kernels in (mine, other):
        model = copy.deepcopy(plain)
        quantize(model, kernels)
        verifier = Verifier(model)
        state = verifier.begin(range(3), [sentence.source for sentence in sentences])
        scores = verifier.score(state, Draft(state.source[:, :9], state.lengths * 0 + 9))
        found.append((scores.logits, model.choices.log_probabilities(scores.logits, scores.logits.argmax(-1))))
    assert all(torch.equal(*pair) for pair in zip(*found, strict=True))
