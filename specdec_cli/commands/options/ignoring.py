"""Command-line options of edits that are not made: those of certain words and of certain types of errors."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specdec_cli.commands.options.groups import OptionGroup

if TYPE_CHECKING:
    from specdec_cli.pipeline.ignored_edits import IgnoredEdits

_edits_option = partial(typer.Option, rich_help_panel="Edits")

IgnoreOption = Annotated[
    list[str] | None,
    _edits_option("--ignore", metavar="WORD", help="Leave this word as it is; in lower case, also with capitals. Repeatable."),
]
IgnoreFileOption = Annotated[
    list[Path] | None,
    _edits_option(
        "--ignore-file",
        metavar="FILE",
        help="File of words to leave as they are, one a line; lines that begin with # are comments. Repeatable.",
    ),
]
WordsOption = Annotated[
    Path | None,
    _edits_option(
        "--words",
        metavar="FILE",
        help="Your list of words to leave as they are, one a line; a server's /v2/words adds words to it and removes them.",
        show_default=False,
    ),
]
IgnoreCategoryOption = Annotated[
    list[str] | None,
    _edits_option(
        "--ignore-category",
        metavar="NAME",
        help="Make no edits whose errors are all of this type of ERRANT, such as PUNCT, VERB or R:VERB:SVA. Repeatable.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class IgnoreOptions(OptionGroup):
    """The options that name edits which `correct` does not make."""

    ignore: IgnoreOption = None
    ignore_file: IgnoreFileOption = None
    ignore_category: IgnoreCategoryOption = None
    words: WordsOption = None

    def ignored(self) -> "IgnoredEdits":
        """The edits that are not made. Raises what `IgnoredEdits.of` and `WordList.of_file` raise."""
        from specdec_cli.pipeline.ignored_edits import IgnoredEdits
        from specdec_cli.text.spelling.word_list import WordList

        listed = () if self.words is None else WordList.of_file(self.words).words
        return IgnoredEdits.of((*(self.ignore or ()), *listed), self.ignore_file or (), self.ignore_category or ())
