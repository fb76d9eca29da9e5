"""The pages of the documentation, and their generated parts.

A generated part stands between `<!-- generated: NAME ARGUMENT... -->` and `<!-- end of generated part -->`.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
_PART = re.compile(r"(?P<begin><!-- generated: (?P<call>[^>]*?) -->\n).*?(?P<end><!-- end of generated part -->)", re.DOTALL)

Generator = Callable[..., str]


def pages() -> list[Path]:
    """The paths of README.md, CONTRIBUTING.md and all pages in docs/."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]


def regenerate(text: str, generators: Mapping[str, Generator]) -> str:
    """Return `text`, the content of a page, with each generated part replaced by the output of the generator that it names.

    `generators` maps names to functions, which get the arguments in the comment. Raises KeyError for an unknown name.
    """

    def make(part: re.Match[str]) -> str:
        name, *arguments = part["call"].split()
        return f"{part['begin']}{generators[name](*arguments)}{part['end']}"

    return _PART.sub(make, text)
