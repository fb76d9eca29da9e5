"""The kernel of the vocabulary gives the tokens, logits and log probabilities that PyTorch's operators give."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

pytest.importorskip("triton", reason="triton is not installed: pip install -e '.[kernels-test]'")
from specdec_cli.kernels.tiles import FEW_TOKENS
from specdec_cli.kernels.vocabulary import best_tokens


def projection(vocabulary: int, width: int = 48, *, bias: bool = True) -> nn.Linear:
    return nn.Linear(width, vocabulary, bias=bias)


def descending(logits: Tensor, count: int) -> Tensor:
    """The ids (N, n) of the best tokens, of equal ones the smaller id first."""
    return torch.sort(logits, dim=-1, descending=True, stable=True).indices[:, :count]


@pytest.mark.parametrize("vocabulary", [20, 64, 65, 150])
@pytest.mark.parametrize(("width", "best", "bias"), [(16, 1, True), (80, 5, False)])
def test_the_best_tokens_are_those_of_the_operators(vocabulary: int, width: int, best: int, bias: bool) -> None:
    output = projection(vocabulary, width, bias=bias)
    states, chosen = 4 * torch.randn(21, width), torch.randint(-1, vocabulary, (21,))
    result = best_tokens(states, output, best=best, chosen=chosen, totals=True, logits=True)
    assert result.logits is not None and result.totals is not None and result.chosen is not None
    torch.testing.assert_close(result.logits, output(states), rtol=2e-5, atol=2e-5)
    assert torch.equal(result.ids, descending(result.logits, best))
    assert torch.equal(result.values, result.logits.gather(1, result.ids))
    torch.testing.assert_close(result.totals, result.logits.logsumexp(-1), rtol=1e-6, atol=1e-6)
    expected = result.logits.gather(1, chosen.clamp_min(0)[:, None])[:, 0].masked_fill(chosen < 0, -torch.inf)
    assert torch.equal(result.chosen, expected)


def test_a_state_has_the_same_bits_in_any_company() -> None:
    output, states = projection(300, 80).half(), torch.randn(40, 80).half()
    everything = best_tokens(states, output, best=3, totals=True, logits=True)
    assert everything.logits is not None and everything.totals is not None
    for row in (0, 15, 16, 39):
        alone = best_tokens(states[row : row + 1], output, best=3, totals=True, logits=True)
        assert alone.logits is not None and alone.totals is not None
        assert torch.equal(alone.ids[0], everything.ids[row]) and torch.equal(alone.values[0], everything.values[row])
        assert torch.equal(alone.logits[0], everything.logits[row]) and torch.equal(alone.totals[0], everything.totals[row])
    larger = best_tokens(states, output, best=3, logits=True)  # in tiles of more rows, which sums of exponentials do not have
    assert larger.logits is not None and torch.equal(larger.logits, everything.logits) and torch.equal(larger.ids, everything.ids)


def test_of_equal_logits_the_smaller_id_is_first() -> None:
    output = projection(200, 16, bias=False)
    output.weight.copy_(output.weight[:10].repeat(20, 1))
    result = best_tokens(torch.randn(9, 16), output, best=25, logits=True)
    assert result.logits is not None
    assert torch.equal(result.ids, descending(result.logits, 25))


def test_forbidden_tokens_and_those_beyond_the_shortlist_are_not_chosen() -> None:
    output, states = projection(150, 16), torch.randn(9, 16)
    forms, forbidden = torch.arange(150, dtype=torch.int32) % 40, torch.randint(40, (9, 16), dtype=torch.int32)
    forbidden[4] = 0  # nothing
    result = best_tokens(states, output, best=2, forms=forms, forbidden=forbidden, totals=True)
    plain = best_tokens(states, output, logits=True)
    assert plain.logits is not None and result.totals is not None
    excluded = ((forms == forbidden[..., None]) & (forbidden[..., None] > 0)).any(1)
    logits = plain.logits.masked_fill(excluded, -torch.inf)
    assert excluded.any(1).tolist() == [row != 4 for row in range(9)]
    assert torch.equal(result.values, logits.gather(1, descending(logits, 2)))
    torch.testing.assert_close(result.totals, logits.logsumexp(-1))
    whole = best_tokens(states, output, best=2, forms=forms, forbidden=forbidden, totals="all")
    assert whole.totals is not None and torch.equal(whole.values, result.values)
    torch.testing.assert_close(whole.totals, plain.logits.logsumexp(-1))
    short = best_tokens(states, output, best=3, shortlist=70)
    assert torch.equal(short.ids, descending(plain.logits[:, :70], 3))


def test_a_vocabulary_of_262144_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = replace(FEW_TOKENS, columns=8192)  # the interpreter needs 15 ms for a tile
    monkeypatch.setattr("specdec_cli.kernels.vocabulary.FEW_TOKENS", wide)
    output, states = projection(2**18, 16), torch.randn(2, 16)
    result = best_tokens(states, output, best=2, totals=True)
    logits = output(states)
    assert result.totals is not None
    assert torch.equal(result.ids, descending(logits, 2)) and int(result.ids.max()) > 2**16
    torch.testing.assert_close(result.totals, logits.logsumexp(-1))
