"""The stopping rules of beam search, against fairseq's published algorithm."""

import pytest
import torch
from torch import Tensor

from specdec_cli.decoding.beam import beam_search
from specdec_cli.decoding.options import BeamSearch, Constraints, Decoding
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.choices import SUPPRESSED
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.tokenize.sentencepiece import BOS, EOS, PADDING
from tests.decoding.fairseq_search import LogProbabilities, Rules, fairseq_search
from tests.fakes import make_sentences, tiny_transformer

LONGEST = 14
RULES = Rules(BOS, PADDING, EOS, LONGEST)


def scorer(model: Transformer, sentence: Sentence) -> LogProbabilities:
    """The function that computes log probabilities of the next token after prefixes."""

    @torch.no_grad()
    def log_probabilities(prefixes: list[list[int]]) -> Tensor:
        logits = model(torch.tensor([sentence.source] * len(prefixes)), torch.tensor(prefixes))[:, -1]
        logits[:, PADDING] -= SUPPRESSED
        found: Tensor = logits.log_softmax(-1)
        return found

    return log_probabilities


def never_padding(ends: float) -> Transformer:
    """A model that suppresses padding, which has a share of the probability."""
    model = tiny_transformer(ends=ends)
    with torch.no_grad():
        model.output.bias[PADDING] += 1 + SUPPRESSED
    return model


def search(
    model: Transformer, sentence: Sentence, options: Decoding, forced: int | None = None, min_length: int = 1
) -> list[tuple[float, list[int]]]:
    constraints = Constraints(min_length=min_length, forced_end=True)
    (found,) = beam_search([Verifier(model, forced, constraints)], [sentence], options)
    return [(alternative.score, alternative.ids) for alternative in found.alternatives]


@pytest.mark.parametrize("prefix", [None, 9])
@pytest.mark.parametrize(("beam", "length_penalty", "min_length"), [(1, 1.0, 1), (3, 1.0, 1), (5, 1.0, 1), (5, 0.0, 4), (4, 2.0, 0)])
def test_the_fairseq_rule_gives_fairseqs_output(beam: int, length_penalty: float, min_length: int, prefix: int | None) -> None:
    model = never_padding(ends=0.3)
    options = Decoding(search=BeamSearch(beam_size=beam, length_penalty=length_penalty, n_best=beam, stop="fairseq"), max_length=LONGEST)
    for sentence in make_sentences(8):
        expected = fairseq_search(scorer(model, sentence), RULES, beam, length_penalty, min_length, prefix)
        found = search(model, sentence, options, prefix, min_length)
        assert [ids for _, ids in found] == [ids for _, ids in expected]
        assert [score for score, _ in found] == pytest.approx([score for score, _ in expected], abs=2e-3)


def test_stopping_rules_stop_at_different_steps() -> None:
    """Rules that stop later find longer hypotheses that are no worse; otherwise the comparisons would prove nothing."""
    model, sentences = never_padding(ends=0.3), make_sentences(20)
    found = {}
    for stop in ("fairseq", "first", "heuristic", "never"):
        options = Decoding(search=BeamSearch(beam_size=4, length_penalty=1.0, n_best=4, stop=stop), max_length=LONGEST)
        found[stop] = [search(model, sentence, options) for sentence in sentences]
    best = {stop: [alternatives[0][0] for alternatives in each] for stop, each in found.items()}
    assert sum(best["first"]) < sum(best["heuristic"]) <= sum(best["never"]) and found["heuristic"] != found["never"]
    assert found["fairseq"] != found["heuristic"]
