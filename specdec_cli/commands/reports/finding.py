"""Findings: an edit that a file needs, its place in the file, and a message."""

from dataclasses import dataclass
from pathlib import Path

from specdec_cli.commands.file_groups import SegmentLine
from specdec_cli.documents.wrapped import paragraph_edit
from specdec_cli.error_types.explanation import explanation
from specdec_cli.text.edits import Edit, FileEdit, Point
from specdec_cli.text.io.lines import COMPRESSED, Line
from specdec_cli.text.segment.paragraphs import Paragraph


@dataclass(frozen=True)
class Finding:
    """An edit of a line of `file` (None: stdin), and the change of the file that makes it."""

    file: Path | None
    edit: Edit
    change: FileEdit

    @classmethod
    def of(cls, line: Line, edit: Edit) -> "Finding":
        """Make the finding for an edit of the text of a line, wrapped paragraph or segment of a document."""
        change = _file_edit(line, edit)
        compressed = line.file is not None and line.file.suffix in COMPRESSED
        return cls(line.file, edit, change._replace(text=None) if compressed else change)

    @property
    def message(self) -> str:
        """What is wrong, and what to do."""
        return explanation(self.edit)

    @property
    def has_lines(self) -> bool:
        """Whether the file is plain text, so that the finding has lines and columns, and a change that programs can make."""
        return self.change.text is not None

    @property
    def path(self) -> str:
        """The name of the file, relative to the working folder if it is in it, with slashes; "stdin" for that."""
        if self.file is None:
            return "stdin"
        path = self.file
        if path.is_absolute() and path.is_relative_to(Path.cwd()):
            path = path.relative_to(Path.cwd())
        return path.as_posix()


def _file_edit(line: Line, edit: Edit) -> FileEdit:
    if isinstance(line, SegmentLine):
        return line.file_edit(edit)
    if isinstance(line, Paragraph):
        return paragraph_edit(line, edit)
    return FileEdit(Point(line.number, line.text[: edit.start]), Point(line.number, line.text[: edit.end]), edit.text)
