"""Jacobi decodings by the native engine: the tokens, the rounds and what each round drafts are those of PyTorch's loop."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_cli.decoding.lengths import expected_lengths, fixed, known
from specdec_cli.decoding.methods import having
from specdec_cli.decoding.options import DecodingOptions, FixedPoint, Sampled, resolve, words
from specdec_cli.decoding.rounds import RoundTrace
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.engines.native import NativeEngine
from specdec_cli.engines.native_decoding import Unsupported
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.bundle_info import describe_bundle
from specdec_cli.native.library import NativeError
from specdec_cli.native.model import DecodedRound, NativeModel
from specdec_cli.native.network import NativeNetwork
from specdec_cli.opening.engines import open_for_loop
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import SHIPPED, ModelChoice
from tests.native.comparison import by_number, shipped_sources, sources_of
from tests.native.decoding_requests import Request, decode
from tests.native.expected import outcome

JACOBI = having("stop")
Shown = list[tuple[list[int], list[int], list[int]]]
"""What the rounds of a sentence drafted, predicted and took."""


def looped(bundle: Bundle, sentences: list[Sentence], decoding: Any, lengths: Any = None) -> tuple[list[Hypothesis], dict[int, Shown]]:
    """What PyTorch's loop decodes, and its rounds."""
    rounds: dict[int, Shown] = defaultdict(list)

    def look(seen: RoundTrace) -> None:
        for row in (~seen.state.finished).nonzero()[:, 0].tolist():
            drafted, count = int(seen.draft.counts[row]), int(seen.accepted.counts[row])
            predicted = seen.accepted.predictions[row, : drafted + 1].tolist()
            shown = seen.draft.ids[row, :drafted].tolist(), predicted, seen.accepted.ids[row, :count].tolist()
            rounds[int(seen.state.numbers[row])].append(shown)

    found = list(Engine(bundle, decoding, look, lengths=lengths).decode(sentences))
    return found, rounds


def watched(decode_with: Callable[[Callable[[DecodedRound], None]], list[Hypothesis]]) -> tuple[list[Hypothesis], dict[int, Shown]]:
    """What the native engine decodes, and its rounds."""
    rounds: dict[int, Shown] = defaultdict(list)
    found = decode_with(lambda seen: rounds[seen.number].append((seen.drafted, seen.predicted, seen.taken)))
    return found, rounds


@pytest.fixture(scope="module")
def opened(pair: tuple[Bundle, Path]) -> tuple[Bundle, NativeModel]:
    return pair[0], NativeModel(pair[0].shape, pair[1])


@pytest.mark.usefixtures("sharing")
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_random_models_play_the_same_rounds(opened: tuple[Bundle, NativeModel], data: st.DataObject) -> None:
    bundle, model = opened
    method = data.draw(st.sampled_from(JACOBI))
    stop: Any = data.draw(st.sampled_from(words("stop")))
    sampled = Sampled(0.8, 20, 5) if stop == "prefix" and data.draw(st.booleans()) else None
    with_length = method in having("jacobi_length")
    block, longest = data.draw(st.sampled_from((0, 1, 2, 3, 7))), data.draw(st.sampled_from((0, 1, 5, 24)))
    length: Any = data.draw(st.sampled_from((None, 1, 4, 9, "max"))) if with_length else None
    rules: dict[str, Any] = {
        "no_repeat_ngram_size": data.draw(st.sampled_from((0, 2))),
        "repetition_penalty": data.draw(st.sampled_from((1.0, 1.3))),
        "min_length": data.draw(st.sampled_from((0, 6))),
        "forced_end": data.draw(st.booleans()),
    }
    ratio, batch = data.draw(st.sampled_from((0.3, 1.1, 2.0))), data.draw(st.sampled_from((1, 3)))
    sources = sources_of(len(bundle.tokenizer), data.draw(st.integers(1, 7)), 16)
    oracle = data.draw(st.sampled_from((None, 2, 9))) if method != "hybrid-jacobi" and length is None else None
    options = DecodingOptions(
        decoding=method,
        stop=stop,
        jacobi_length=length,
        block_size=block or None,
        max_length=longest or None,
        batch_size=batch,
        with_scores=data.draw(st.booleans()),
        sample=sampled is not None,
        temperature=None if sampled is None else sampled.temperature,
        top_k=None if sampled is None else sampled.top_k,
        seed=sampled.seed if sampled else 0,
    )
    network = NativeNetwork(model)
    made = replace(bundle, info=replace(bundle.info, length_ratio=ratio, **rules), network=network)
    lengths = None if oracle is None else fixed(oracle)
    sentences = [Sentence(number, source, stream=(number, 1)) for number, source in enumerate(sources)]
    found, rounds = looped(made, sentences, resolve(options, made), lengths)
    request = Request(
        method,
        block_size=block,
        batch=batch,
        threads=data.draw(st.integers(1, 3)),
        max_length=longest,
        with_scores=options.with_scores,
        sampled=sampled,
        whole=stop == "fixed-point",
        lengths=lengths if oracle is not None or method == "gs-jacobi" else expected_lengths(length, ratio),
        **rules,
    )
    own, own_rounds = watched(lambda look: list(decode(model, sources, request, onlooker=look)))
    assert by_number(own) == by_number(found)
    assert own_rounds == rounds


@pytest.mark.sampled(3)
@pytest.mark.parametrize("stop", words("stop"))
@pytest.mark.parametrize("name", ["en-de", "en-gec"])
@pytest.mark.parametrize("method", JACOBI)
def test_shipped_models_play_the_same_rounds(name: str, method: str, stop: Any, data: Path) -> None:
    model = ModelChoice(str(SHIPPED / name))
    bundle, described = open_for_loop(model, MachineOptions(device="cpu", threads=1)), describe_bundle(SHIPPED / name)
    sources = shipped_sources(bundle, name, data)
    sentences = [Sentence(number, source) for number, source in enumerate(sources)]
    options = DecodingOptions(decoding=method, stop=stop, batch_size=4, with_scores=True)
    found, rounds = looped(bundle, sentences, resolve(options, bundle))
    greedy = NativeEngine(described, resolve(DecodingOptions(decoding="greedy"), described), 1).decode(sentences)
    assert {each.number: each.ids for each in greedy} == {each.number: each.ids for each in found}
    engine = NativeEngine(described, resolve(options, described), 2)

    def decode_with(look: Callable[[DecodedRound], None]) -> list[Hypothesis]:
        engine.onlooker = look
        return list(engine.decode(sentences))

    own, own_rounds = watched(decode_with)
    assert by_number(own) == by_number(found)
    assert own_rounds == rounds
    assert {each.decoding for each in own} == {method}
    lengths = known({tuple(source): len(each.ids) for source, each in zip(sources, sorted(found, key=lambda h: h.number), strict=True)})
    if method in ("jacobi", "gs-jacobi"):
        engine.lengths = lengths
        own, own_rounds = watched(decode_with)
        found, rounds = looped(bundle, sentences, resolve(options, bundle), lengths)
        assert by_number(own) == by_number(found)
        assert own_rounds == rounds


def test_a_block_size_that_adapts_is_left_to_the_loop() -> None:
    described = describe_bundle(SHIPPED / "en-de")
    with pytest.raises(Unsupported, match="gs-jacobi"):
        NativeEngine(described, resolve(DecodingOptions(decoding="gs-jacobi", block_size="auto"), described), 1)


@pytest.mark.usefixtures("sharing")
def test_other_drafts_are_not_accepted_as_a_whole(opened: tuple[Bundle, NativeModel]) -> None:
    bundle, model = opened
    sources = sources_of(len(bundle.tokenizer), 2, 9)
    for decoding in ("greedy", "lookup"):
        with pytest.raises(NativeError, match="whole"):
            list(decode(model, sources, Request(decoding, whole=True)))
    with pytest.raises(NativeError, match="empty or longer"):
        list(decode(model, sources, Request("jacobi", lengths=fixed(-1))))
    decoded = {each.number: outcome(each) for each in decode(model, sources, Request("jacobi", lengths=fixed(2**40)))}
    assert decoded == by_number(decode(model, sources, Request("jacobi")))
    assert FixedPoint() == Request("jacobi", whole=True).resolved().acceptance
