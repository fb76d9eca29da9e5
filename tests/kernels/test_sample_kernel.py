"""The kernel of sampling chooses the tokens that the operators choose, and their scores have the same bits."""

from unittest import mock

import pytest
import torch

pytest.importorskip("triton", reason="triton is not installed: pip install -e '.[kernels-test]'")
from specdec_cli.decoding.options import Sampled
from specdec_cli.decoding.sampling import perturbed
from specdec_cli.kernels.sample import sample


@pytest.mark.parametrize("vocabulary", [5, 48, 1030])
@pytest.mark.parametrize(
    "rule", [Sampled(), Sampled(temperature=0.3, seed=7), Sampled(temperature=1.7, top_k=3, seed=2**32 - 1), Sampled(top_k=9999)]
)
def test_tokens_and_scores_have_the_bits_of_the_operators(vocabulary: int, rule: Sampled) -> None:
    rows, queries = 3, 2
    logits = 3 * torch.randn(rows, queries, vocabulary)
    logits[1, :, ::2] = -torch.inf
    logits[2] = 0.5  # ties, which top_k keeps
    streams, lengths = torch.randint(2**32, (rows, 2)), torch.randint(1, 500, (rows,))
    scores = perturbed(logits, rule, streams, lengths)
    tokens, highest = sample(logits, rule, streams, lengths)
    assert torch.equal(tokens, scores.argmax(-1))
    assert torch.equal(highest, scores.amax(-1))
    assert len(set(tokens.flatten().tolist())) > 1


def test_a_position_has_the_same_token_in_any_company() -> None:
    logits, streams, lengths = torch.randn(3, 4, 100), torch.randint(2**32, (3, 2)), torch.tensor([1, 5, 9])
    together = sample(logits, Sampled(), streams, lengths)[1]
    for row in range(3):
        for query in range(4):
            one = logits[row : row + 1, query : query + 1].contiguous()
            alone = sample(one, Sampled(), streams[row : row + 1], lengths[row : row + 1] + query)[1]
            assert torch.equal(alone[0, 0], together[row, query])


def test_what_a_graph_reads_stays_where_it_is() -> None:
    """A CUDA graph reads the constants at the address of its capture, whatever temperatures other requests have."""
    logits, streams, lengths = torch.randn(1, 1, 20), torch.tensor([[1, 2]]), torch.tensor([3])
    sample(logits, Sampled(), streams, lengths)
    with mock.patch.object(torch, "tensor", side_effect=AssertionError("the constants are made anew")):
        for number in range(9):
            sample(logits, Sampled(temperature=0.5 + 0.1 * number), streams, lengths)
        sample(logits, Sampled(), streams, lengths)
