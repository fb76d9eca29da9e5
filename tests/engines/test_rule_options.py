"""The options that replace the rules of a bundle on outputs."""

from collections import Counter
from itertools import pairwise

import pytest

from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.opening.engines import open_engine
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice

LINES = ("It is very, very, very, very, very good.", "We ran and ran and ran and ran.")


def outputs(options: DecodingOptions, engine: str = "native") -> list[list[int]]:
    opened = open_engine(ModelChoice("en-de"), MachineOptions(engine=engine, threads=1), options)  # type: ignore[arg-type]
    tokenizer = opened.bundle.tokenizer
    sources = [tokenizer.add_special_tokens(tokenizer.encode(line)) for line in LINES]
    decoded = opened.engine.decode([Sentence(number, source) for number, source in enumerate(sources)])
    return [list(each.ids) for each in sorted(decoded, key=lambda each: each.number)]


def most_repeated(ids: list[int]) -> int:
    return max(Counter(pairwise(ids)).values())


@pytest.mark.parametrize("decoding", ["greedy", "lookup", "specdec", "gs-jacobi"])
def test_no_ngram_occurs_twice_by_any_decoding(decoding: str) -> None:
    free, bound = (outputs(DecodingOptions(decoding=decoding, no_repeat_ngram_size=size)) for size in (0, 2))
    assert max(map(most_repeated, free)) > 1
    assert max(map(most_repeated, bound)) == 1
    assert bound == outputs(DecodingOptions(decoding="greedy", no_repeat_ngram_size=2))


def test_a_penalty_leaves_fewer_repetitions() -> None:
    free, bound = (outputs(DecodingOptions(repetition_penalty=penalty)) for penalty in (1.0, 3.0))
    assert max(map(most_repeated, bound)) < max(map(most_repeated, free))
