"""How often the types of errors are those of a file in M2 format: `python -m tools.error_types FILE.m2`."""

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from specdec_cli.error_types.rules import error_type
from specdec_cli.error_types.tagging import tagged


def typed_edits(text: str) -> Iterator[tuple[str, str]]:
    """Yield, for each edit of an M2 file, the type that the file gives and the type by the rules."""
    for block in text.split("\n\n"):
        sentence, *annotations = block.strip().split("\n")
        source = sentence.split(" ")[1:]
        by_annotator = defaultdict(list)
        for line in annotations:
            span, type, correction, *_, annotator = line.removeprefix("A ").split("|||")
            if type != "noop":
                start, end = map(int, span.split(" "))
                by_annotator[annotator].append((start, end, correction.replace("-NONE-", "").split(), type))
        for edits in by_annotator.values():
            target: list[str] = []
            places, position = [], 0
            for start, end, words, _ in sorted(edits):
                target += source[position:start]
                places.append((len(target), len(target) + len(words)))
                target += words
                position = end
            before, after = tagged(source), tagged([*target, *source[position:]])
            for (start, end, _, type), (first, last) in zip(sorted(edits), places, strict=True):
                yield type, error_type(before[start:end], after[first:last])


def main() -> None:
    """Print how many edits have the type that the file gives: of all edits, and of those whose type in the file is not OTHER."""
    pairs = list(typed_edits(Path(sys.argv[1]).read_text(encoding="utf-8")))
    for name, chosen in (("all edits", pairs), ("without OTHER", [pair for pair in pairs if not pair[0].endswith(":OTHER")])):
        same = sum(given == found for given, found in chosen)
        print(f"{name}: {same} of {len(chosen)} types agree, {100 * same / max(len(chosen), 1):.1f}%")


if __name__ == "__main__":
    main()
