"""The input of a benchmark: source lines, references or gold corrections, and the scores of outputs."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path

from specdec_cli.benchmark.options import BenchOptions
from specdec_cli.decoding.methods import REWRITING
from specdec_cli.errors import InputError, UsageError
from specdec_cli.metrics.character_edits import CharacterEdit, annotated_edits, character_edits, match_characters, without_spaces
from specdec_cli.metrics.gleu_sari import gleu, sari
from specdec_cli.metrics.max_match import MaxMatch, max_match
from specdec_cli.metrics.scoring import Score, check_rouge, rouge, score
from specdec_cli.metrics.tokenised import Tokenised, detokenise, join_with_spaces
from specdec_cli.model.bundle_info import Task
from specdec_cli.text.corpus.parallel import AnnotatedSentence, read_m2, read_sources, read_tsv
from specdec_cli.text.edits import word_edit_ratio
from specdec_cli.text.io.lines import STDIO, name_of, read_text_lines

SAMPLE = Path(__file__).parent / "sample.en-de.tsv"
"""The built-in sample: TSV of English and German sentences."""
_LANGUAGES = ("en", "de")

Scorer = Callable[[Sequence[str]], Score | None]
"""A function that computes the quality metrics of output lines; None if there is no reference."""


@dataclass(frozen=True)
class Examples:
    """The input of a benchmark: its name, source lines, one reference for each, and source and target language.

    The references are None if there are none, the languages if they are unknown. `score` computes the quality of output lines.
    """

    name: str
    sources: tuple[str, ...]
    references: tuple[str, ...] | None
    languages: tuple[str, str] | None = None
    score: Scorer = field(default=lambda _: None, compare=False)


@dataclass(frozen=True)
class Gold:
    """Sentences to rewrite, with what they are scored against: `references`, lists of one text for each sentence, and `annotated`, the
    sentences with the edits of annotators. Either may be empty.
    """

    sentences: tuple[Tokenised, ...]
    references: tuple[tuple[str, ...], ...] = ()
    annotated: tuple[AnnotatedSentence, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """The raw texts of the sentences, which are the lines to decode."""
        return tuple(sentence.raw for sentence in self.sentences)


def read_input(task: Task, file: Path | None, options: BenchOptions, languages: tuple[str, str] = ("", "")) -> Examples:
    """Read the input of a bench, whose output lines are scored by the metrics of `task`.

    The input is `file` (with references), or the `source` of `options` with its `references`; without both stdin or the built-in sample,
    whose sides are exchanged for the opposite `languages`. Raises UsageError for options that exclude each other or do not fit `task`, and
    InputError for input that is malformed or blank.
    """
    source, references, limit = options.source, options.references or (), options.limit
    by_characters = options.score == "characters"
    if file is not None and source is not None:
        raise UsageError("FILE and --input are alternatives; give one")
    if references and source is None:
        raise UsageError("--reference needs --input")
    if options.keep_tokens and task != "correct":
        raise UsageError("--keep-tokens is for --task correct, whose data sets are tokenised")
    if by_characters and (task != "correct" or source is not None or options.keep_tokens):
        raise UsageError("--score characters is for --task correct with FILE, and not with --keep-tokens")
    unnamed = file is None and source is None
    nothing = unnamed and sys.stdin.isatty()
    if nothing and by_characters:
        raise UsageError("--score characters needs an M2 or TSV file")
    if nothing and task != "translate":
        files = "a TSV file of texts and summaries" if task == "summarise" else "an M2 or TSV file"
        raise UsageError(f"--task {task} needs {files}, or --input with --reference")
    if task not in REWRITING and len(references) > 1:
        raise UsageError(f"--reference: with the task {task} each line has one reference")
    if task == "summarise":
        check_rouge()
    name, path = name_of(source or file or STDIO), file or STDIO
    if nothing:
        examples = read_sample(limit, languages)
    elif by_characters:
        examples = read_characters(path, limit)
    elif task in REWRITING:
        gold = read_gold(path, source, references, limit, keep_tokens=options.keep_tokens or task != "correct")
        examples = Examples(name, gold.sources, None, score=partial(score_correction if task == "correct" else score_simplification, gold))
    else:
        sources, texts = read_texts(path, source, references, limit)
        examples = Examples(name, sources, texts[0] if texts else None)
        if task == "translate" and unnamed and not sources:
            examples = read_sample(limit, languages)
    if examples.references is not None:
        examples = replace(examples, score=partial(rouge if task == "summarise" else score, references=examples.references))
    if not any(line.strip() for line in examples.sources):
        raise InputError(f"{examples.name}: no text to decode")
    return examples


def read_texts(
    file: Path, source: Path | None = None, references: Sequence[Path] = (), limit: int | None = None
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Read the first `limit` (None: all) source lines, and their references (a tuple of lines for each), of the TSV `file`, or of the file
    `source` with the files `references`; the path `-` is stdin.

    Raises InputError for a file that is missing or malformed, and if one ends before the other within these lines.
    """
    if source is None:
        pairs = list(islice(read_tsv(file), limit))
        return tuple(pair.source for pair in pairs), (tuple(pair.target for pair in pairs),)
    sources = tuple(islice(read_sources([source]), limit))
    texts = tuple(tuple(islice(read_text_lines(path), limit)) for path in references)
    for path, text in zip(references, texts, strict=True):
        if len(text) != len(sources):
            shorter, longer = (path, source) if len(text) < len(sources) else (source, path)
            raise InputError(f"{shorter}: ends after line {min(len(text), len(sources))}, but {longer} has more lines")
    return sources, texts


def read_sample(limit: int | None = None, languages: tuple[str, str] = _LANGUAGES) -> Examples:
    """Read the first `limit` pairs (None: all) of the built-in sample of English sentences and German translations.

    For the opposite `languages` the German sentences are the sources.
    """
    sources, (targets,) = read_texts(SAMPLE, limit=limit)
    if languages == _LANGUAGES[::-1]:
        return Examples("built-in sample", targets, sources, languages)
    return Examples("built-in sample", sources, targets, _LANGUAGES)


def read_gold(
    file: Path, source: Path | None = None, references: Sequence[Path] = (), limit: int | None = None, *, keep_tokens: bool = False
) -> Gold:
    """Read at most `limit` tokenised sentences (None: all) with their reference corrections, from the M2 file `file`, or from text files as
    `read_texts` does.

    The sentences to decode are detokenised, unless `keep_tokens`. Raises what `read_texts` raises, and UsageError if `source` is an M2
    file, which includes its corrections.
    """
    join = join_with_spaces if keep_tokens else detokenise
    if source is not None and source.suffix == ".m2":
        raise UsageError(f"{source}: an M2 file contains its corrections; give it as FILE, not as source lines")
    if source is None and file.suffix == ".m2":
        annotated = tuple(islice(read_m2(file), limit))
        return Gold(tuple(join(one.source) for one in annotated), annotated=annotated)
    sources, texts = read_texts(file, source, references, limit)
    return Gold(tuple(join(line.split()) for line in sources), texts)


def read_characters(path: Path, limit: int | None) -> Examples:
    """Read the first `limit` (None: all) sentences and their corrections from an M2 file whose tokens are characters, or from a TSV.

    A line of the TSV is `source TAB reference TAB reference ..`, with at least one reference. The sentences have no white space. Outputs
    are scored by edits of characters: "precision", "recall", "f05" and "edit_ratio". Raises InputError for a file that is missing or
    malformed.
    """
    sources: list[str] = []
    edits: list[tuple[frozenset[CharacterEdit], ...]] = []
    if path.suffix == ".m2":
        for one in islice(read_m2(path), limit):
            sources.append("".join(one.source))
            edits.append(tuple(annotated_edits(one)))
    else:
        for number, line in enumerate(islice(read_text_lines(path), limit), start=1):
            source, *references = map(without_spaces, line.split("\t"))
            if not references:
                raise InputError(f"{path}, line {number}: no tab-separated reference")
            sources.append(source)
            edits.append(tuple(character_edits(source, reference) for reference in references))

    def scorer(texts: Sequence[str]) -> Score:
        return Score(_shares(match_characters(sources, texts, edits)) | {"edit_ratio": _mean_edit_ratio(sources, texts)}, {})

    return Examples(name_of(path), tuple(sources), None, score=scorer)


def score_correction(gold: Gold, texts: Sequence[str]) -> Score:
    """Score the corrected lines `texts`: GLEU if `gold` has references, MaxMatch (precision, recall, F0.5) if it has annotators.

    The edit ratio, the mean over lines, is always computed. The keys are "gleu", "precision", "recall", "f05" and "edit_ratio".
    """
    tokens = [" ".join(sentence.edit(text)) for sentence, text in zip(gold.sentences, texts, strict=True)]
    values = {"edit_ratio": _mean_edit_ratio(gold.sources, texts)}
    if gold.references:
        values["gleu"] = gleu([" ".join(sentence.tokens) for sentence in gold.sentences], tokens, gold.references)
    if gold.annotated:
        values |= _shares(max_match(tokens, gold.annotated))
    return Score(values, {})


def score_simplification(gold: Gold, texts: Sequence[str]) -> Score:
    """Score the simplified lines `texts`: SARI and BLEU with all references, if there are any, and the mean edit ratio.

    The keys are "sari", "bleu" and "edit_ratio".
    """
    from sacrebleu.metrics.bleu import BLEU

    values, signatures = {"edit_ratio": _mean_edit_ratio(gold.sources, texts)}, {}
    if gold.references:
        bleu = BLEU()
        values["sari"] = sari(gold.sources, texts, gold.references).score
        values["bleu"] = bleu.corpus_score(list(texts), [list(text) for text in gold.references]).score
        signatures["bleu"] = str(bleu.get_signature())
    return Score(values, signatures)


def _shares(matched: MaxMatch) -> dict[str, float]:
    return {"precision": matched.precision, "recall": matched.recall, "f05": matched.f05}


def _mean_edit_ratio(sources: Sequence[str], texts: Sequence[str]) -> float:
    """The mean over lines of `word_edit_ratio`, the word edit distance from source to output divided by the words of the source."""
    ratios = [word_edit_ratio(source, text) for source, text in zip(sources, texts, strict=True)]
    return sum(ratios) / max(len(ratios), 1)
