"""Whole sentences of a line, for which drafts are found, and the pieces of long ones, which are decoded from these drafts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from specdec_cli.memories.found import FoundDraft
from specdec_cli.pipeline.decoded_text import DecodedText
from specdec_cli.text.segment.sentences import Segments


@dataclass(frozen=True)
class WholeSentence:
    """A sentence of a line as it is before it is cut: its text, the offset of its end in the line, and the draft that was found for
    it; if that is `copied`, it becomes the output.
    """

    text: str
    end: int
    draft: FoundDraft | None
    copied: bool


def whole_sentences(
    segments: Segments, found: Iterator[FoundDraft | None], copies: Callable[[str, FoundDraft], bool]
) -> list[WholeSentence]:
    """The texts of `segments` with the next drafts of `found`, of which `copies` says whether they are the output for a text."""
    sentences = []
    for text, start in zip(segments.texts, segments.starts(), strict=True):
        draft = next(found)
        sentences.append(WholeSentence(text, start + len(text), draft, draft is not None and copies(text, draft)))
    return sentences


def without_cuts(sentences: Sequence[WholeSentence]) -> set[str]:
    """The texts of the sentences that need no limit of their length, as they are copied."""
    return {each.text for each in sentences if each.copied} - {each.text for each in sentences if not each.copied}


def give_drafts(sentences: Sequence[WholeSentence], segments: Segments, texts: Sequence[DecodedText]) -> None:
    """Give each of the `texts` of a line, cut as in `segments`, the draft of the sentence that it is, or is a piece of.

    The whole translation is the draft of a piece, too: what belongs to other pieces is not accepted.
    """
    following = iter(sentences)
    sentence = next(following, None)
    for text, start in zip(texts, segments.starts(), strict=True):
        while sentence is not None and sentence.end <= start:
            sentence = next(following, None)
        if sentence is not None:
            text.take_draft(sentence.draft, copied=sentence.copied and sentence.text == text.text)
