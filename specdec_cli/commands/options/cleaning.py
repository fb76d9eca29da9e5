"""Options for the cleaning and the variation of parallel text."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

_cleaning_option = partial(typer.Option, rich_help_panel="Cleaning")

DomainOption = Annotated[
    list[str] | None,
    _cleaning_option(
        "--domain", metavar="NAME", help="Keep this domain, or those of a pattern such as 'wiki-*'. Repeatable.", show_default="all"
    ),
]
MinCharactersOption = Annotated[int, _cleaning_option("--min-characters", metavar="N", min=1, help="Drop shorter lines.")]
MaxCharactersOption = Annotated[int, _cleaning_option("--max-characters", metavar="N", min=1, help="Drop longer lines.")]
MaxRatioOption = Annotated[
    float,
    _cleaning_option(
        "--max-ratio",
        metavar="X",
        min=1.0,
        help="Drop pairs whose longer line has more than 20 characters and more than X times those of the shorter.",
    ),
]
NormalizeOption = Annotated[bool, _cleaning_option("--normalize-punctuation", help="Normalise punctuation as Moses does.")]
DetokenizeOption = Annotated[bool, _cleaning_option("--detokenize", help="Join tokenised text as Moses does.")]
SourceLanguageOption = Annotated[
    str, _cleaning_option("--source-language", metavar="CODE", help="For the rules of Moses, numbers and times.")
]
TargetLanguageOption = Annotated[
    str, _cleaning_option("--target-language", metavar="CODE", help="For the rules of Moses, numbers and times.")
]
SameNumbersOption = Annotated[bool, _cleaning_option("--same-numbers", help="Drop pairs whose sides have different numbers.")]
RepairNumbersOption = Annotated[
    bool,
    _cleaning_option(
        "--repair-numbers",
        help="Write numbers and times that targets have as their sources in the way of the target language: 2.350 for 2,350.",
    ),
]
NumberCopiesOption = Annotated[
    int,
    typer.Option(
        "--number-copies",
        metavar="N",
        min=0,
        max=100,
        help="Add up to N copies of each pair with the same numbers or times on both sides, with other ones.",
        show_default="0",
    ),
]
NameCopiesOption = Annotated[
    int,
    typer.Option(
        "--name-copies",
        metavar="N",
        min=0,
        max=100,
        help="Add up to N copies of each pair with the same names of people on both sides, with other ones.",
        show_default="0",
    ),
]
VaryOption = Annotated[
    float,
    typer.Option(
        "--vary",
        metavar="SHARE",
        min=0.0,
        max=1.0,
        help="Replace the numbers and times of this share of pairs by random ones, and the names by rare ones of the text.",
        show_default="0",
    ),
]
TemperatureOption = Annotated[
    float,
    typer.Option(
        "--temperature",
        metavar="T",
        min=1.0,
        help="Repeat the pairs of small domains, so that the share of a domain is proportional to its number of pairs to the power 1/T.",
        show_default="1: as they are",
    ),
]
HeldOutOption = Annotated[
    list[Path] | None,
    _cleaning_option(
        "--held-out",
        metavar="FILE",
        help="Drop pairs with a sentence of this dev or test set, in TSV, M2 (*.m2) or plain text. Repeatable.",
        show_default=False,
    ),
]
