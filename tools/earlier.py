"""`python -m tools.earlier DATA`: measure drafts from earlier translations, into docs/results/memories/en-de.json.

DATA is the folder of data sets. Three things are measured with the shipped model for German:

- previous: a text of which every tenth sentence differs in a word from its old version, whose translation is the model's
  own output, or a person's;
- memory: dev sets with the training text, translated by people, as translation memory;
- size: the time to index and to open a memory of a million entries, and to search it.

Drafts and greedy decoding take turns, with the default number of threads and one sentence at a time; times are medians.
Takes about ten minutes.
"""

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any

from specdec_cli.benchmark.environment import describe_environment
from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.engines.native import NativeEngine
from specdec_cli.files import write_json
from specdec_cli.memories.found import DraftFinder
from specdec_cli.memories.opening import open_memory
from specdec_cli.memories.pairs import Entry
from specdec_cli.memories.previous import PreviousVersion
from specdec_cli.model.bundle_description import describe_bundle
from specdec_cli.opening.models import SHIPPED
from specdec_cli.pipeline.draft_gate import DraftGate
from specdec_cli.pipeline.drafts import Drafts
from specdec_cli.pipeline.translator import Translation, Translator
from specdec_cli.text.corpus.parallel import Pair, read_tsv
from tools.pages import DOCS
from tools.tables import markdown

RESULT = DOCS / "results" / "memories" / "en-de.json"
SEED = 19
SIMILARITY = 60.0
"""The default of -s."""
CHANGED = 10
"""Every 10th sentence differs between the versions."""
SENTENCES = 300
REPETITIONS = 5
ENTRIES = 1_000_000


class Timed:
    """Translates by greedy decoding and with drafts, in turn, and compares time and output."""

    def __init__(self, threads: int) -> None:
        self.bundle = describe_bundle(SHIPPED / "en-de", "", "")
        settings = resolve(DecodingOptions(decoding="greedy", batch_size=1), self.bundle)
        self._engine = NativeEngine(self.bundle, settings, threads)

    def translate(self, sources: Sequence[str], finder: DraftFinder | None = None) -> tuple[float, list[Translation]]:
        """The seconds and the translations of `sources`, each one sentence; with the drafts of `finder`."""
        translator = self._translator()
        if finder is not None:
            translator.use_drafts(Drafts(finder, DraftGate.for_batches(1)))
        start = time.perf_counter()
        found = [*translator.translate(sources)]
        return time.perf_counter() - start, found

    def sentences(self, lines: Sequence[str]) -> list[str]:
        """The text of each line that is translated, without marks such as bullets."""
        return self._translator().sentences(lines)

    def _translator(self) -> Translator:
        return Translator(self._engine, self.bundle.tokenizer, split=False)

    def compare(self, sources: Sequence[str], finder: Callable[[], DraftFinder]) -> dict[str, Any]:
        """Speedup over greedy decoding, and what became of the drafts; `finder` makes what finds them, for each repetition."""
        times: dict[str, list[float]] = {"greedy": [], "drafts": []}
        for _ in range(REPETITIONS):
            greedy, expected = self.translate(sources)
            drafts, found = self.translate(sources, finder())
            times["greedy"].append(greedy)
            times["drafts"].append(drafts)
        uses = [each.draft for each in found if each.draft is not None]
        milliseconds = {name: 1000 * statistics.median(each) / len(sources) for name, each in times.items()}
        return {
            "sentences": len(sources),
            "with_draft": len(uses),
            "accepted": sum(use.accepted for use in uses) / max(sum(use.tokens for use in uses), 1),
            "ms_a_sentence": {name: round(value, 3) for name, value in milliseconds.items()},
            "speedup": round(milliseconds["greedy"] / milliseconds["drafts"], 3),
            "identical": sum(one.text == other.text for one, other in zip(expected, found, strict=True)),
        }


def other_version(sentences: Sequence[str], generator: random.Random) -> list[str]:
    """The sentences; in every CHANGED-th one, a word is replaced by one of the text."""
    words = sorted({word for sentence in sentences for word in sentence.split()})

    def changed(sentence: str) -> str:
        parts = sentence.split()
        parts[generator.randrange(len(parts))] = generator.choice(words)
        return " ".join(parts)

    return [changed(each) if number % CHANGED == 0 else each for number, each in enumerate(sentences)]


def measure(data: Path, threads: int) -> Iterator[dict[str, Any]]:
    """Measure everything, and yield a record of each result."""
    timed = Timed(threads)
    texts = {path.stem.split(".")[1]: list(read_tsv(path))[:SENTENCES] for path in sorted((data / "en-de").glob("dev.*.tsv"))}
    for name, pairs in texts.items():
        new = [pair.source for pair in pairs]
        old = other_version(new, random.Random(f"{SEED} {name}"))
        own = [each.text for each in timed.translate(old)[1]]
        for author, targets in (("the model", own), ("a person", [pair.target for pair in pairs])):
            entries = [Entry(source, target) for source, target in zip(old, targets, strict=True)]
            yield {"kind": "previous", "text": name, "old_target": author} | timed.compare(
                new, partial(PreviousVersion, [(entries, timed.sentences(new))], SIMILARITY)
            )
    with tempfile.TemporaryDirectory(prefix="specdec-") as folder:
        memory = Path(folder) / "memory.tsv"
        training = chain.from_iterable(read_tsv(path) for path in sorted((data / "en-de").glob("train*.tsv.xz")))
        write_memory(memory, training, ENTRIES)
        yield from _memory(timed, memory, texts)


def write_memory(path: Path, pairs: Iterator[Pair], entries: int) -> None:
    """Write a memory of the `pairs` and, up to the number of `entries`, of pairs of them that follow one another."""
    known = list(pairs)
    longer = (Pair(f"{one.source} {two.source}", f"{one.target} {two.target}") for one, two in pairwise(known))
    with path.open("w", encoding="utf-8") as file:
        for pair in islice(chain(known, longer), entries):
            file.write(f"{pair.source}\t{pair.target}\n")


def _memory(timed: Timed, path: Path, texts: dict[str, list[Pair]]) -> Iterator[dict[str, Any]]:
    """Index the memory `path`, open it again, and use it for `texts`."""
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        memory = open_memory(path, timed.bundle.info.source_language, timed.bundle.info.target_language, SIMILARITY)
        seconds.append(round(time.perf_counter() - start, 3))
    sources = timed.sentences([pair.source for pairs in texts.values() for pair in pairs])
    start = time.perf_counter()
    memory.find(sources)
    searched = 1000 * (time.perf_counter() - start) / len(sources)
    yield {"kind": "size", "entries": len(memory), "index_s": seconds[0], "open_s": seconds[1], "search_ms": round(searched, 3)}
    for name, pairs in texts.items():
        yield {"kind": "memory", "text": name} | timed.compare([pair.source for pair in pairs], lambda: memory)


def previous_table() -> str:
    """The Markdown table of drafts from the previous version."""
    rows = [(each["text"], each["old_target"], *_cells(each)) for each in _rows("previous")]
    return markdown(("text", "old translation by", *_COLUMNS), rows, 2)


def memory_table() -> str:
    """The Markdown table of drafts from a large translation memory."""
    return markdown(("text", *_COLUMNS), [(each["text"], *_cells(each)) for each in _rows("memory")], 1)


def size_table() -> str:
    """The Markdown table of the times that a large memory takes."""
    rows = [tuple(f"{each[key]:,}" for key in ("entries", "index_s", "open_s", "search_ms")) for each in _rows("size")]
    columns = ("entries", "index made, once, in s", "opened later in s", "search of a sentence in ms")
    return markdown(columns, rows, 0) + environment()


_COLUMNS = ("sentences", "with a draft", "tokens accepted", "greedy, ms a sentence", "with drafts, ms", "times as fast", "equal output")


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    milliseconds = (f"{row['ms_a_sentence'][name]:.2f}" for name in ("greedy", "drafts"))
    counts = (str(row["sentences"]), str(row["with_draft"]), f"{row['accepted']:.0%}")
    return (*counts, *milliseconds, f"{row['speedup']:.2f}x", f"{row['identical']} of {row['sentences']}")


def environment() -> str:
    """The machine and the date of the stored measurement."""
    known = _stored()["environment"]
    return f"\n{known['cpu']}; {known['cores']} cores; {known['date'][:10]}; medians of {REPETITIONS} repetitions.\n"


def _rows(kind: str) -> list[dict[str, Any]]:
    return [row for row in _stored()["rows"] if row["kind"] == kind]


def _stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RESULT.read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Run the program with the command-line arguments of the process."""
    parser = argparse.ArgumentParser(prog="python -m tools.earlier", description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA", help="folder of data sets: en-de/dev.*.tsv and train*.tsv.xz")
    rows = []
    for row in measure(parser.parse_args().data, int(describe_environment()["cores"])):
        print(json.dumps(row), flush=True)
        rows.append(row)
    RESULT.parent.mkdir(exist_ok=True)
    write_json(RESULT, {"seed": SEED, "environment": describe_environment(), "rows": rows})


if __name__ == "__main__":
    main()
