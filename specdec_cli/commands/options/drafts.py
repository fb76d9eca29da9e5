"""Command-line options of drafts from earlier translations: a translation memory or an earlier version of the text."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from specdec_cli.commands.options.groups import OptionGroup
from specdec_cli.errors import UsageError
from specdec_cli.memories import SIMILARITY

if TYPE_CHECKING:
    from specdec_cli.decoding.options import Decoding

_draft_option = partial(typer.Option, rich_help_panel="Earlier translations")

MemoryOption = Annotated[
    list[Path] | None,
    _draft_option(
        "--tm",
        metavar="FILE",
        help="Translation memory (.tmx, .po, or source and target in a TSV file) whose most similar entry is the draft of a sentence. "
        "Drafts are verified: the output stays greedy's.",
        show_default=False,
    ),
]
PreviousOption = Annotated[
    tuple[Path, Path] | None,
    _draft_option(
        "--previous",
        metavar="OLD_SOURCE OLD_TARGET",
        help="Earlier version of the text or document and its translation; unchanged and similar sentences get their old translation "
        "as draft.",
        show_default=False,
    ),
]
SimilarityOption = Annotated[
    float | None,
    _draft_option(
        "--similarity",
        "-s",
        metavar="PERCENT",
        min=0.0,
        max=100.0,
        help="Least similarity of sources for a draft; 100 is for equal ones.",
        show_default=f"{SIMILARITY:.0f}",
    ),
]
ExactMatchesOption = Annotated[
    Literal["draft", "copy"] | None,
    _draft_option(
        "--exact-matches",
        metavar="draft|copy",
        help="Equal sources: verify their translation like other drafts, or copy it to the output as it is.",
        show_default="draft",
    ),
]


@dataclass(frozen=True, kw_only=True)
class DraftOptions(OptionGroup):
    """The options of drafts from earlier translations."""

    tm: MemoryOption = None
    previous: PreviousOption = None
    similarity: SimilarityOption = None
    exact_matches: ExactMatchesOption = None

    @property
    def given(self) -> bool:
        """Whether there is a memory or an earlier version."""
        return bool(self.tm) or self.previous is not None

    @property
    def least_similarity(self) -> float:
        """The least similarity in percent: the value that was given, else SIMILARITY."""
        return SIMILARITY if self.similarity is None else self.similarity

    def check(self) -> None:
        """Raise UsageError for options that do not go together."""
        if self.tm and len(self.tm) > 1:
            raise UsageError("--tm is given twice; join the memories in one file")
        if self.tm and self.previous is not None:
            raise UsageError("--tm and --previous are alternatives; give one")
        for option, value in (("--similarity", self.similarity), ("--exact-matches", self.exact_matches)):
            if value is not None and not self.given:
                raise UsageError(f"{option} is for drafts from --tm or --previous")

    def check_decoding(self, decoding: "Decoding") -> None:
        """Raise UsageError if there are drafts and `decoding` does not have greedy's output."""
        if self.given:
            decoding.check_given()
