"""Round trips of documents of Debian and PyPI packages, downloaded to a temporary folder: `python -m documentation.round_trips`.

For up to 20 files of each format: parse, check that unchanged segments give the same file, change the text of every segment, parse again,
and check that all segments, with their markup, are still there.
"""

import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from specdec_cli.documents.document import Source
from specdec_cli.documents.formats import READERS
from specdec_cli.documents.names import format_of
from specdec_cli.documents.reading import read_bytes
from specdec_cli.documents.segments import STAND_IN
from specdec_cli.errors import SpecdecError
from specdec_cli.text.protected import protected_spans

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


def problem(data: bytes, format: str, name: str) -> str | None:
    """What is wrong in a round trip of a document; None if nothing is."""

    def parse(content: bytes, redo: bool = True) -> Any:
        return READERS[format](Source(content, name, "translate", redo))

    document = parse(data)
    texts = [segment.text for segment in document.segments]
    if document.corrected([[] for _ in texts]) != data:
        return "no edits give other bytes"
    unchanged = document.translated(texts)
    if format not in ("po", "xliff") and unchanged != data:
        return "unchanged segments give other bytes"
    if [segment.text for segment in parse(unchanged).segments] != texts:
        return "unchanged segments give other segments"
    outputs = [changed(text) for text in texts]
    again = parse(document.translated(outputs))
    if format in ("po", "xliff"):  # the sources stay
        return None if [segment.text for segment in again.segments] == texts else "sources have changed"
    if format == "md":
        return None if shape(data) == shape(document.translated(outputs)) else "the blocks or the inline markup differ"
    marks, others = ([STAND_IN.findall(segment.text) for segment in one] for one in (document.segments, again.segments))
    if marks != others:
        place = next((index for index, (one, other) in enumerate(zip(marks, others, strict=False)) if one != other), len(marks))
        return f"{len(marks)} segments, then {len(others)}; markup differs at {place}: {texts[place : place + 1]}"
    return None


def main() -> None:
    """Run the round trips of the packages in the folder that is given, or of downloaded ones; print a count of each format."""
    counts: dict[str, list[int]] = {}
    with tempfile.TemporaryDirectory() as name:
        packages = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(name) / "packages"
        if len(sys.argv) == 1:
            packages.mkdir()
            download(packages)
        for package in sorted(packages.iterdir()):
            extract(package, Path(name) / "files" / package.name)
        for format, path in documents(Path(name) / "files"):
            count = counts.setdefault(format, [0, 0, 0])
            count[0] += 1
            try:
                wrong = problem(read_bytes(path), format, path.name)
            except SpecdecError as error:
                count[1] += 1
                print(f"refused: {error}")
                continue
            if wrong:
                count[2] += 1
                print(f"wrong: {path}: {wrong}")
    for format, (files, refused, wrong_files) in sorted(counts.items()):
        print(f"{format}: {files} files, {refused} refused, {wrong_files} wrong")


if __name__ == "__main__":
    main()
