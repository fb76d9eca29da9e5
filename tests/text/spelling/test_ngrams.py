"""Word n-grams: probabilities, files, and damaged files."""

import math
import random
from collections import Counter
from pathlib import Path

import pytest

from specdec_cli.errors import InputError, ModelError
from specdec_cli.text.corpus.ngram_counting import count_ngrams
from specdec_cli.text.edits import Edit, apply_edits, find_edits
from specdec_cli.text.spelling.ngrams import FILE, HEADER, NgramModel
from tests.conftest import make_lines

USUAL = ["She does not know.", "He does not care.", "They do not know.", "We do not care.", "It does not know."] * 4


def probability(text: list[str], context: tuple[str, ...], word: str) -> float:
    """The probability of `word` after `context` by its definition, with exact counts of all n-grams that occur twice, rounded as stored."""
    counts = Counter(tuple(text[start : start + size]) for size in (1, 2, 3) for start in range(len(text) - size + 1))
    stored = {ngram: 2 ** (round(1.5 * math.log2(count)) / 1.5) for ngram, count in counts.items() if count > 1}
    found, total = 2.0**-20, float(len(text))
    for size in range(len(context) + 1):
        last = context[len(context) - size :]
        total = stored.get(last, 0.0) if last else total
        count = stored.get((*last, word), 0.0)
        found = (count + 5 * found) / (max(count, total) + 5)
    return found


def log_probability(text: list[str], sentence: str) -> float:
    words = ["<s>", "<s>", *sentence.split(), "</s>"]
    return sum(math.log(probability(text, tuple(words[place - 2 : place]), words[place])) for place in range(2, len(words)))


def ratio_of(model: NgramModel, before: str, after: str) -> float:
    return model.log_ratio(before, Edit(0, len(before), before, after))


def test_ratios_are_those_of_the_definition() -> None:
    lines = make_lines(300, seed=3)
    text = [word for line in lines for word in ("<s>", "<s>", *line.split(), "</s>")]
    model = count_ngrams(lines)
    pairs = list(zip(lines, make_lines(60, seed=8), strict=False))
    expected = [log_probability(text, other) - log_probability(text, line) for line, other in pairs]
    equal = sum(ratio_of(model, *pair) == pytest.approx(ratio, abs=1e-9) for pair, ratio in zip(pairs, expected, strict=True))
    assert equal >= 0.7 * len(pairs), "one of 300 n-grams that were not counted has the hash of another"


def test_an_edit_has_the_ratio_of_the_whole_sentences() -> None:
    lines = make_lines(300, seed=3)
    model = count_ngrams(lines)
    compared = 0
    for line, other in zip(lines, make_lines(300, seed=8), strict=True):
        sentence, changed = f" {line}  {other}, {line}", f" {line}  {other[:-1]}xy  z, {line}"
        edits = find_edits(sentence, changed) + find_edits(sentence, f"{other} {sentence}") + find_edits(sentence, f"{sentence} ka?")
        for edit in edits:
            assert model.log_ratio(sentence, edit) == pytest.approx(ratio_of(model, sentence, apply_edits(sentence, [edit])), abs=1e-9)
            compared += 1
    assert compared >= 900


def test_usual_phrases_are_more_probable() -> None:
    model = count_ngrams(USUAL)
    assert ratio_of(model, "He do not know.", "He does not know.") > 1
    assert ratio_of(model, "He does not know.", "He do not know.") < -1
    assert ratio_of(model, "He does not know.", "He does not know.") == 0
    assert ratio_of(model, "Room 12", "Room 47") == 0, "digits are equal"


def test_a_model_is_stored_in_a_file(tmp_path: Path) -> None:
    model = count_ngrams(USUAL)
    model.save(tmp_path / FILE)
    assert ratio_of(NgramModel.read(tmp_path / FILE), "He do.", "He does.") == ratio_of(model, "He do.", "He does.")


def test_text_without_sentences_is_refused() -> None:
    with pytest.raises(InputError, match="no sentence"):
        count_ngrams([])


def test_damaged_files_are_refused_or_read(tmp_path: Path) -> None:
    path = tmp_path / FILE
    count_ngrams(make_lines(200)).save(path)
    whole = path.read_bytes()
    generator = random.Random(5)
    for length in (*range(HEADER.size + 12), *generator.sample(range(len(whole)), 50)):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelError, match=FILE):
            NgramModel.read(path)
    refused = 0
    for place in (*range(HEADER.size + 12), *generator.sample(range(len(whole)), 300)):
        damaged = bytearray(whole)
        damaged[place] ^= generator.randrange(1, 256)
        path.write_bytes(damaged)
        try:
            assert math.isfinite(ratio_of(NgramModel.read(path), "ka lo mi", "ka mi re su"))
        except ModelError as error:
            assert FILE in str(error)
            refused += 1
    assert refused >= 20, "most of the header"


def test_missing_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=FILE):
        NgramModel.read(tmp_path / FILE)
    (tmp_path / FILE).touch()
    with pytest.raises(ModelError, match=FILE):
        NgramModel.read(tmp_path / FILE)
