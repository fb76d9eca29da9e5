"""A whole Transformer computed by kernels: the states, logits and tokens of the operators, and the same bits for a row in any company."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from torch import Tensor

pytest.importorskip("triton", reason="triton is not installed: pip install -e '.[kernels-test]'")
from specdec_cli.decoding.drafters import NoDrafter
from specdec_cli.decoding.loop import decode_with
from specdec_cli.decoding.options import Constraints, Decoding, Exact
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft, State, Written
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.kernels import network as network_module
from specdec_cli.kernels.accept import accept
from specdec_cli.kernels.network import TritonNetwork
from tests.fake_drafters import FakeDrafter, sometimes
from tests.fakes import RELATIVE, RELATIVE_SHAPE, VOCABULARY, tiny_transformer

pytestmark = pytest.mark.usefixtures("whole_layers")

VARIANTS: dict[str, dict[str, Any]] = {
    "as shipped": {"positions": "sinusoidal", "embedding_scale": True, "output_bias": False},
    "BART": {"norm": "post", "activation": "gelu", "embedding_norm": True, "position_offset": 2, "decoder_layers": 1},
    "Marian": {"norm": "post", "activation": "silu", "positions": "sinusoidal", "embedding_scale": True, "decoder_layers": 1},
    "untied": {"tied_output": False, "shared_embeddings": False, "source_vocabulary_size": VOCABULARY, "activation": "gelu"},
    "pairs": {"order": "bidirectional", "decoder_layers": 1},
    "masked": {"order": "masked", "decoder_layers": 1},
    "a head of 80": {"width": 80, "heads": 1, "feed_forward": 96, "decoder_layers": 1},
    "a head of 128": {"width": 128, "heads": 1, "feed_forward": 48, "decoder_layers": 1},
    **{f"relative, {name}": RELATIVE_SHAPE | kind for name, kind in RELATIVE.items()},
}


def sources(rows: int, width: int, longest: int) -> Tensor:
    """Random source ids (B, `width`) of up to `longest` tokens, padded on the right."""
    ids = torch.randint(4, VOCABULARY, (rows, width))
    lengths = torch.randint(1, longest + 1, (rows,))
    lengths[0] = longest
    return torch.where(torch.arange(width) < lengths[:, None], ids, 0)


def read(network: TritonNetwork, source: Tensor, target: Tensor, queries: int, capacity: int) -> tuple[Tensor, Tensor]:
    """States (B, T, W) and logits (B, T, V) of `target` (B, T), of which passes read `queries` tokens each."""
    memory = network.encode(source)
    cache = network.new_cache(memory, capacity)
    cache.whole.fill_(torch.nan)
    states = []
    for first in range(0, target.shape[1], queries):
        ids = target[:, first : first + queries]
        positions = (first + torch.arange(ids.shape[1])).expand_as(ids)
        states.append(network.decode(ids, positions, positions + 1, memory, cache))
    together = torch.cat(states, 1)
    return together, network.project(together)


@pytest.mark.parametrize("name", VARIANTS)
def test_states_and_logits_are_those_of_the_operators(name: str) -> None:
    model = tiny_transformer(**VARIANTS[name])
    network, source, target = TritonNetwork(model), sources(2, 12, 10), torch.randint(4, VOCABULARY, (2, 6))
    memory, expected = network.encode(source), model.encode(source)
    for row, end in enumerate(expected.mask.ends[:, 0].tolist()):
        torch.testing.assert_close(memory.states[row, :end], expected.states[row, :end], rtol=1e-4, atol=1e-4)
    states = network.teach(memory, target)
    torch.testing.assert_close(states, model.teach(expected, target), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(network.project(states), model.output(states), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_states_in_half_precision_are_as_close_as_those_of_the_operators(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_module, "supported", lambda *_: None)
    half, single = tiny_transformer().to(dtype), tiny_transformer().to(dtype).float()
    source, target = sources(2, 12, 10), torch.randint(4, VOCABULARY, (2, 6))
    exact = single.teach(single.encode(source), target)
    by_operators = (half.teach(half.encode(source), target) - exact).abs()
    network = TritonNetwork(half)
    states = network.teach(network.encode(source), target)
    assert states.dtype is dtype
    assert float((states - exact).abs().mean()) < 1.5 * float(by_operators.mean())


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("as shipped", torch.float16),
        ("BART", torch.bfloat16),
        ("Marian", torch.float32),
        ("a head of 80", torch.float32),
        ("a head of 128", torch.float16),
        ("relative, gated", torch.bfloat16),
        ("relative, of layers", torch.float32),
    ],
)
def test_a_row_has_the_same_bits_in_any_company(name: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_module, "supported", lambda *_: None)  # these tests multiply bfloat16
    network = TritonNetwork(tiny_transformer(**VARIANTS[name]).to(dtype))
    source, target = sources(3, 10, 8), torch.randint(4, VOCABULARY, (3, 5))
    expected = read(network, source, target, 5, 20)
    for row, queries, capacity, width in ((0, 1, 5, 8), (2, 5, 40, 10), (2, 3, 7, 36)):
        end = int((source[row] != 0).sum())
        alone = torch.nn.functional.pad(source[row : row + 1, :end], (0, width - end))
        states, logits = read(network, alone, target[row : row + 1], queries, capacity)
        assert torch.equal(states[0], expected[0][row])
        assert torch.equal(logits[0], expected[1][row])


def run_rounds(network: TritonNetwork, source: Tensor, longest: int, propose: Callable[[State], Draft]) -> list[list[int]]:
    """Decode by kernels: the tokens of each row. A round proposes, verifies, accepts and advances."""
    config, rows, capacity = network.config, len(source), longest + 2
    memory = network.encode(source)
    cache = network.new_cache(memory, capacity)
    tokens, ones = torch.zeros(rows, capacity, dtype=torch.int64), torch.ones(rows, dtype=torch.int64)
    tokens[:, 0] = config.decoder_start
    parts = {"tokens": tokens, "lengths": ones.clone(), "limits": ones * (longest + 1), "finished": ones == 0}
    state = cast(State, SimpleNamespace(**parts))
    while not state.finished.all():
        draft = propose(state)
        ids = torch.cat([tokens.gather(1, state.lengths[:, None] - 1), draft.ids], 1)
        positions = (state.lengths[:, None] - 1 + torch.arange(ids.shape[1])).clamp_max(capacity - 1)
        best = network.best(network.decode(ids, positions, positions + 1, memory, cache)).ids.view_as(ids)
        accepted, ended = accept(draft, best, Exact(), state, config.eos)
        for row, count in enumerate(accepted.counts.tolist()):
            start = int(state.lengths[row])
            tokens[row, start : start + count] = accepted.ids[row, :count]
        state.lengths += accepted.counts
        state.finished |= ended
    return [tokens[row, 1:length].tolist() for row, length in enumerate(state.lengths.tolist())]


def nothing(state: State) -> Draft:
    return NoDrafter().propose(state, None, 0)


def copies(texts: Sequence[Sequence[int]], size: int) -> Callable[[State], Draft]:
    """Proposes the next `size` tokens of each row's text, of which every fourth is replaced by another one."""

    def propose(state: State) -> Draft:
        ids = torch.zeros(len(texts), size, dtype=torch.int64)
        for row, (text, length) in enumerate(zip(texts, state.lengths.tolist(), strict=True)):
            for slot, token in enumerate(text[length - 1 : length - 1 + size]):
                ids[row, slot] = token if (length + slot) % 4 else (token + 1) % VOCABULARY
        return Draft(ids, torch.full((len(texts),), size))

    return propose


@pytest.mark.parametrize("changes", [{"decoder_layers": 1}, VARIANTS["BART"], VARIANTS["relative, gated"]])
def test_rounds_give_the_tokens_of_the_plain_network(changes: dict[str, Any]) -> None:
    model = tiny_transformer(**changes)
    source = sources(3, 10, 9)
    sentences = [Sentence(number, [token for token in ids if token]) for number, ids in enumerate(source.tolist())]
    hypotheses = decode_with(Verifier(model), NoDrafter(), sentences, Decoding(max_length=8, batch_size=3))
    expected = [hypothesis.ids for hypothesis in sorted(hypotheses, key=lambda hypothesis: hypothesis.number)]
    assert len({tuple(ids) for ids in expected}) > 1
    network = TritonNetwork(model)
    assert run_rounds(network, source, 8, nothing) == expected
    assert run_rounds(network, source, 8, copies(expected, 5)) == expected
    drafter = FakeDrafter(dict(enumerate(expected)), 4, sometimes)
    hypotheses = decode_with(Verifier(network), drafter, sentences, Decoding(max_length=8, batch_size=2))
    assert {hypothesis.number: hypothesis.ids for hypothesis in hypotheses} == dict(enumerate(expected))


def test_half_precision_gives_the_same_tokens_with_drafts_and_in_batches() -> None:
    network, source = TritonNetwork(tiny_transformer(decoder_layers=1).half()), sources(2, 10, 9)
    alone = [run_rounds(network, source[row : row + 1], 8, nothing)[0] for row in range(2)]
    for size in (1, 4):
        assert run_rounds(network, source, 8, copies(alone, size)) == alone


def test_a_model_that_kernels_cannot_compute_is_refused() -> None:
    with pytest.raises(ValueError, match=r"kernels do not compute in torch\.float64"):
        TritonNetwork(tiny_transformer().double())


def test_states_may_be_a_part_of_others() -> None:
    network, states = TritonNetwork(tiny_transformer(decoder_layers=1)), torch.randn(3, 4, 32)
    part = states[:, 1:2]
    assert torch.equal(network.project(part), network.project(part.contiguous()))
    rows, written = states[:, 1], Written(torch.zeros(3, 4, dtype=torch.long), torch.ones(3, dtype=torch.long), None)
    each = [network.continuations(states, 2, Constraints(), written) for states in (rows, rows.contiguous())]
    for found, expected in zip(*each, strict=True):
        assert torch.equal(found, expected)
