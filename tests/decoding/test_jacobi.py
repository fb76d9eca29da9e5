"""Jacobi decodings: their drafts, and their passes against the paper's algorithms."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch

from specdec_cli.decoding.drafters.jacobi import Jacobi
from specdec_cli.decoding.lengths import by_source, fixed, known
from specdec_cli.decoding.methods import having
from specdec_cli.decoding.options import DecodingOptions, resolve, words
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.text.tokenize.sentencepiece import BOS, EOS, PADDING
from tests.fake_drafters import drafts
from tests.fakes import in_precision, make_sentences, tiny_transformer

LONGEST = 30
SENTENCES = make_sentences(8, 16)
Predict = Callable[[list[int]], list[int]]
"""The first choices after each of the decoder's inputs."""


def random_bundle(bundle: Bundle, precision: str = "float32") -> Bundle:
    """A bundle with a random model and a larger vocabulary."""
    model = in_precision(tiny_transformer(vocabulary_size=len(bundle.tokenizer)), precision)
    return Bundle(BundleInfo(), bundle.tokenizer, model)


@pytest.fixture(scope="module")
def made(bundle: Bundle) -> Bundle:
    return random_bundle(bundle)


def engine(made: Bundle, lengths: Any = None, *, stop: str = "prefix", jacobi_length: int | str | None = None, **request: Any) -> Engine:
    options: dict[str, Any] = {"stop": stop} if jacobi_length is None else {"stop": stop, "jacobi_length": jacobi_length}
    if request["decoding"] not in having("stop"):
        options = {}
    return Engine(made, resolve(DecodingOptions(max_length=LONGEST, **options, **request), made), lengths=lengths)


def run(engine: Engine, sentences: Sequence[Sentence] = SENTENCES) -> list[Hypothesis]:
    return sorted(engine.decode(sentences), key=lambda hypothesis: hypothesis.number)


def published(predict: Predict, places: int, b: int) -> tuple[list[int], int]:
    """Output and passes of Santilli et al. 2023, Algorithm 3: blocks of `b` inputs up to `places` (h), then token by token.

    One block of all places is Algorithm 1, places up to the known end are Algorithm 2. Predictions are shifted left, as the paper
    says: `y` are the decoder's inputs, the start first, and the prediction after the last of them.
    """
    y, i, passes = [BOS, *[PADDING] * places], 0, 0
    while i < min(places, LONGEST) and EOS not in y[1 : i + 1]:
        width = min(b, places - i)
        for _ in range(width):
            o = y[i : i + width]
            y[i + 1 : i + width + 1] = predict(y[: i + width])[i:]
            passes += 1
            if y[i : i + width] == o:
                break
        i += width
    while EOS not in y[1:] and len(y) <= LONGEST:
        y, passes = [*y, predict(y)[-1]], passes + 1
    return (y[1 : y.index(EOS) + 1] if EOS in y else y[1 : LONGEST + 1]), passes


def predictions(made: Bundle, sentence: Sentence) -> Predict:
    def predict(inputs: list[int]) -> list[int]:
        with torch.inference_mode():
            logits = made.verifier(torch.tensor([sentence.source]), torch.tensor([inputs]))
        chosen: list[int] = logits[0].argmax(-1).tolist()
        return chosen

    return predict


@pytest.mark.parametrize("batch_size", [1, 4])
@pytest.mark.parametrize(
    ("decoding", "b", "h"),
    [
        ("jacobi", None, None),
        ("gs-jacobi", 3, None),
        ("gs-jacobi", 5, None),
        ("gs-jacobi", 2, "max"),
        ("hybrid-jacobi", 1, 4),
        ("hybrid-jacobi", 2, 9),
        ("hybrid-jacobi", 5, 9),
        ("hybrid-jacobi", 5, 12),
        ("hybrid-jacobi", 3, "max"),
    ],
)
def test_fixed_points_take_the_published_number_of_passes(
    made: Bundle, decoding: str, b: int | None, h: int | str | None, batch_size: int
) -> None:
    greedy = run(engine(made, decoding="greedy"))
    oracle = known({tuple(s.source): len(g.ids) for s, g in zip(SENTENCES, greedy, strict=True)}) if h is None else None
    request: dict[str, Any] = {
        "decoding": decoding,
        "block_size": b,
        "jacobi_length": h if decoding == "hybrid-jacobi" else None,
        "batch_size": batch_size,
    }
    found = run(engine(made, oracle, stop="fixed-point", **request))
    for sentence, mine, one in zip(SENTENCES, found, greedy, strict=True):
        places = 1 + (len(one.ids) if h is None else LONGEST if h == "max" else int(h))
        assert (mine.ids, mine.rounds) == published(predictions(made, sentence), places, b or places)
        assert mine.ids == one.ids


@pytest.mark.parametrize("b", [1, 3, 6])
def test_a_block_takes_at_most_one_pass_per_token(made: Bundle, b: int) -> None:
    for found in run(engine(made, decoding="gs-jacobi", stop="fixed-point", block_size=b)):
        assert found.rounds <= -(-len(found.ids) // b) * b


def test_accepting_right_prefixes_saves_rounds(made: Bundle) -> None:
    rounds = {stop: sum(h.rounds for h in run(engine(made, decoding="gs-jacobi", block_size=3, stop=stop))) for stop in words("stop")}
    assert rounds["prefix"] < rounds["fixed-point"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("precision", ["float32", "int8"])
@pytest.mark.parametrize("stop", words("stop"))
@pytest.mark.parametrize("decoding", having("stop"))
def test_rounds_depend_only_on_the_sentence(bundle: Bundle, decoding: str, stop: str, precision: str) -> None:
    made = random_bundle(bundle, precision)
    sentences = [*SENTENCES[:5], *make_sentences(3, 32, seed=1)]
    sentences = [Sentence(number, each.source) for number, each in enumerate(sentences)]
    alone = [run(engine(made, decoding=decoding, stop=stop), [sentence])[0] for sentence in sentences]
    for batch_size in (1, 5):
        together = engine(made, decoding=decoding, stop=stop, batch_size=batch_size)
        for again in (sentences, sentences[::-1]):
            assert [(h.ids, h.rounds) for h in run(together, again)] == [(h.ids, h.rounds) for h in alone]


def test_predictions_after_the_bifurcation_are_the_next_draft() -> None:
    # The table's predictions do not depend on the draft: after the first round they are right.
    target = [10, 11, 12, 13, 14]
    assert drafts(Jacobi(3, PADDING), [7], target) == [[PADDING] * 3, [11, 12, 13], [PADDING] * 3]


def test_a_fixed_point_block_is_drafted_until_it_is_unchanged() -> None:
    # By the rule of prefixes; the draft of a whole block has one token less than the block.
    assert drafts(Jacobi(3, PADDING, whole_blocks=True), [7], [10, 11, 12, 13])[:2] == [[PADDING] * 2, [11, PADDING]]


def test_tokens_beyond_the_expected_length_are_decoded_one_by_one() -> None:
    assert drafts(Jacobi(2, PADDING, fixed(2)), [7], [10, 11, 12, 13]) == [[PADDING] * 2, [11], [], []]


def test_a_draft_ends_with_the_first_predicted_end() -> None:
    assert drafts(Jacobi(5, PADDING, eos=12), [7], [10, 11, 12, 13, 14, 15, 16])[1] == [11, 12]


def test_predictions_are_drafted_up_to_the_expected_length() -> None:
    # A draft has three positions more than there are predictions.
    lengths = [len(draft) for draft in drafts(Jacobi(0, PADDING, fixed(6)), [7, 8], [10, 11, 12, 13, 14, 15, 16, 17])]
    assert lengths == [3, 5, 1, 0, 0]
    lengths = [len(draft) for draft in drafts(Jacobi(0, PADDING, fixed(3), beyond=2), [7, 8], [10, 11, 12, 13, 14, 15, 16, 17])]
    assert lengths == [3, 2, 2, 2, 2]


@pytest.mark.parametrize(("ratio", "lengths"), [(1.0, [11, 4]), (2.5, [26, 9]), (1.1, [12, 5]), (0.3, [4, 2])])
def test_the_expected_length_exceeds_the_ratio_by_a_tenth(ratio: float, lengths: list[int]) -> None:
    assert [by_source(ratio)(source) for source in ([*[7] * 9, EOS], [8, 9, EOS])] == lengths


def test_an_unknown_length_is_that_of_the_source() -> None:
    assert [known({(8, 9, EOS): 5})(source) for source in ([*[7] * 9, EOS], [8, 9, EOS])] == [10, 5]
