"""The text that bench decodes."""

from pathlib import Path

import pytest

from specdec_cli.benchmark.inputs import read_input
from specdec_cli.distillation.texts import read_sources
from specdec_cli.model.bundle_info import Task


@pytest.mark.parametrize("task", ["translate", "correct"])
@pytest.mark.parametrize("table", ["ka lo\tta\nmi no\tre\n", "news\tka lo\tta\nnews\tmi no\tre\n"])
def test_the_source_column_of_a_table_is_decoded(task: Task, table: str, tmp_path: Path) -> None:
    path, reference = tmp_path / "a.tsv", tmp_path / "a.txt"
    path.write_text(table)
    reference.write_text("ta\nre\n")
    for references in ([reference], []) if task == "translate" else ([reference],):
        examples = read_input(task, None, (path, read_sources([path])), references, None, keep_tokens=False)
        assert examples.sources == ("ka lo", "mi no")
