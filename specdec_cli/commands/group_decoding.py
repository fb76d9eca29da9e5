"""Decoding of groups of files: lines that are written as they come, or the segments of a document."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from specdec_cli.commands.file_groups import Group
from specdec_cli.commands.line_decoding import OpenedDecoding
from specdec_cli.commands.options.text import TextOptions
from specdec_cli.commands.outputs import Outputs
from specdec_cli.commands.stream import Decoded
from specdec_cli.documents.document import Document, Purpose
from specdec_cli.documents.languages import check_languages
from specdec_cli.errors import InputError
from specdec_cli.text.io.lines import Line, name_of

R = TypeVar("R", bound=Decoded)


@dataclass(frozen=True)
class Input:
    """The lines of a group of files, or the segments of its document as lines."""

    group: Group
    document: Document | None
    lines: Iterable[Line]


def read_whole(inputs: Iterable[Input]) -> tuple[list[Input], list[str]]:
    """Read all lines; return the inputs, and the texts of their lines.

    A line that cannot be read ends the inputs: its error is raised after the lines before it.
    """
    whole: list[Input] = []
    texts: list[str] = []
    for each in inputs:
        lines: list[Line] = []
        whole.append(replace(each, lines=lines))
        try:
            for line in each.lines:
                lines.append(line)
                texts.append(line.text)
        except InputError as error:
            whole[-1] = replace(each, lines=_lines_before(lines, error))
            break
    return whole, texts


def _lines_before(lines: Sequence[Line], error: InputError) -> Iterator[Line]:
    yield from lines
    raise error


def read_inputs(groups: Sequence[Group], text: TextOptions, purpose: Purpose, *, redo: bool = False) -> Iterator[Input]:
    """Yield the input of each group; a document is parsed when it is its turn. Raises what `Group.open_document` raises."""
    for group in groups:
        document = group.open_document(purpose, redo=redo) if group.is_document else None
        yield Input(group, document, text.read(group) if document is None else group.segment_lines(document, text.max_line_bytes))


def decode_input(opened: OpenedDecoding[R], source: Input, writer: Outputs, *, as_lines: bool) -> Iterator[R]:
    """Yield each decoded line or segment of an input; with `as_lines`, write its output lines, too.

    Raises InputError for a document in other languages than those of the model.
    """
    if source.document is not None:
        info = opened.stream.bundle.info
        check_languages(source.document, name_of(source.group.files[0]), info.source_language, info.target_language)
        if opened.begin is not None:
            opened.begin(source.document)
    for line, decoded, outputs in opened.run(iter(source.lines), parts=source.document is not None):
        if as_lines:
            for output, ending in outputs:
                writer.write(output, ending, line.file)
        yield decoded
