"""The native engine against the reference: ids, rounds and log probabilities are the same, to the bit."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.model.bundle import Bundle
from specdec_cli.native.library import NativeError, load_library
from specdec_cli.native.model import NativeModel
from specdec_cli.opening.machine import Machine
from specdec_cli.opening.models import SHIPPED, open_bundle
from tests.native.comparison import by_number, changed, native, reference, shipped_sources, sources_of
from tests.native.decoding_requests import Request, decode
from tests.native.expected import Expectations

pytestmark = pytest.mark.usefixtures("sharing")

DECODINGS = ("greedy", "lookup", "input-guided")


@pytest.mark.parametrize("decoding", DECODINGS)
def test_random_models_say_the_same(
    pair: tuple[Bundle, Path], decoding: str, expected: Expectations, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle, path = pair
    sources = sources_of(len(bundle.tokenizer), 9, 20)
    word_starts = bytes(bundle.tokenizer.word_starts())
    drafting = decoding != "greedy"
    asked = DecodingOptions(decoding=decoding, block_size=5 if drafting else None, with_scores=True, always_draft=True)
    outputs = expected(reference, bundle, sources, asked)
    common = Request(decoding, block_size=5 if drafting else 0, with_scores=True, word_starts=word_starts)
    for isa in load_library().specdec_instruction_sets().decode().split(","):
        monkeypatch.setenv("SPECDEC_ISA", isa)
        model = NativeModel(bundle.verifier.config, path)
        assert model.instructions == isa
        assert native(model, sources, common) == outputs
    for batch, threads in ((1, 2), (1, 3), (4, 1), (3, 2), (16, 3)):
        own = Request(decoding, "nearest", common.block_size, batch, threads, with_scores=True, word_starts=word_starts)
        assert native(model, sources, own) == outputs


@pytest.mark.parametrize("match", ["unique", "unique-3", "nearest"])
def test_input_guided_without_a_bound(pair: tuple[Bundle, Path], match: Any, expected: Expectations) -> None:
    bundle, path = pair
    sources = sources_of(len(bundle.tokenizer), 7, 20)
    asked = DecodingOptions(decoding="input-guided", match=match, max_length=11, always_draft=True)
    outputs = expected(reference, bundle, sources, asked)
    request = Request("input-guided", match, batch=2, max_length=11, word_starts=bytes(bundle.tokenizer.word_starts()))
    found = native(NativeModel(bundle.verifier.config, path), sources, request)
    assert {number: (each.ids, each.rounds) for number, each in found.items()} == {
        number: (each.ids, each.rounds) for number, each in outputs.items()
    }


@pytest.mark.parametrize("match", ["unique", "unique-3", "nearest"])
def test_texts_that_are_copied_in_place_of_sources(pair: tuple[Bundle, Path], match: Any, expected: Expectations) -> None:
    bundle, path = pair
    config, size, generator = bundle.verifier.config, len(bundle.tokenizer), random.Random(4)
    sources, word_starts = sources_of(size, 12, 20), bytes(bundle.tokenizer.word_starts())
    model = NativeModel(config, path)
    greedy = native(model, sources, Request(max_length=30))
    texts = [changed(greedy[number].ids, size, config.eos, generator) for number in range(len(sources))]
    texts[0] = [*texts[0][:-1] * 40, config.eos]  # longer than the cache
    texts[1] = [*texts[1][:3], config.eos]
    assert len(texts[1]) < len(sources[1])
    asked = DecodingOptions(decoding="input-guided", match=match, max_length=30, always_draft=True, with_scores=True)
    # In the second case, every third sentence has the source copied.
    for copies in (texts, [() if number % 3 == 2 else text for number, text in enumerate(texts)]):
        outputs = expected(reference, bundle, sources, asked, copies)
        assert {number: each.ids for number, each in outputs.items()} == {number: each.ids for number, each in greedy.items()}
        drafts = [copy or source for copy, source in zip(copies, sources, strict=True)]
        for batch, threads in ((1, 1), (1, 2), (3, 2)):
            request = Request("input-guided", match, 0, batch, threads, 30, with_scores=True, word_starts=word_starts, drafts=drafts)
            assert native(model, sources, request) == outputs
    plain = native(model, sources, Request("input-guided", match, max_length=30, word_starts=word_starts))
    assert sum(each.rounds for each in outputs.values()) < sum(each.rounds for each in plain.values())


@pytest.mark.parametrize(("margin", "size"), [(0.3, 0), (1.0, 0), (1.0, 4)])
def test_copies_that_need_a_margin(pair: tuple[Bundle, Path], margin: float, size: int, expected: Expectations) -> None:
    bundle, path = pair
    sources = sources_of(len(bundle.tokenizer), 9, 20)
    reluctant = replace(bundle, info=replace(bundle.info, modes={"thorough": (0, 0)}, margins={"thorough": margin}))
    asked = DecodingOptions(decoding="input-guided", mode="thorough", block_size=size or None, with_scores=True)
    outputs = expected(reference, reluctant, sources, asked)
    model = NativeModel(bundle.verifier.config, path)
    for batch, threads in ((1, 1), (1, 2), (4, 2)):
        request = Request("input-guided", "nearest", size, batch, threads, with_scores=True, margin=margin)
        assert native(model, sources, replace(request, word_starts=bytes(bundle.tokenizer.word_starts()))) == outputs


def test_a_first_token_that_is_forced(pair: tuple[Bundle, Path]) -> None:
    bundle, path = pair
    sources = sources_of(len(bundle.tokenizer), 3, 9)
    model = NativeModel(bundle.verifier.config, path)
    for each in decode(model, sources, Request(forced=17, with_scores=True)):
        assert each.ids[0] == 17
        assert each.log_probabilities[0] == 0.0


def test_what_is_out_of_range_is_refused(pair: tuple[Bundle, Path]) -> None:
    bundle, path = pair
    model = NativeModel(bundle.verifier.config, path)
    size = len(bundle.tokenizer)
    for sources, request, message in (
        ([[8, size]], Request(), "vocabulary"),
        ([[-1, 3]], Request(), "vocabulary"),
        ([[8, 0]], Request(), "vocabulary"),
        ([[8, 3], []], Request(), "empty or longer"),
        ([[8] * 64 + [3]], Request(), "empty or longer"),
        ([[8, 3]], Request(batch=0), "option"),
        ([[8, 3]], Request(threads=2000), "option"),
        ([[8, 3]], Request(forced=size), "option"),
        ([[8, 3]], Request("input-guided"), "option"),  # without word starts
        ([[8, 3]], Request(margin=1.0), "option"),  # nothing is copied
        ([[8, 3]], Request("input-guided", word_starts=bytes(size), margin=float("nan")), "option"),
    ):
        with pytest.raises(NativeError, match=message):
            list(decode(model, sources, request))
    assert list(decode(model, [], Request())) == []


@pytest.mark.parametrize("name", ["en-de", "en-gec"])
def test_shipped_bundles_say_the_same(name: str, data: Path) -> None:
    bundle = open_bundle(name, Machine("cpu", "int8", 1))
    sources = shipped_sources(bundle, name, data)
    model = NativeModel(bundle.verifier.config, SHIPPED / name / "verifier" / "model.safetensors")
    word_starts = bytes(bundle.tokenizer.word_starts())
    for decoding in DECODINGS if name == "en-gec" else DECODINGS[:2]:
        size = 15 if decoding == "lookup" else 0
        asked = DecodingOptions(decoding=decoding, block_size=size or None, with_scores=True, always_draft=True)
        expected = by_number(reference(bundle, sources, asked))
        for batch, threads in ((1, 1), (1, 2), (8, 3)):
            request = Request(decoding, "nearest", size, batch, threads, with_scores=True, word_starts=word_starts)
            assert native(model, sources, request) == expected
    if name == "en-gec":
        expected = by_number(reference(bundle, sources, DecodingOptions(decoding="input-guided", mode="thorough", with_scores=True)))
        request = Request("input-guided", batch=8, threads=2, with_scores=True, word_starts=word_starts)
        assert native(model, sources, replace(request, margin=bundle.info.margins["thorough"])) == expected
        assert native(model, sources, request) != expected
