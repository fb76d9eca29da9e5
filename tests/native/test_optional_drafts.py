"""Decoding `auto` of the native engine: the drafter is loaded where it can pay, and the output does not change."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from specdec_cli.decoding.costs import Costs
from specdec_cli.decoding.options import DecodingOptions, Exact, Sampled, resolve
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.engines.native import NativeEngine
from specdec_cli.engines.native_costs import DraftTrial
from specdec_cli.engines.native_drafts import WORTH_LOADING, DraftSizes
from specdec_cli.measurement_cache import CachedMeasurement
from specdec_cli.model.bundle_info import describe_bundle
from specdec_cli.opening.models import SHIPPED
from tests.native.decoding_requests import measured_trial

CHEAP = Costs((3, 10), (1.0, 5.0), ((1.1, 1.5), (6.0, 9.0)), ((0.1, 0.3), (0.5, 1.0)))
DEAR = Costs((3, 10), (1.0, 5.0), ((1.5, 3.5), (9.0, 20.0)), ((2.2, 5.0), (9.0, 30.0)))
SENTENCES = [f"Tom {verb} {count} books." for verb in ("has", "sees", "reads", "buys") for count in range(10)]


def fail(_: object) -> Costs:
    raise AssertionError("measured")


@pytest.fixture(autouse=True)
def trial(monkeypatch: pytest.MonkeyPatch) -> DraftTrial:
    """A trial, in which drafts have paid."""
    made = DraftTrial(CachedMeasurement("drafts", ("test",)))
    made.measured = measured_trial(30, 1.6)
    monkeypatch.setattr(DraftSizes, "_trial", lambda *_: made)
    return made


@pytest.fixture
def decode(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Hypothesis]]:
    """Decodes SENTENCES in windows, with costs that were stored or are measured; the hypotheses by number."""

    def run(decoding: str, window: int, stored: Costs | None, measured: Costs | None = None, *, batch_size: int = 1) -> list[Hypothesis]:
        monkeypatch.setattr("specdec_cli.engines.native_drafts.stored_costs", lambda _: stored)
        monkeypatch.setattr("specdec_cli.engines.native_drafts.round_costs", lambda *_: measured or stored or fail(None))
        bundle = describe_bundle(SHIPPED / "en-de")
        engine = NativeEngine(bundle, resolve(DecodingOptions(decoding=decoding, batch_size=batch_size), bundle), 1)
        ids = [bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode(line)) for line in SENTENCES]
        sentences = [Sentence(number, source) for number, source in enumerate(ids)]
        found = [each for first in range(0, len(ids), window) for each in engine.decode(sentences[first : first + window])]
        return sorted(found, key=lambda each: each.number)

    return run


def test_cheap_drafts_are_made_once_enough_sentences_came(decode: Callable[..., list[Hypothesis]]) -> None:
    expected = [each.ids for each in decode("greedy", 8, None)]
    found = decode("auto", 8, None, CHEAP)
    assert [each.ids for each in found] == expected
    before = WORTH_LOADING // 8 * 8 - 8
    assert {each.decoding for each in found[:before]} == {"greedy"}
    assert {each.decoding for each in found[before:]} == {"specdec"}
    assert sum(each.rounds for each in found[before:]) < sum(map(len, expected[before:]))


@pytest.mark.parametrize(("stored", "measured"), [(DEAR, None), (None, DEAR)])
def test_a_drafter_that_cannot_pay_never_drafts(
    stored: Costs | None, measured: Costs | None, decode: Callable[..., list[Hypothesis]]
) -> None:
    found = decode("auto", 40, stored, measured)
    assert {each.decoding for each in found} == {"greedy"}
    assert all(each.rounds == len(each.ids) for each in found)


def test_decodings_at_the_same_time_have_statistics_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specdec_cli.engines.native_drafts.stored_costs", lambda _: CHEAP)
    monkeypatch.setattr("specdec_cli.engines.native_drafts.round_costs", lambda *_: CHEAP)
    bundle = describe_bundle(SHIPPED / "en-de")
    engine = NativeEngine(bundle, resolve(DecodingOptions(batch_size=4), bundle), 1)
    assert not engine.is_shareable  # the drafter may be loaded at any call
    engine.expect(WORTH_LOADING)
    assert engine.is_shareable
    sources = [bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode(line)) for line in SENTENCES]

    def ids(_: int) -> list[list[int]]:
        found = engine.decode([Sentence(number, source) for number, source in enumerate(sources)])
        return [each.ids for each in sorted(found, key=lambda each: each.number)]

    with ThreadPoolExecutor(3) as pool:
        first, *others = pool.map(ids, range(6))
    assert others == [first] * 5
    assert engine.drafted is not None
    assert engine.drafted[0] > 0


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each load of the native engine has the drafter."""
    loads: list[bool] = []
    load = NativeEngine._load

    def record(self: NativeEngine, *, with_drafter: bool) -> None:
        loads.append(with_drafter)
        load(self, with_drafter=with_drafter)

    monkeypatch.setattr(NativeEngine, "_load", record)
    return loads


def test_batches_in_which_drafts_cost_too_much_are_decoded_without_the_drafter(
    decode: Callable[..., list[Hypothesis]], loaded: list[bool]
) -> None:
    for_one = Costs((3, 10), (1.0, 1.5), ((1.1, 1.5), (6.0, 9.0)), ((0.1, 0.3), (0.5, 1.0)))
    found = decode("auto", 40, for_one, batch_size=6)
    assert {each.decoding for each in found} == {"greedy"}
    assert loaded == [False]
    # Costs that are not known are measured; batches of one sentence are then drafted, others are not.
    found = decode("auto", 40, None, for_one, batch_size=6)
    assert {each.decoding for each in found} == {"greedy"}
    assert loaded[1:] == [False, True]
    found = decode("auto", 1, for_one, batch_size=6)
    assert {each.decoding for each in found} == {"greedy", "specdec"}


def test_each_rule_has_its_own_trial_whatever_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    trials: list[DraftTrial] = []

    def begin(measurement: CachedMeasurement) -> DraftTrial:
        trials.append(DraftTrial(measurement))
        trials[-1].measured = measured_trial(10, 1.6)
        return trials[-1]

    monkeypatch.undo()
    monkeypatch.setattr("specdec_cli.engines.native_drafts.DraftTrial", begin)
    monkeypatch.setattr("specdec_cli.engines.native_drafts.stored_costs", lambda _: CHEAP)
    bundle = describe_bundle(SHIPPED / "en-de")
    engine = NativeEngine(bundle, resolve(DecodingOptions(decoding="auto", batch_size=1), bundle), 1)
    ids = [bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode(line)) for line in SENTENCES]
    sentences = [Sentence(number, source) for number, source in enumerate(ids)]
    greedy = [each.ids for each in engine.decode(sentences)]
    after_greedy = [*trials[0].measured.sentences]
    for seed in (1, 2):
        list(engine.with_rule(Sampled(1.0, 0, seed)).decode(sentences))
    assert len(trials) == 2
    assert [*trials[0].measured.sentences] == after_greedy
    assert sum(trials[1].measured.sentences) > 20
    again = engine.with_rule(Sampled(1.0, 0, 1)).with_rule(Exact())
    assert [each.ids for each in again.decode(sentences)] == greedy
    assert sum(trials[0].measured.sentences) > sum(after_greedy)


def test_an_engine_with_another_rule_drafts_only_with_a_drafter_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specdec_cli.engines.native_drafts.stored_costs", lambda _: None)
    monkeypatch.setattr("specdec_cli.engines.native_drafts.round_costs", lambda *_: CHEAP)
    bundle = describe_bundle(SHIPPED / "en-de")
    engine = NativeEngine(bundle, resolve(DecodingOptions(decoding="auto", batch_size=1), bundle), 1)
    other = engine.with_rule(Sampled(1.0, 0, 1))
    engine.expect(WORTH_LOADING)
    assert (engine.decoding.method, other.decoding.method) == ("specdec", "greedy")
    other.expect(WORTH_LOADING)
    assert other.decoding.method == "specdec"
    ids = bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode(SENTENCES[0]))
    assert {each.decoding for each in other.decode([Sentence(0, ids)])} <= {"specdec", "greedy"}


def test_drafts_that_did_not_pay_in_a_trial_are_not_tried(
    decode: Callable[..., list[Hypothesis]], trial: DraftTrial, loaded: list[bool]
) -> None:
    assert {each.decoding for each in decode("auto", 40, CHEAP)} == {"specdec"}
    loaded.clear()
    trial.measured = measured_trial(24, 0.9)
    assert {each.decoding for each in decode("auto", 40, CHEAP)} == {"greedy"}
    assert loaded == [False]


@pytest.mark.parametrize("window", [1, 10, 40])
def test_sentences_of_a_trial_are_drafted_by_turns(decode: Callable[..., list[Hypothesis]], trial: DraftTrial, window: int) -> None:
    trial.measured = measured_trial(0, 1.0)
    expected = decode("greedy", 8, None)
    found = decode("auto", window, CHEAP)
    assert [each.ids for each in found] == [each.ids for each in expected]
    seen = trial.measured
    count = sum(seen.sentences)
    assert 16 <= count <= len(found)
    assert [each.decoding for each in found[:16]] == ["greedy", "specdec"] * 8
    for end in range(16, count):  # then at most three times as many of one kind as of the other
        drafted = [each.decoding for each in found[:end]].count("specdec")
        assert max(drafted, end - drafted) <= 3 * min(drafted, end - drafted) + 1
    for kind, decoding in enumerate(("greedy", "specdec")):
        own = [each for each in found[:count] if each.decoding == decoding]
        assert (seen.sentences[kind], seen.tokens[kind]) == (len(own), sum(len(each.ids) for each in own))
        assert seen.milliseconds[kind] > 0
    assert seen.rounds == sum(each.rounds for each in found[:count] if each.decoding == "specdec")
    # After a trial that ended, all sentences are decoded as it says.
    assert {each.decoding for each in found[count:]} <= {"greedy"} or trial.pays is not False


def test_drafts_stop_while_fewer_tokens_are_accepted_than_a_round_costs(decode: Callable[..., list[Hypothesis]], trial: DraftTrial) -> None:
    # A drafted sentence took nearly as long as one of three times as many rounds: so few tokens in a round do not pay here.
    trial.measured = measured_trial(96, 1.06)
    trial.measured.rounds = 96
    found = decode("auto", 1, CHEAP)
    assert trial.pays
    assert [each.decoding for each in found].count("specdec") == 1  # the one after a pause, which may find better drafts


@pytest.mark.parametrize(("stored", "drafts"), [(CHEAP, {True}), (DEAR, {False}), (None, {False, True})])
def test_a_drafter_that_is_known_to_pay_is_loaded_with_the_verifier(
    stored: Costs | None, drafts: set[bool], decode: Callable[..., list[Hypothesis]], loaded: list[bool]
) -> None:
    found = decode("auto", 1, stored, CHEAP)
    assert set(loaded) == drafts and len(loaded) == len(drafts)
    assert (found[0].decoding == "specdec") == (stored == CHEAP)
