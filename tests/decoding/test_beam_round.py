"""Beam search in rounds, computed and replayed as graphs, finds the hypotheses of the eager search; graphs are imitated."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_cli.decoding.beam import beam_search, largest_by_keys
from specdec_cli.decoding.beam_round import BeamRound
from specdec_cli.decoding.loop import decode_by_search
from specdec_cli.decoding.options import BeamSearch, Constraints, Decoding, constraints_of
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.bundle import load_bundle
from specdec_cli.model.choices import SUPPRESSED
from specdec_cli.model.transformer import Transformer
from specdec_cli.opening.models import SHIPPED
from specdec_cli.text.tokenize.sentencepiece import PADDING
from tests.decoding.imitation import imitated
from tests.fakes import ORDERS, make_sentences, tiny_transformer

LONGEST = 14
STOPS = ("fairseq", "first", "heuristic", "never")


def decoding(rows: int = 3, longest: int = LONGEST, **search: Any) -> Decoding:
    return Decoding(search=BeamSearch(**{"beam_size": 4, "n_best": 4} | search), batch_size=rows, max_length=longest)


def check(
    model: Transformer, sentences: list[Sentence], options: Decoding, forced: int | None = None, constraints: Constraints | None = None
) -> list[Hypothesis]:
    """Assert that captured rounds find the hypotheses of the eager search, and return these."""
    expected = list(beam_search([Verifier(model, forced, constraints)], sentences, options))
    imitation = imitated(model, forced, constraints)
    found = sorted(decode_by_search(imitation.verifier, sentences, options), key=lambda each: each.number)
    assert imitation.graphs.counts.bursts
    for one, other in zip(expected, found, strict=True):
        assert (one.number, one.ids, one.rounds) == (other.number, other.ids, other.rounds)
        assert [each.ids for each in one.alternatives] == [each.ids for each in other.alternatives]
        for name in ("score", "log_probability"):
            scores = [[getattr(each, name) for each in hypothesis.alternatives] for hypothesis in (one, other)]
            assert scores[0] == pytest.approx(scores[1], rel=1e-4, abs=1e-5)
    return found


@pytest.mark.sampled(4)
@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("penalty", [0.0, 1.0, 2.0, -0.5])
def test_every_stopping_rule_and_length_penalty(stop: str, penalty: float) -> None:
    model = tiny_transformer(ends=0.3)
    found = check(model, make_sentences(9), decoding(stop=stop, length_penalty=penalty))
    assert len({len(each.ids) for each in found}) > 1


@settings(deadline=None, max_examples=8)
@given(
    beam=st.integers(1, 9),
    n_best=st.integers(1, 9),
    rows=st.integers(1, 10),
    count=st.integers(1, 14),
    width=st.sampled_from([16, 48]),
    stop=st.sampled_from(STOPS),
    seed=st.integers(0, 3),
)
def test_beams_and_batches_of_all_sizes(beam: int, n_best: int, rows: int, count: int, width: int, stop: str, seed: int) -> None:
    model = tiny_transformer(seed, ends=0.3)
    check(model, make_sentences(count, width), decoding(rows, beam_size=beam, n_best=min(n_best, beam), stop=stop))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("forced", [None, 9])
@pytest.mark.parametrize("stop", ["fairseq", "heuristic"])
@pytest.mark.parametrize(
    "constraints",
    [
        Constraints(min_length=5),
        Constraints(no_repeat_ngram_size=2, repetition_penalty=1.3),
        Constraints(forced_end=True, source_ngram_size=1),
    ],
)
def test_constraints_forced_tokens_and_suppressed_ones(constraints: Constraints, stop: str, forced: int | None) -> None:
    model = tiny_transformer(ends=0.3)
    with torch.no_grad():
        model.output.bias[PADDING] += 1 + SUPPRESSED
    found = check(model, make_sentences(7), decoding(stop=stop), forced, constraints)
    assert forced is None or all(alternative.ids[0] == forced for each in found for alternative in each.alternatives)


@pytest.mark.parametrize("order", ORDERS)
def test_orders_that_write_pairs(order: Any) -> None:
    for longest in (1, 6, LONGEST):
        check(tiny_transformer(order=order, ends=0.3), make_sentences(6), decoding(longest=longest))


@pytest.mark.parametrize("precision", [torch.float16, torch.bfloat16])
def test_half_precision(precision: torch.dtype) -> None:
    model = tiny_transformer(ends=0.3).to(precision)
    sentences, options = make_sentences(12), decoding(4)
    imitation = imitated(model)
    found = {each.number: each.ids for each in decode_by_search(imitation.verifier, sentences, options)}
    expected = {each.number: each.ids for each in beam_search([Verifier(model)], sentences, options)}
    assert sum(found[number] == ids for number, ids in expected.items()) >= 9  # scores are close to each other where they are rounded


def test_finished_rows_do_not_change() -> None:
    model = tiny_transformer(ends=0.3)
    round_ = BeamRound(Verifier(model), decoding())
    with torch.inference_mode():
        batch = round_.begin(make_sentences(8))
        seen: dict[int, Hypothesis] = {}
        for _ in range(LONGEST + 3):
            round_.play(batch, 0)
            for hypothesis in round_.hypotheses(batch):
                assert seen.setdefault(hypothesis.number, hypothesis) == hypothesis
    assert len(seen) == 8
    assert len({each.rounds for each in seen.values()}) > 1


def test_later_sentences_capture_nothing_new() -> None:
    imitation, sentences = imitated(tiny_transformer(ends=0.3)), make_sentences(40)
    for _ in range(2):
        list(decode_by_search(imitation.verifier, sentences, decoding(12)))
    captured = imitation.capture.count
    list(decode_by_search(imitation.verifier, sentences, decoding(12)))
    assert imitation.capture.count == captured
    assert imitation.graphs.counts.bursts < 3 * 40


def test_a_model_that_ends_nothing_stops_at_the_limit() -> None:
    found = check(tiny_transformer(ends=0.0), make_sentences(3), replace(decoding(), max_length=5))
    assert all(len(alternative.ids) == 5 for each in found for alternative in each.alternatives)


@settings(deadline=None)
@given(
    st.lists(st.lists(st.sampled_from([-torch.inf, -2.5, -1e-30, -0.0, 0.0, 1e-30, 3.0]), min_size=6, max_size=6), min_size=1),
    st.integers(1, 6),
)
def test_of_equal_values_the_first_ones_are_the_largest(rows: list[list[float]], count: int) -> None:
    values = torch.tensor(rows)
    ordered, places = values.sort(dim=1, descending=True, stable=True)
    largest, found = largest_by_keys(values, count)
    assert torch.equal(found, places[:, :count])
    assert torch.equal(largest, ordered[:, :count])


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("en-de", ["Where is the station?", "I would like two coffees, please.", "It rains.", "She has bought a new car."]),
        ("de-en", ["Wo ist der Bahnhof?", "Ich hätte gerne zwei Kaffee.", "Es regnet.", "Sie hat ein neues Auto gekauft."]),
    ],
)
def test_the_hypotheses_of_the_shipped_models(name: str, texts: list[str]) -> None:
    bundle = load_bundle(SHIPPED / name)
    sources = [bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode(text)) for text in texts]
    sentences = [Sentence(number, source) for number, source in enumerate(sources)]
    rules = constraints_of(bundle)
    found = check(bundle.verifier, sentences, decoding(beam_size=5, n_best=5), rules.forced, rules)
    assert len({tuple(each.ids) for each in found}) == len(texts)
