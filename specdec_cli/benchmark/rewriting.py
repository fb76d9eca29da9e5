"""Test data and scores of the tasks that rewrite text (correction, simplification)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from specdec_cli.benchmark.examples import read_references
from specdec_cli.errors import InputError, UsageError
from specdec_cli.metrics.character_edits import CharacterEdit, annotated_edits, character_edits, match_characters, without_spaces
from specdec_cli.metrics.gleu import gleu
from specdec_cli.metrics.max_match import max_match
from specdec_cli.metrics.sari import sari
from specdec_cli.metrics.scoring import Score
from specdec_cli.metrics.tokenised import Tokenised, detokenise, join_with_spaces
from specdec_cli.text.corpus.parallel import AnnotatedSentence, read_m2, read_tsv
from specdec_cli.text.edits import word_edit_ratio
from specdec_cli.text.io.lines import read_text_lines

Join = Callable[[Sequence[str]], Tokenised]


@dataclass(frozen=True)
class Gold:
    """Sentences to rewrite, with reference texts or edits of annotators.

    Each of `references` has a text for each sentence; `annotated` has the annotated form of each sentence. Either may be empty.
    """

    sentences: tuple[Tokenised, ...]
    references: tuple[tuple[str, ...], ...] = ()
    annotated: tuple[AnnotatedSentence, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """The raw texts of the sentences, which are the lines to decode."""
        return tuple(sentence.raw for sentence in self.sentences)


def read_gold(path: Path, limit: int | None, keep_tokens: bool) -> Gold:
    """Read the first `limit` (None: all) tokenised sentences and their corrections from an M2 or TSV file.

    The sentences to decode are detokenised, unless `keep_tokens`. Raises InputError for a file that is missing or malformed.
    """
    join: Join = join_with_spaces if keep_tokens else detokenise
    if path.suffix == ".m2":
        annotated = tuple(islice(read_m2(path), limit))
        return Gold(tuple(join(one.source) for one in annotated), annotated=annotated)
    pairs = list(islice(read_tsv(path), limit))
    return Gold(tuple(join(pair.source.split()) for pair in pairs), (tuple(pair.target for pair in pairs),))


def read_lines_gold(source: Path, lines: Iterable[str], references: Sequence[Path], limit: int | None, keep_tokens: bool) -> Gold:
    """The first `limit` (None: all) of `lines`, the tokenised sources in the file `source`, and as many lines of each of `references`.

    The sentences to decode are detokenised, unless `keep_tokens`. Raises InputError for unequal numbers of lines, and UsageError if
    `source` is an M2 file, which includes its corrections.
    """
    if source.suffix == ".m2":
        raise UsageError(f"{source}: an M2 file contains its corrections; give it as FILE, not as source lines")
    join: Join = join_with_spaces if keep_tokens else detokenise
    sentences = tuple(join(line.split()) for line in islice(lines, limit))
    return Gold(sentences, read_references(source, len(sentences), references, limit))


@dataclass(frozen=True)
class CharacterGold:
    """Sentences to correct, without white space, and for each the edits of characters of each annotator (at least one)."""

    sources: tuple[str, ...]
    edits: tuple[tuple[frozenset[CharacterEdit], ...], ...]


def read_character_gold(path: Path, limit: int | None) -> CharacterGold:
    """Read the first `limit` (None: all) sentences and their corrections from an M2 file whose tokens are characters, or from a TSV.

    A line of the TSV is `source TAB reference TAB reference ..`, with at least one reference. Raises InputError for a file that is
    missing or malformed.
    """
    if path.suffix == ".m2":
        annotated = list(islice(read_m2(path), limit))
        return CharacterGold(tuple("".join(one.source) for one in annotated), tuple(tuple(annotated_edits(one)) for one in annotated))
    sources, edits = [], []
    for number, line in enumerate(islice(read_text_lines(path), limit), start=1):
        source, *references = map(without_spaces, line.split("\t"))
        if not references:
            raise InputError(f"{path}, line {number}: no tab-separated reference")
        sources.append(source)
        edits.append(tuple(character_edits(source, reference) for reference in references))
    return CharacterGold(tuple(sources), tuple(edits))


def score_characters(gold: CharacterGold, texts: Sequence[str]) -> Score:
    """Score the corrected lines `texts` by edits of characters; the keys are "precision", "recall", "f05" and "edit_ratio"."""
    matched = match_characters(gold.sources, texts, gold.edits)
    values = {"precision": matched.precision, "recall": matched.recall, "f05": matched.f05}
    return Score(values | {"edit_ratio": mean_edit_ratio(gold.sources, texts)}, {})


def score_correction(gold: Gold, texts: Sequence[str]) -> Score:
    """Score the corrected lines `texts`: GLEU if `gold` has references, MaxMatch (precision, recall, F0.5) if it has annotators.

    The edit ratio, the mean over lines, is always computed. The keys are "gleu", "precision", "recall", "f05" and "edit_ratio".
    """
    tokens = [" ".join(sentence.edit(text)) for sentence, text in zip(gold.sentences, texts, strict=True)]
    values = {"edit_ratio": mean_edit_ratio(gold.sources, texts)}
    if gold.references:
        values["gleu"] = gleu([" ".join(sentence.tokens) for sentence in gold.sentences], tokens, gold.references)
    if gold.annotated:
        matched = max_match(tokens, gold.annotated)
        values |= {"precision": matched.precision, "recall": matched.recall, "f05": matched.f05}
    return Score(values, {})


def score_simplification(gold: Gold, texts: Sequence[str]) -> Score:
    """Score the simplified lines `texts`: SARI and BLEU with all references, if there are any, and the mean edit ratio.

    The keys are "sari", "bleu" and "edit_ratio".
    """
    from sacrebleu.metrics.bleu import BLEU

    values, signatures = {"edit_ratio": mean_edit_ratio(gold.sources, texts)}, {}
    if gold.references:
        bleu = BLEU()
        values["sari"] = sari(gold.sources, texts, gold.references).score
        values["bleu"] = bleu.corpus_score(list(texts), [list(text) for text in gold.references]).score
        signatures["bleu"] = str(bleu.get_signature())
    return Score(values, signatures)


def mean_edit_ratio(sources: Sequence[str], texts: Sequence[str]) -> float:
    """The mean over lines of `word_edit_ratio`, the word edit distance from source to output divided by the words of the source."""
    ratios = [word_edit_ratio(source, text) for source, text in zip(sources, texts, strict=True)]
    return sum(ratios) / max(len(ratios), 1)
