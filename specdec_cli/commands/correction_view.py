"""Output formats of corrected lines: text, marked changes, JSON, M2, or a report of the edits."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from specdec_cli.commands.inputs import SegmentLine
from specdec_cli.commands.lines import record
from specdec_cli.documents.wrapped import edited_lines, fitted_edits
from specdec_cli.files import json_text
from specdec_cli.pipeline.corrector import Correction
from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.io.lines import Line
from specdec_cli.text.segment.paragraphs import Paragraph

if TYPE_CHECKING:
    from specdec_cli.commands.reports import Report

Written = Iterator[tuple[str, str]]
"""An iterator of texts to write, each with its line ending."""
_M2_TYPES = {"insert": "M", "delete": "U", "replace": "R"}
_RED, _GREEN, _PLAIN = "\033[31m", "\033[32;1m", "\033[0m"


def view(
    diff: bool, m2: bool, report: "Report | None", as_json: bool, *, coloured: bool, decoding: str
) -> Callable[[Line, Correction], Written]:
    """Make the function that formats a corrected line: as marked changes, M2, findings of `report`, JSON or, by default, text.

    At most one of the first four arguments may be given. `coloured` is for `diff`; `decoding` is the name of the decoding, for JSON.
    """
    if diff:
        return lambda line, correction: _lines(line, marked_edits(correction.edits, coloured))
    if m2:
        return lambda line, correction: ((text, "\n") for text in m2_block(line.text, correction.text))
    if report is not None:
        from specdec_cli.commands.reports import Finding

        return lambda line, correction: (each for edit in correction.edits for each in report.finding(Finding.of(line, edit)))
    if as_json:
        return lambda line, correction: iter([(json_text(_record(line, correction, decoding)), "\n")])
    return lambda line, correction: _lines(line, correction.edits)


def fitted(line: Line, correction: Correction) -> Correction:
    """Return `correction` with those of its edits that the lines of a wrapped paragraph or of a document allow."""
    if not correction.edits or not isinstance(line, SegmentLine | Paragraph):
        return correction
    edits = line.fitted(correction.edits) if isinstance(line, SegmentLine) else fitted_edits(line, correction.edits)
    return replace(correction, edits=tuple(edits), text=apply_edits(line.text, edits))


def _lines(line: Line, edits: Sequence[Edit]) -> Written:
    """Yield the line with `edits` made, or the lines of a paragraph."""
    if isinstance(line, Paragraph):
        yield from edited_lines(line, edits)
    else:
        yield apply_edits(line.text, edits), line.ending


def marked(source: str, edits: tuple[Edit, ...], coloured: bool) -> str:
    """`source` with the `edits` marked as [-old-]{+new+}; with `coloured`, also by the colours of a terminal."""
    return apply_edits(source, marked_edits(edits, coloured))


def marked_edits(edits: Sequence[Edit], coloured: bool) -> list[Edit]:
    """Return edits that put the marks of `marked` in the place of each of `edits`."""
    go, come = "[-{}-]", "{{+{}+}}"
    if coloured:
        go, come = f"{_RED}{go}{_PLAIN}", f"{_GREEN}{come}{_PLAIN}"
    return [edit._replace(text=go.format(edit.source) * bool(edit.source) + come.format(edit.text) * bool(edit.text)) for edit in edits]


def m2_block(source: str, text: str) -> list[str]:
    """The lines of an M2 block with the edits that turn `source` into `text`, and an empty last line.

    Tokens are separated by white space.
    """
    before, after = source.split(), text.split()
    lines = [f"S {' '.join(before)}"]
    for kind, first, last, begin, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            lines.append(f"A {first} {last}|||{_M2_TYPES[kind]}|||{' '.join(after[begin:end])}|||REQUIRED|||-NONE-|||0")
    if len(lines) == 1:
        lines.append("A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0")
    return [*lines, ""]


def _record(line: Line, correction: Correction, decoding: str) -> dict[str, Any]:
    edits = [
        {
            "start": edit.start,
            "end": edit.end,
            "source": edit.source,
            "text": edit.text,
            "score": None if edit.score is None else round(edit.score, 4),
            "type": edit.type,
        }
        for edit in correction.edits
    ]
    return record(line, correction, decoding) | {"edits": edits}
