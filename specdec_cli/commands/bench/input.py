"""The input of `specdec bench`, and the functions that score outputs for it."""

import sys
from collections.abc import Sequence
from pathlib import Path

from specdec_cli.benchmark.examples import Examples, read_files, read_sample, read_table
from specdec_cli.benchmark.rewriting import (
    read_character_gold,
    read_gold,
    read_lines_gold,
    score_characters,
    score_correction,
    score_simplification,
)
from specdec_cli.benchmark.summary import Scorer
from specdec_cli.distillation.texts import read_sources
from specdec_cli.errors import InputError, UsageError
from specdec_cli.metrics.scoring import Score, score
from specdec_cli.model.bundle_info import Task
from specdec_cli.text.io.lines import STDIO


def read_input(
    task: Task,
    file: Path | None,
    source: Path | None,
    references: Sequence[Path],
    limit: int | None,
    keep_tokens: bool,
    by_characters: bool = False,
    languages: tuple[str, str] = ("", ""),
) -> tuple[Examples, Scorer]:
    """Read the input of a bench; return it with the function that scores output lines by the metrics of `task`.

    The input is `file` (with references), or the lines of `source`, or its source column, with `references`; None for both means stdin or
    the built-in sample, whose sides are exchanged for the opposite `languages`. With `by_characters`, corrections are scored by edits of
    characters. Raises UsageError for arguments that exclude
    each other or do not fit `task`, and InputError for input that is malformed or blank.
    """
    if file is not None and source is not None:
        raise UsageError("FILE and --input are alternatives; give one")
    if references and source is None:
        raise UsageError("--reference needs --input")
    if keep_tokens and task != "correct":
        raise UsageError("--keep-tokens is for --task correct, whose data sets are tokenised")
    if by_characters and (task != "correct" or source is not None or keep_tokens):
        raise UsageError("--score characters is for --task correct with FILE, and not with --keep-tokens")
    if by_characters:
        examples, scorer = _characters(file, limit)
    elif task in ("translate", "summarise"):
        examples, scorer = _one_reference(task, file, source, references, limit, languages)
    else:
        examples, scorer = _rewriting(task, file, source, references, limit, keep_tokens)
    if examples.blank:
        raise InputError(f"{examples.name}: no text to decode")
    return examples, scorer


def _one_reference(
    task: Task, file: Path | None, source: Path | None, references: Sequence[Path], limit: int | None, languages: tuple[str, str]
) -> tuple[Examples, Scorer]:
    if len(references) > 1:
        raise UsageError(f"--reference: with the task {task} each line has one reference")
    scores = score
    if task == "summarise":
        from specdec_cli.metrics.rouge import check_rouge, rouge

        check_rouge()
        scores = rouge
    if source is not None:
        examples = read_files(source, read_sources([source]), references[0] if references else None, limit)
    elif file is not None:
        examples = read_table(file, limit)
    elif sys.stdin.isatty() and task == "translate":
        examples = read_sample(limit, languages)
    elif sys.stdin.isatty():
        raise UsageError(f"--task {task} needs a TSV file of texts and summaries, or --input with --reference")
    else:
        examples = read_table(STDIO, limit)
        if not examples.sources and task == "translate":
            examples = read_sample(limit, languages)
    right = examples.references
    return examples, lambda texts: None if right is None else scores(texts, right)


def _characters(file: Path | None, limit: int | None) -> tuple[Examples, Scorer]:
    if file is None and sys.stdin.isatty():
        raise UsageError("--score characters needs an M2 or TSV file")
    gold = read_character_gold(file or STDIO, limit)
    return Examples(str(file or "stdin"), gold.sources, None), lambda texts: score_characters(gold, texts)


def _rewriting(
    task: Task, file: Path | None, source: Path | None, references: Sequence[Path], limit: int | None, keep_tokens: bool
) -> tuple[Examples, Scorer]:
    if file is None and source is None and sys.stdin.isatty():
        raise UsageError(f"--task {task} needs an M2 or TSV file, or --input with --reference")
    kept = keep_tokens or task != "correct"
    if source is not None:
        gold = read_lines_gold(source, read_sources([source]), references, limit, kept)
    else:
        gold = read_gold(file or STDIO, limit, kept)
    scores = score_correction if task == "correct" else score_simplification

    def scorer(texts: Sequence[str]) -> Score:
        return scores(gold, texts)

    return Examples(str(source or file or "stdin"), gold.sources, None), scorer
