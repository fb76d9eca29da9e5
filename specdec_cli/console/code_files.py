"""Detection of program code by the names of files: comments and documentation strings are the text of a program."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from specdec_cli.errors import InputError
from specdec_cli.text.io.lines import COMPRESSED, Line
from specdec_cli.text.segment.code import code_lines

_LARGEST_FILE = 2**23
"""Characters of a file that are held to find its code."""
_CODE_SHARE, _SAMPLE = 10, 1000
"""A file is read as a program if at least one in _CODE_SHARE of its first _SAMPLE lines has the form of code."""
_NO_LANGUAGES = frozenset(
    ("text", "markdown", "md", "restructuredtext", "rst", "tex", "latex", "html", "xml", "json", "yaml", "toml", "ini")
)
_NO_LANGUAGES |= {"properties", "diff", "pot", "po", "http", "groff", "man", "org", "wikitext", "asciidoc", "bibtex", "output", "email"}
"""Names of lexers of Pygments for markup and data; their files are not read as programs."""


def marked(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield lines, those marked that are code in a file of a programming language (see `code_of_file`).

    A file of more than 8 MiB is not marked. If reading `lines` raises InputError, the lines that were read before it are yielded first.
    """
    block: list[Line] = []
    file: Path | None = None
    size, collects = 0, False
    try:
        for line in lines:
            if line.file != file:
                yield from _marked(block)
                block, size, file = [], 0, line.file
                collects = file is not None and _has_language(file)
            if not collects:
                yield line
                continue
            block.append(line)
            size += len(line.text)
            if size > _LARGEST_FILE:
                yield from block
                block, collects = [], False
    except InputError:
        yield from _marked(block)
        raise
    yield from _marked(block)


def code_of_file(lines: Sequence[str], name: str) -> list[bool] | None:
    """For each line of the file `name`, whether it has code: anything but comments, documentation strings and white space.

    None if the name is that of no programming language, or if few lines have the form of code, as in a text whose name ends with the code
    of its language (a.cs).
    """
    first = lines[:_SAMPLE]
    if _CODE_SHARE * sum(code_lines(first)) < sum(map(bool, map(str.strip, first))):
        return None
    from pygments.lexers import find_lexer_class_for_filename
    from pygments.token import Comment, String

    text = "\n".join(lines)
    lexer = find_lexer_class_for_filename(name, text)
    if lexer is None or _NO_LANGUAGES.intersection(lexer.aliases):
        return None
    found, number = [False] * len(lines), 0
    for kind, value in lexer(stripnl=False, ensurenl=False).get_tokens(text):
        is_comment = kind in Comment and kind not in Comment.Preproc and kind not in Comment.Hashbang
        for index, part in enumerate(value.split("\n")):
            number += index > 0
            if not (is_comment or kind in String.Doc) and part.strip() and number < len(found):
                found[number] = True
    return found


def _marked(block: Sequence[Line]) -> Iterator[Line]:
    if not block:
        return
    file = block[0].file
    assert file is not None
    found = code_of_file([line.text for line in block], file.name)
    yield from block if found is None else (replace(line, is_code=each) for line, each in zip(block, found, strict=True))


def _has_language(file: Path) -> bool:
    return file.suffix not in ("", ".txt", *COMPRESSED) and file.is_file()
