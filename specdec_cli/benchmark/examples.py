"""The input of a benchmark: source lines and optional references."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from specdec_cli.errors import InputError
from specdec_cli.text.corpus.parallel import Pair, read_tsv
from specdec_cli.text.io.lines import name_of, read_text_lines

SAMPLE = Path(__file__).parent / "sample.en-de.tsv"
_LANGUAGES = ("en", "de")
"""The built-in sample: TSV of English and German sentences."""


@dataclass(frozen=True)
class Examples:
    """The input of a benchmark: its name, source lines, one reference for each, and source and target language.

    The references are None if there are none, the languages if they are unknown.
    """

    name: str
    sources: tuple[str, ...]
    references: tuple[str, ...] | None
    languages: tuple[str, str] | None = None

    @property
    def blank(self) -> bool:
        """Whether all source lines are blank."""
        return not any(line.strip() for line in self.sources)


def read_table(path: Path, limit: int | None = None) -> Examples:
    """Read the first `limit` pairs (None: all) of source and reference from a TSV file; the path `-` is stdin.

    Raises InputError for a file that is missing or malformed.
    """
    return _from_pairs(name_of(path), read_tsv(path), limit)


def read_files(source: Path, lines: Iterable[str], reference: Path | None, limit: int | None = None) -> Examples:
    """The first `limit` (None: all) of `lines`, the sources in the file `source`, and as many lines of an optional reference file.

    Raises InputError for a file that is missing or unreadable, and if one file ends before the other within these lines.
    """
    sources = tuple(islice(lines, limit))
    references = () if reference is None else read_references(source, len(sources), [reference], limit)
    return Examples(str(source), sources, references[0] if references else None)


def read_references(source: Path, count: int, paths: Sequence[Path], limit: int | None) -> tuple[tuple[str, ...], ...]:
    """The first `limit` lines (None: all) of each reference file, a line for each of `count` lines of the file `source`.

    Raises InputError for a file that is missing or unreadable, or has another number of lines.
    """
    texts = tuple(tuple(islice(read_text_lines(path), limit)) for path in paths)
    for path, text in zip(paths, texts, strict=True):
        if len(text) != count:
            shorter, longer = (path, source) if len(text) < count else (source, path)
            raise InputError(f"{shorter}: ends after line {min(len(text), count)}, but {longer} has more lines")
    return texts


def read_sample(limit: int | None = None, languages: tuple[str, str] = _LANGUAGES) -> Examples:
    """Read the first `limit` pairs (None: all) of the built-in sample of English sentences and German translations.

    For the opposite `languages` the German sentences are the sources.
    """
    pairs = read_tsv(SAMPLE)
    if languages == _LANGUAGES[::-1]:
        return replace(_from_pairs("built-in sample", (Pair(each.target, each.source) for each in pairs), limit), languages=languages)
    return replace(_from_pairs("built-in sample", pairs, limit), languages=_LANGUAGES)


def _from_pairs(name: str, pairs: Iterable[Pair], limit: int | None) -> Examples:
    chosen = list(islice(pairs, limit))
    return Examples(name, tuple(pair.source for pair in chosen), tuple(pair.target for pair in chosen))
