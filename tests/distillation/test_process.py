"""The teacher's process: its results, errors and end."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.distillation.teachers import Resources, Search, TeacherProcess, Translation
from specdec_cli.distillation.worker import batches
from specdec_cli.errors import ModelError
from specdec_cli.text.tokenize.sentencepiece import Subwords

SHORT = Search(beam_size=1, max_length=20, max_source_length=12)
SMALL = Resources(threads=2, batch_tokens=40)


def translations(process: TeacherProcess, sources: list[str]) -> list[Translation]:
    answers = dict(process.translate(sources))
    assert sorted(answers) == list(range(len(sources)))
    return [answers[index] for index in range(len(sources))]


def test_translations_do_not_depend_on_other_sources(ctranslate2_folder: Path, lines: list[str], tokenizer: Subwords) -> None:
    with TeacherProcess(ctranslate2_folder, SHORT, SMALL) as process:
        together = translations(process, lines)
        alone = [translations(process, [line])[0] for line in lines]

    assert together == alone
    for line, translation in zip(lines, together, strict=True):
        assert translation.source_tokens == len(tokenizer.encode(line)) + 1
        if translation.source_tokens > SHORT.max_source_length:
            assert translation == Translation("", translation.source_tokens, 0, False)
        else:
            assert 1 <= translation.tokens <= SHORT.max_length
            assert translation.finished or translation.tokens == SHORT.max_length
    assert 0 < sum(translation.tokens == 0 for translation in together) < len(lines)


def test_beam_search_and_int8_are_used(ctranslate2_folder: Path, lines: list[str]) -> None:
    with TeacherProcess(ctranslate2_folder, Search(beam_size=3, max_length=20, compute_type="int8"), SMALL) as process:
        assert all(translation.text for translation in translations(process, lines))


def test_marian_folders_with_two_tokenizers_are_read(ctranslate2_folder: Path, lines: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "marian"
    shutil.copytree(ctranslate2_folder, folder)
    shutil.copyfile(folder / "tokenizer.model", folder / "source.spm")
    (folder / "tokenizer.model").rename(folder / "target.spm")

    with TeacherProcess(ctranslate2_folder, SHORT, SMALL) as ours, TeacherProcess(folder, SHORT, SMALL) as theirs:
        assert translations(ours, lines) == translations(theirs, lines)


def test_a_folder_without_tokenizer_is_refused(ctranslate2_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(ctranslate2_folder, tmp_path / "model")
    (tmp_path / "model" / "tokenizer.model").unlink()
    with (
        pytest.raises(ModelError, match=r"model: the folder has neither tokenizer\.model"),
        TeacherProcess(tmp_path / "model", SHORT, SMALL),
    ):
        pass


def test_a_failure_during_translation_is_reported(ctranslate2_folder: Path) -> None:
    beyond = Search(beam_size=1, max_length=20, max_source_length=1000)
    with TeacherProcess(ctranslate2_folder, beyond, SMALL) as process, pytest.raises(ModelError, match="position"):
        list(process.translate(["ka " * 100]))


def test_a_dead_process_is_reported(ctranslate2_folder: Path) -> None:
    with TeacherProcess(ctranslate2_folder, SHORT, SMALL) as process:
        process.process._process.kill()
        with pytest.raises(ModelError, match="teacher: its process was killed by signal 9"):
            list(process.translate(["ka lo"]))


def test_the_process_ends_with_its_parent(ctranslate2_folder: Path) -> None:
    with TeacherProcess(ctranslate2_folder, SHORT, SMALL) as process:
        child = process.process._process
        assert child.poll() is None
    assert child.returncode == 0


def test_the_worker_does_not_import_torch() -> None:
    code = "import sys, specdec_cli.distillation.worker; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": ":".join(sys.path)}, check=False).returncode == 0


@given(st.lists(st.integers(1, 30)), st.integers(1, 30), st.integers(1, 100))
def test_batches_contain_every_line_once(lengths: list[int], longest: int, batch_tokens: int) -> None:
    found = list(batches(lengths, longest, batch_tokens))
    assert sorted(index for batch in found for index in batch) == [i for i, length in enumerate(lengths) if length <= longest]
    for batch in found:
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= batch_tokens


def test_batches_of_short_lines_are_bounded() -> None:
    assert [len(batch) for batch in batches([1] * 2500, 1, 10_000)] == [1000, 1000, 500]
