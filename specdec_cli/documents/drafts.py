"""Drafts that a document itself has: the translations of earlier versions of its texts."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec

from specdec_cli.documents.document import Document
from specdec_cli.memories import SIMILARITY
from specdec_cli.pipeline.draft_gate import DraftGate
from specdec_cli.pipeline.drafts import Drafts
from specdec_cli.text.corpus.parallel import Pair


def drafts_of_document(
    document: Document, sentences: Callable[[Sequence[str]], Sequence[str]], batch_size: int, *, split: bool
) -> Drafts | None:
    """What finds the drafts that a message catalogue itself has: the translations of previous sources of its fuzzy entries.

    `sentences` returns those of texts; without `split`, a text is one sentence. None for a document without such entries, or if
    RapidFuzz is not installed.
    """
    from specdec_cli.documents.po import Catalogue

    earlier = list(document.earlier()) if isinstance(document, Catalogue) else []
    if not earlier or find_spec("rapidfuzz") is None:
        return None
    from specdec_cli.memories.pairs import sentence_pairs
    from specdec_cli.memories.previous import PreviousVersion

    old = (sentence_pairs((Pair(*each) for each in pairs), split=split, whole=not split) for pairs, _ in earlier)
    passages = ((list(pairs), sentences(new)) for pairs, (_, new) in zip(old, earlier, strict=True))
    return Drafts(PreviousVersion(passages, SIMILARITY), DraftGate.for_batches(batch_size))
