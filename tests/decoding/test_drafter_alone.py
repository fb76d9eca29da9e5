"""Decoding by the drafter alone: successive blocks, and only the parts of the verifier that it reads."""

from collections import Counter
from collections.abc import Sequence
from io import StringIO

import pytest
import torch
from rich.console import Console

from specdec_cli.console.reports import Tracer
from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.drafters.networks import Block
from specdec_cli.decoding.loop import decode_alone
from specdec_cli.decoding.options import Decoding, DecodingOptions, resolve
from specdec_cli.decoding.rounds import RoundTrace
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.model.drafter_config import Reads
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.tokenize.sentencepiece import EOS
from specdec_cli.training.blocks import block_states, encode_sentences
from specdec_cli.visualization.recording import Recorder
from tests.decoding.imitation import imitated
from tests.fake_drafters import FakeDrafter, right
from tests.fakes import DRAFTERS, in_precision, make_sentences, tiny_drafter, tiny_transformer

SIZE = 4
LONGEST = 18


def found(verifier: Verifier, drafter: Drafter, reads: Reads, sentences: Sequence[Sentence], rows: int = 1) -> list[Hypothesis]:
    decoding = Decoding(method="drafter", batch_size=rows, max_length=LONGEST)
    return sorted(decode_alone(verifier, drafter, sentences, decoding, reads), key=lambda hypothesis: hypothesis.number)


@torch.no_grad()
def by_blocks(network: BlockDrafter, sentence: Sentence, forced: Sequence[int] = ()) -> Hypothesis:
    """The reference: blocks computed in the layout of training, each appended to the prefix."""
    ids, rounds = list(forced), 0
    while True:
        sentences = encode_sentences(network.verifier, torch.tensor([sentence.source]), torch.tensor([[*ids, EOS]]))
        cut = torch.tensor([[len(ids)]])
        states = block_states(network, sentences, cut, SIZE, SIZE)[0]
        rounds += 1
        for token in network.choose(states, sentences.prefix[0, cut[0]])[0].tolist():
            ids.append(token)
            if token == EOS or len(ids) == LONGEST:
                return Hypothesis(sentence.number, ids, rounds, None)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("forced", [None, 9])
@pytest.mark.parametrize("kind", DRAFTERS)
def test_successive_blocks_form_the_output(kind: str, forced: int | None) -> None:
    model, sentences = tiny_transformer(ends=0.3).double(), make_sentences(6)
    network = tiny_drafter(model, **DRAFTERS[kind]).double()
    expected = [by_blocks(network, sentence, [] if forced is None else [forced]) for sentence in sentences]
    for rows in (1, 4):
        assert found(Verifier(model, forced), Block(network, SIZE), network.config.reads, sentences, rows) == expected


@pytest.mark.sampled(4)
@pytest.mark.parametrize("forced", [None, 9])
@pytest.mark.parametrize("kind", DRAFTERS)
def test_replayed_blocks_equal_computed_ones(kind: str, forced: int | None) -> None:
    model, sentences = tiny_transformer(ends=0.3).double(), make_sentences(7)
    network = tiny_drafter(model, **DRAFTERS[kind]).double()
    imitation, reads = imitated(model, forced), network.config.reads
    alone = found(Verifier(model, forced), Block(network, SIZE), reads, sentences)
    for rows in (1, 2, 4):
        assert found(Verifier(model, forced), Block(network, SIZE), reads, sentences, rows) == alone
        replayed = found(imitation.verifier, Block(network, SIZE), reads, sentences, rows)
        assert replayed == alone
    counts = imitation.graphs.counts
    assert 0 < counts.waits <= counts.bursts
    assert counts.graphs == imitation.capture.count


def calls_of(model: Transformer) -> Counter[str]:
    """Count calls of the verifier's parts from now on."""
    calls: Counter[str] = Counter()
    for name in ("encoder", "layers", "output"):
        getattr(model, name).register_forward_hook(lambda *_, name=name: calls.update([name]))
    return calls


@pytest.mark.parametrize("kind", DRAFTERS)
def test_only_what_the_drafter_reads_is_computed(kind: str) -> None:
    model, sentences = tiny_transformer(ends=0.0), make_sentences(1)
    network = tiny_drafter(model, **DRAFTERS[kind])
    calls = calls_of(model)
    (hypothesis,) = found(Verifier(model), Block(network, SIZE), network.config.reads, sentences)
    assert hypothesis.rounds > 1
    reads = network.config.reads
    assert calls["encoder"] == (reads != "nothing")
    # The states of the last block are not needed.
    assert calls["layers"] == (hypothesis.rounds - 1 if reads == "states" else 0)
    # With a shared output projection, these are the drafter's calls.
    assert calls["output"] == (0 if network.config.embeddings == "own" else hypothesis.rounds)


def test_blocks_end_at_eos_or_the_limit() -> None:
    verifier, ids = Verifier(tiny_transformer()), [9, 10, 11, 12, EOS, 13, 14]
    short, long = [*ids], [7] * 30
    hypotheses = found(verifier, FakeDrafter({0: short, 1: long}, 3, right), "states", make_sentences(2), 2)
    assert [(h.ids, h.rounds, h.score) for h in hypotheses] == [(ids[:5], 2, None), (long[:LONGEST], 6, None)]


def test_finished_rows_leave_the_batch() -> None:
    seen: list[int] = []

    def look(now: RoundTrace) -> None:
        seen.append(len(now.state.lengths))
        assert torch.equal(now.accepted.ids, now.draft.ids)

    outputs = {number: [7] * (3 * number) + [EOS] for number in range(4)}
    decoding = Decoding(method="drafter", batch_size=4, max_length=LONGEST)
    drafter = FakeDrafter(outputs, 3, right)
    decoded = list(decode_alone(Verifier(tiny_transformer()), drafter, make_sentences(4), decoding, "states", look))
    assert [h.ids for h in decoded] == list(outputs.values())
    assert seen == [4, 3, 2, 1]


def test_onlookers_get_rounds_without_predictions(bundle: Bundle) -> None:
    model = tiny_transformer(ends=0.0, vocabulary_size=len(bundle.tokenizer))
    made = Bundle(BundleInfo(), bundle.tokenizer, model, tiny_drafter(model, **DRAFTERS["papers"]))
    chosen = resolve(DecodingOptions(decoding="drafter", block_size=SIZE, max_length=6), made)
    console, recorder = Console(file=StringIO(), width=200), Recorder()
    tracer = Tracer(console, bundle.tokenizer, EOS)
    (sentence,) = make_sentences(1)
    for onlooker in (tracer, recorder):
        (hypothesis,) = Engine(made, chosen, onlooker).decode([sentence])
    assert [line.split()[:2] for line in console.file.getvalue().splitlines()] == [["1.1", "D"], ["1.2", "D"], ["1", "="]]  # type: ignore[attr-defined]
    picture = recorder.picture("drafter", bundle.tokenizer, sentence.source, hypothesis)
    marks = [[cell and (cell.mark, cell.probability) for cell in row] for row in picture.rows]
    accepted, known = ("accepted", None), ("known", None)
    assert marks == [[accepted] * 4 + [None] * 2, [known] * 4 + [accepted] * 2]


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "int8"])
@pytest.mark.parametrize("kind", ["states", "papers"])
def test_an_engine_decodes_with_the_drafter_alone(kind: str, precision: str, bundle: Bundle) -> None:
    model = tiny_transformer(vocabulary_size=len(bundle.tokenizer))
    network = tiny_drafter(model, **DRAFTERS[kind])
    made = Bundle(BundleInfo(), bundle.tokenizer, in_precision(model, precision, network), network)
    if not precision.startswith("int8"):
        network.to(getattr(torch, precision))
    sentences = make_sentences(9)
    engine = Engine(made, resolve(DecodingOptions(decoding="drafter", max_length=LONGEST, batch_size=4, with_scores=True), made))
    calls = calls_of(model)
    hypotheses = sorted(engine.decode(sentences), key=lambda hypothesis: hypothesis.number)
    assert [h.number for h in hypotheses] == list(range(9))
    assert {(h.score, h.decoding) for h in hypotheses} == {(None, "drafter")}
    assert all(h.rounds == -(-len(h.ids) // network.config.max_block) for h in hypotheses)
    assert (calls["layers"] > 0) == (kind == "states")
