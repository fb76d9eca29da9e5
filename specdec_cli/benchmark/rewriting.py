"""Rewriting tasks: sources, what a rewritten text is held to, and its scores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from specdec_cli.errors import InputError, UsageError
from specdec_cli.metrics.gleu import gleu
from specdec_cli.metrics.m2 import AnnotatedSentence, read_m2
from specdec_cli.metrics.max_match import max_match
from specdec_cli.metrics.sari import sari
from specdec_cli.metrics.scoring import Score
from specdec_cli.metrics.tokenised import Tokenised, detokenise, join_with_spaces
from specdec_cli.text.edits import word_edit_ratio
from specdec_cli.text.lines import read_text_lines
from specdec_cli.text.parallel import read_tsv

Join = Callable[[Sequence[str]], Tokenised]


@dataclass(frozen=True)
class Gold:
    """Sentences to rewrite, and what is right: whole reference texts, or annotators' edits."""

    sentences: tuple[Tokenised, ...]
    references: tuple[tuple[str, ...], ...] = ()
    annotated: tuple[AnnotatedSentence, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """The lines to decode."""
        return tuple(sentence.raw for sentence in self.sentences)


def read_gold(path: Path, limit: int | None, keep_tokens: bool) -> Gold:
    """The first `limit` sentences of tokenised text with their corrections, joined unless `keep_tokens`: M2, else TSV.

    Raises InputError for what cannot be read.
    """
    join: Join = join_with_spaces if keep_tokens else detokenise
    if path.suffix == ".m2":
        annotated = tuple(islice(read_m2(path), limit))
        return Gold(tuple(join(one.source) for one in annotated), annotated=annotated)
    pairs = list(islice(read_tsv(path), limit))
    return Gold(tuple(join(pair.source.split()) for pair in pairs), (tuple(pair.target for pair in pairs),))


def read_lines_gold(source: Path, references: Sequence[Path], limit: int | None, keep_tokens: bool) -> Gold:
    """The first `limit` lines of tokenised text and of its references, line by line, joined unless `keep_tokens`.

    Raises InputError for another number of lines, UsageError for a source that has its corrections in it.
    """
    if source.suffix == ".m2":
        raise UsageError(f"{source}: an M2 file has its corrections in it; give it as FILE, not as source lines")
    join: Join = join_with_spaces if keep_tokens else detokenise
    lines = list(islice(read_text_lines(source), limit))
    texts = [tuple(islice(read_text_lines(path), limit)) for path in references]
    for path, text in zip(references, texts, strict=True):
        if len(text) != len(lines):
            raise InputError(f"{path}: {len(text)} lines, but {source} has {len(lines)}")
    return Gold(tuple(join(line.split()) for line in lines), tuple(texts))


def score_correction(gold: Gold, texts: Sequence[str]) -> Score:
    """GLEU by references, MaxMatch by annotators, and the edit ratio, of corrected lines."""
    tokens = [" ".join(sentence.edit(text)) for sentence, text in zip(gold.sentences, texts, strict=True)]
    values = {"edit_ratio": mean_edit_ratio(gold.sources, texts)}
    if gold.references:
        values["gleu"] = gleu([" ".join(sentence.tokens) for sentence in gold.sentences], tokens, gold.references)
    if gold.annotated:
        matched = max_match(tokens, gold.annotated)
        values |= {"precision": matched.precision, "recall": matched.recall, "f05": matched.f05}
    return Score(values, {})


def score_simplification(gold: Gold, texts: Sequence[str]) -> Score:
    """SARI by all references, and BLEU against all of them at once, of simplified lines."""
    from sacrebleu.metrics.bleu import BLEU

    values, signatures = {"edit_ratio": mean_edit_ratio(gold.sources, texts)}, {}
    if gold.references:
        bleu = BLEU()
        values["sari"] = sari(gold.sources, texts, gold.references).score
        values["bleu"] = bleu.corpus_score(list(texts), [list(text) for text in gold.references]).score
        signatures["bleu"] = str(bleu.get_signature())
    return Score(values, signatures)


def mean_edit_ratio(sources: Sequence[str], texts: Sequence[str]) -> float:
    """The mean over lines of the word edit distance over the words of the source."""
    ratios = [word_edit_ratio(source, text) for source, text in zip(sources, texts, strict=True)]
    return sum(ratios) / max(len(ratios), 1)
