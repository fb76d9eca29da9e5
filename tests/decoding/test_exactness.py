"""Logits are bit-identical: step by step and in blocks, alone and in batches."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product

import pytest
import torch
from torch import Tensor

from specdec_cli.decoding.drafters import NoDrafter
from specdec_cli.decoding.loop import decode_with
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.rounds import RoundTrace
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft, Scores, State
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.transformer import Transformer
from tests.fake_drafters import FakeDrafter, sometimes
from tests.fakes import RELATIVE, RELATIVE_SHAPE, in_precision, make_sentences, tiny_transformer

LONGEST = 9
EXACT = ["float32", "int8"]
"""Precisions that are exact on every CPU. In bfloat16, some products depend on the number of rows on some processors."""


@cache
def model(name: str, precision: str) -> Transformer:
    """A tiny model, or one of a realistic size, at which kernels differ by the number of rows."""
    if name == "wide":
        torch.manual_seed(1)
        shape = TransformerConfig(8000, width=384, feed_forward=1536, heads=6, encoder_layers=2, decoder_layers=2)
        return in_precision(Transformer(shape), precision)
    if name in RELATIVE:
        return in_precision(tiny_transformer(**RELATIVE_SHAPE | RELATIVE[name]), precision)
    norm, heads = ("post" if name == "silu" else "pre"), (4 if name == "gelu" else 2)
    return in_precision(tiny_transformer(activation=name, norm=norm, embedding_norm=norm == "post", heads=heads), precision)


class Recorder(Verifier):
    """Records the logits and states (T, V + W) of every accepted token of a sentence."""

    def __init__(self, model: Transformer) -> None:
        super().__init__(model)
        self.rows: dict[int, list[Tensor]] = defaultdict(list)

    def score(self, state: State, draft: Draft) -> Scores:
        """Score, and keep logits and states for `look`."""
        self._last = super().score(state, draft)
        return self._last

    def look(self, seen: RoundTrace) -> None:
        """Record logits and states of the accepted tokens."""
        both = torch.cat([self._last.logits, self._last.states], dim=2)
        for row, (number, count) in enumerate(zip(seen.state.numbers.tolist(), seen.accepted.counts.tolist(), strict=True)):
            self.rows[number] += both[row, :count]


def recorded(model: Transformer, sentences: Sequence[Sentence], block_size: int, batch_size: int) -> list[Tensor]:
    """The logits and states of each sentence, decoded with drafts that are sometimes right."""
    recorder = Recorder(model)
    options = Decoding(batch_size=batch_size, max_length=LONGEST)
    outputs = {h.number: h.ids for h in decode_with(Verifier(model), NoDrafter(), sentences, options)} if block_size else {}
    drafter = FakeDrafter(outputs, block_size, sometimes) if block_size else NoDrafter()
    assert len(list(decode_with(recorder, drafter, sentences, options, recorder.look))) == len(sentences)
    return [torch.stack(recorder.rows[sentence.number]) for sentence in sentences]


@cache
def one_by_one(name: str, precision: str, width: int) -> list[Tensor]:
    """The reference: each sentence alone, step by step."""
    return recorded(model(name, precision), make_sentences(5, width), 0, 1)


@pytest.fixture
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    """Set the number of threads inside the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("block_size", "batch_size"), [(0, 5), (3, 1), (7, 1), (12, 1), (3, 4), (7, 5), (12, 3)])
@pytest.mark.parametrize("width", [16, 32])
@pytest.mark.parametrize(
    ("name", "precision"), [*product(["relu", "gelu", "silu", "wide", *RELATIVE], EXACT), *product(["relu", "gelu", "silu"], ["bfloat16"])]
)
@pytest.mark.parametrize("threads", [1], indirect=True)
def test_logits_depend_neither_on_the_block_nor_on_the_batch(
    threads: int,  # noqa: ARG001
    name: str,
    precision: str,
    width: int,
    block_size: int,
    batch_size: int,
) -> None:
    found = recorded(model(name, precision), make_sentences(5, width), block_size, batch_size)
    for alone, together in zip(one_by_one(name, precision, width), found, strict=True):
        assert torch.equal(alone, together)


@pytest.mark.parametrize("precision", EXACT)
@pytest.mark.parametrize("threads", [1, 2], indirect=True)
@torch.inference_mode()
def test_one_pass_over_a_block_equals_single_steps(threads: int, precision: str) -> None:  # noqa: ARG001
    verifier, sources = Verifier(model("wide", precision)), [sentence.source for sentence in make_sentences(2)]
    alone, together = verifier.begin([0], sources[:1]), verifier.begin([0, 1], sources)
    assert torch.equal(alone.memory.states[0], together.memory.states[0])
    ids = torch.arange(9, 16).expand(2, -1)
    in_batch = verifier.score(together, Draft(ids, together.lengths * 0 + 7)).logits[0]
    assert torch.equal(verifier.score(alone, Draft(ids[:1], alone.lengths * 0 + 7)).logits[0], in_batch)
    for step in range(3):
        assert torch.equal(verifier.score(alone, Draft(ids[:1, :0], alone.lengths * 0)).logits[0, 0], in_batch[step])
        alone.tokens[0, step + 1] = ids[0, step]
        alone.lengths += 1


@pytest.mark.parametrize("precision", EXACT)
@pytest.mark.parametrize("width", [16, 48])
@pytest.mark.parametrize("threads", [1], indirect=True)
def test_encoder_states_do_not_depend_on_the_batch(threads: int, width: int, precision: str) -> None:  # noqa: ARG001
    verifier = Verifier(model("wide", precision))
    sources = [sentence.source for sentence in make_sentences(5, width)]
    alone = [verifier.begin([0], [source]).memory for source in sources]
    for rows in (2, 3, 5):
        together = verifier.begin(range(rows), sources[:rows]).memory
        for row in range(rows):
            assert torch.equal(alone[row].states[0], together.states[row])
            for lonely, shared in zip(alone[row].keys_values, together.keys_values, strict=True):
                assert torch.equal(lonely[0], shared[row])


@torch.inference_mode()
def test_stale_cache_positions_do_not_change_logits() -> None:
    verifier = Verifier(model("wide", "float32"))
    state = verifier.begin([0], [make_sentences(1)[0].source])
    empty = Draft(state.tokens[:, :0], state.lengths * 0)
    clean = verifier.score(state, empty).logits.clone()
    state.cache.whole[:, 1:] = 1e4
    assert torch.equal(verifier.score(state, empty).logits, clean)
