"""The measurement of the costs of rounds."""

import pytest
import torch

from specdec_cli.decoding.costs import Costs, made_up_sources
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.engines.reference_costs import UNKNOWN, measure_costs
from specdec_cli.text.tokenize.sentencepiece import EOS
from tests.fake_drafters import FakeDrafter, right
from tests.fakes import tiny_transformer

TARGET = [7 + position % 30 for position in range(60)]


def test_costs_are_interpolated_linearly() -> None:
    costs = Costs((2, 10), (1.0, 8.0), ((2.0, 6.0), (10.0, 50.0)), ((1.0, 1.0), (3.0, 2.0)))
    assert costs.without(1) == pytest.approx(1.0)
    assert costs.without(15) == pytest.approx(15.0)
    assert costs.with_draft(1, 2, 10) == pytest.approx(7.0)
    assert costs.with_draft(1, 6, 6) == pytest.approx(5.0)
    assert costs.with_draft(8, 10, 2) == pytest.approx(13.0)  # a cost that decreases with size is noise
    assert costs.with_draft(1, 1, 0) == pytest.approx(3.0)  # at least the cost of the smallest measured size


def test_measuring_does_not_change_the_drafter() -> None:
    drafter = FakeDrafter(dict.fromkeys(range(8), TARGET), 5, right)
    costs = measure_costs(Verifier(tiny_transformer()), drafter, 5)
    assert drafter.limit == 5
    assert costs.sizes == (3, 5)
    assert costs.without(1) > 0 and costs.with_draft(1, 3, 3) > 0


def test_costs_of_a_model_with_empty_outputs_are_measured() -> None:
    model = tiny_transformer()
    with torch.no_grad():
        model.output.bias[EOS] = 1e4
    costs = measure_costs(Verifier(model), FakeDrafter(dict.fromkeys(range(8), TARGET), 5, right), 5)
    assert costs.without(1) == costs.without(8) == UNKNOWN
    assert costs.with_draft(1, 3, 3) >= UNKNOWN


@pytest.mark.parametrize("vocabulary", [8, 5, 1, 40])
def test_made_up_sources_are_within_the_vocabulary(vocabulary: int) -> None:
    sources = made_up_sources(8, vocabulary, EOS)
    assert len(sources) == 8
    assert all(0 <= token < vocabulary for source in sources for token in source[:-1])
    assert all(source[-1] == EOS for source in sources)


def test_costs_of_a_model_with_eight_source_tokens_are_measured() -> None:
    model = tiny_transformer(source_vocabulary_size=8, shared_embeddings=False, output_bias=False)
    assert measure_costs(Verifier(model), FakeDrafter(dict.fromkeys(range(8), TARGET), 5, right), 5).without(1) > 0
