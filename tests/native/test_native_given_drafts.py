"""Given drafts in the native engine: greedy's output, and the rounds of the reference engine."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specdec_cli.decoding.methods import GIVEN
from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.engines.native import NativeEngine
from specdec_cli.engines.reference import Engine
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.bundle_info import describe_bundle
from specdec_cli.native.library import NativeError
from specdec_cli.native.model import NativeModel
from specdec_cli.opening.machine import Machine
from specdec_cli.opening.models import SHIPPED, open_bundle
from tests.native.comparison import changed, native, sources_of
from tests.native.decoding_requests import Request, decode
from tests.native.expected import Expectations

pytestmark = pytest.mark.usefixtures("sharing")


@pytest.mark.parametrize("prefixed", [0.0, 0.5])
@pytest.mark.parametrize("match", ["nearest", "unique", "unique-3"])
def test_random_models_have_the_rounds_of_the_reference(
    pair: tuple[Bundle, Path], match: Any, prefixed: float, expected: Expectations
) -> None:
    bundle, path = pair
    config, generator = bundle.verifier.config, random.Random(5)
    sources = sources_of(len(bundle.tokenizer), 12, 20)
    model = NativeModel(config, path)
    greedy = native(model, sources, Request(max_length=30))
    drafts = [changed(greedy[number].ids, len(bundle.tokenizer), config.eos, generator) for number in range(len(sources))]
    bounds = [generator.choice((0, 1, 3)) for _ in sources]
    prefixes = [generator.randrange(len(draft)) if generator.random() < prefixed else 0 for draft in drafts]
    decoding = resolve(DecodingOptions(decoding="greedy", max_length=30, with_scores=True), bundle)
    engine = Engine(bundle, replace(decoding, match=match))
    asked = [Sentence(number, *each) for number, each in enumerate(zip(sources, drafts, bounds, prefixes, strict=True))]
    outputs = expected(engine.decode, asked)
    word_starts = bytes(bundle.tokenizer.word_starts())
    for batch, threads in ((1, 1), (1, 2), (3, 2), (16, 1)):
        request = Request(
            *(GIVEN, match, 0, batch, threads, 30),
            with_scores=True,
            word_starts=word_starts,
            drafts=drafts,
            first_drafts=bounds,
            prefix_lengths=prefixes,
        )
        found = native(model, sources, request)
        for number, each in found.items():
            assert each == outputs[number]
            kept = min(prefixes[number], len(each.ids) - 1)
            assert each.ids[:kept] == drafts[number][:kept]
            assert prefixes[number] or each.ids == greedy[number].ids
    assert prefixed or sum(each.rounds for each in outputs.values()) < sum(each.rounds for each in greedy.values())


def test_shipped_translations_have_the_rounds_of_the_reference(data: Path) -> None:
    bundle = open_bundle("en-de", Machine("cpu", "int8", 1))
    pairs = [line.split("\t")[-2:] for line in (data / "en-de" / "dev.chat.tsv").read_text(encoding="utf-8").splitlines()[:30]]
    sources = [bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode(source)) for source, _ in pairs]
    eos = bundle.verifier.config.eos
    drafts = [[*ids, eos] for ids in bundle.tokenizer.encode_targets([target for _, target in pairs])]
    described = describe_bundle(SHIPPED / "en-de", "", "")
    for batch_size in (1, 8):
        asked = DecodingOptions(decoding="greedy", batch_size=batch_size)
        engines = Engine(bundle, resolve(asked, bundle)), NativeEngine(described, resolve(asked, described), 2)
        # Every third sentence comes without a draft.
        sentences = [Sentence(i, s, d if i % 3 else (), i % 4) for i, (s, d) in enumerate(zip(sources, drafts, strict=True))]
        reference, ours = ({each.number: (each.ids, each.rounds, each.decoding) for each in e.decode(sentences)} for e in engines)
        assert ours == reference
        greedy = {each.number: each.ids for each in engines[1].decode([Sentence(i, s) for i, s in enumerate(sources)])}
        assert {number: ids for number, (ids, _, _) in ours.items()} == greedy
        assert {name for _, _, name in ours.values()} == {"greedy", GIVEN}


def test_drafts_out_of_range_are_refused(pair: tuple[Bundle, Path]) -> None:
    bundle, path = pair
    model, size = NativeModel(bundle.verifier.config, path), len(bundle.tokenizer)
    word_starts = bytes(bundle.tokenizer.word_starts())
    for drafts, bounds, starts, message in (
        ([[8, size]], [0], word_starts, "vocabulary"),
        ([[-1, 3]], [0], word_starts, "vocabulary"),
        ([[]], [0], word_starts, "empty or longer"),
        ([[8, 3]], [-1], word_starts, "empty or longer"),
        ([[8, 3]], [0], b"", "option"),
    ):
        with pytest.raises(NativeError, match=message):
            list(decode(model, [[8, 3]], Request(GIVEN, word_starts=starts, drafts=drafts, first_drafts=bounds)))


def test_drafts_need_greedy_output() -> None:
    described = describe_bundle(SHIPPED / "en-de", "", "")
    engine = NativeEngine(described, resolve(DecodingOptions(decoding="specdec++"), described), 1)
    with pytest.raises(UsageError, match="not for specdec"):
        list(engine.decode([Sentence(0, [8, 3], [8, 3])]))
