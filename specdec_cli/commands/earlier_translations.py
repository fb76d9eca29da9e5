"""Drafts from earlier translations for `specdec translate`: opening what finds them, and what is said of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specdec_cli.commands.options.drafts import DraftOptions
from specdec_cli.documents.names import DOCUMENTS, TEXT, Format, format_of
from specdec_cli.errors import InputError, UsageError
from specdec_cli.model.bundle_info import BundleInfo
from specdec_cli.pipeline.draft_gate import DraftGate
from specdec_cli.pipeline.drafts import Drafts, DraftUse
from specdec_cli.text.corpus.parallel import Pair, read_aligned
from specdec_cli.text.io.lines import read_lines
from specdec_cli.text.segment.paragraphs import join_wrapped

if TYPE_CHECKING:
    from specdec_cli.memories.pairs import Entry


@dataclass
class DraftTotals:
    """Counts over all lines: sentences that had a draft, the sum of their similarities, sentences that were copied; tokens
    of the sentences that were decoded from drafts, and how many of these were accepted from them.
    """

    origin: str = ""
    sentences: int = 0
    similarity: float = 0.0
    copied: int = 0
    tokens: int = 0
    accepted: int = 0

    def add(self, use: DraftUse | None) -> None:
        """Count the drafts of a line."""
        if use is None:
            return
        self.origin = use.origin
        self.sentences += len(use.similarities)
        self.similarity += sum(use.similarities)
        self.copied += use.copied
        self.tokens += use.tokens
        self.accepted += use.accepted

    def in_words(self, sentences: int) -> str:
        """One line for --stats, of `sentences` that were translated."""
        if not self.sentences:
            return f"for 0 of {sentences:,} sentences"
        found = f"{self.origin}, for {self.sentences:,} of {sentences:,} sentences, {self.similarity / self.sentences:.1f} % similar"
        copied = f", {self.copied:,} copied" if self.copied else ""
        return f"{found}{copied}, {self.accepted:,} of {self.tokens:,} tokens accepted"


def open_drafts(
    options: DraftOptions, info: BundleInfo, batch_size: int, sentences: Sequence[str], format: Format | None, *, split: bool
) -> Drafts:
    """Open the memory or the earlier version that `options` name, for batches of at most `batch_size` sentences.

    `sentences` are those of the whole new text, for an earlier version; this has the `format` (None: by the ending of its
    source's name). Without `split`, a line is one sentence. Raises InputError for files that cannot be read or do not belong
    together, and UsageError for two formats, and if a library is not installed.
    """
    # Imported here because they import numpy, which other runs do not need.
    from specdec_cli.memories.opening import open_memory
    from specdec_cli.memories.pairs import sentence_pairs
    from specdec_cli.memories.previous import PreviousVersion

    gate, copies = DraftGate.for_batches(batch_size), options.exact_matches == "copy"
    if options.previous is not None:
        pairs = _previous_pairs(*options.previous, format or format_of(options.previous[0]), given=format is not None)
        old = list(sentence_pairs(pairs, split=split, whole=not split))
        return Drafts(PreviousVersion([(old, sentences)], options.least_similarity), gate, copies)
    assert options.tm
    return Drafts(open_memory(options.tm[0], info.source_language, info.target_language, options.least_similarity), gate, copies)


def _previous_pairs(source: Path, target: Path, format: Format, *, given: bool) -> "Iterable[Pair | Entry]":
    """The texts of the earlier version with their translations; `given` if both files have the `format` that the user gave."""
    other = format_of(target)
    if format == TEXT:
        return _paragraph_pairs(source, target)
    if format not in DOCUMENTS:
        return read_aligned(source, target)
    if not given and other in DOCUMENTS and other != format:
        raise UsageError(f"--previous: {source} is {format} and {target} is {other}; give two files of one format, or --format")
    from specdec_cli.documents.translated_pairs import translated_pairs

    return translated_pairs(source, target, format)


def _paragraph_pairs(source: Path, target: Path) -> "Iterable[Pair]":
    """Pair the first paragraph of `source` with the first one of `target`, and so on. Their line breaks may differ.

    Raises InputError if the two files have different numbers of paragraphs.
    """
    paragraphs = [[line.text for line in join_wrapped(read_lines([path])) if line.text.strip()] for path in (source, target)]
    if len(paragraphs[0]) != len(paragraphs[1]):
        raise InputError(f"{target}: the number of paragraphs is {len(paragraphs[1])}, but {len(paragraphs[0])} in {source}")
    return list(map(Pair, *paragraphs))


def draft_fields(use: DraftUse | None) -> dict[str, Any]:
    """The fields of --json about the drafts of a line; none if it had no draft."""
    if use is None:
        return {}
    return {"draft": use.origin, "similarity": round(use.similarity, 1), "accepted": use.accepted}
