"""Command-line options of glossaries: terms with the translation that they must have."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specdec_cli.commands.options.groups import OptionGroup
from specdec_cli.errors import UsageError

if TYPE_CHECKING:
    from specdec_cli.text.glossary import Term

_PANEL = "Glossary"

GlossaryOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--glossary",
        metavar="FILE",
        help="Terms with the translation that they must have: source, tab, target on each line; lines that begin with # are comments. "
        "Repeatable.",
        show_default=False,
        rich_help_panel=_PANEL,
    ),
]
KeepOption = Annotated[
    list[str] | None,
    typer.Option("--keep", metavar="WORD", help="A term that stays as it is; repeatable.", show_default=False, rich_help_panel=_PANEL),
]
NoLabelsOption = Annotated[
    bool,
    typer.Option(
        "--no-labels",
        help="Translate labels such as Home with the model too, instead of by the bundle's list of labels.",
        rich_help_panel=_PANEL,
    ),
]


@dataclass(frozen=True, kw_only=True)
class GlossaryOptions(OptionGroup):
    """The options of glossaries and of the bundle's labels."""

    glossary: GlossaryOption = None
    keep: KeepOption = None
    no_labels: NoLabelsOption = False

    def read(self, *, n_best: int) -> "Sequence[Term] | None":
        """Read the terms of all --glossary files, and add the words of --keep. Returns None if neither option is given.

        Raises InputError for a file that cannot be read, and UsageError for a term with two targets, and with `n_best` above 1.
        """
        if not self.glossary and not self.keep:
            return None
        from specdec_cli.text.glossary import read_glossaries, with_kept

        if n_best > 1:
            raise UsageError("--n-best gives hypotheses as they are found and does not go with --glossary and --keep")
        return with_kept(read_glossaries(self.glossary or ()), self.keep or ())
