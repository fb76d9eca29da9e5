"""Beam search over pairs against Algorithm 1 of Imamura and Sumita, transcribed and computed by hand."""

from math import exp, log

import pytest
import torch

from specdec_cli.decoding.beam import beam_search
from specdec_cli.decoding.options import BeamSearch, Decoding
from specdec_cli.decoding.sentence import Alternative
from specdec_cli.decoding.state import Draft, Scores, State
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.tokenize.sentencepiece import EOS as EOD
from tests.decoding.test_beam_candidates import following
from tests.fakes import VOCABULARY, make_sentences, tiny_transformer

Beam = list[tuple[float, list[int]]]


def decode_beam(model: Transformer, source: list[int], beam: Beam, width: int) -> Beam:
    """DECODEBEAM and DOUBLETOPK (lines 6 and 7): 2 W left tokens, then 3 W right tokens considering the left probabilities."""
    lefts, rights = [], {}
    for score, tokens in beam:
        left, right = following(model, source, tokens).tolist()
        rights[tuple(tokens)] = right
        lefts += [(score + likely, tokens, token) for token, likely in enumerate(left)]
    pairs = [
        (score + likely, [*tokens, first, second])
        for score, tokens, first in sorted(lefts, reverse=True)[: 2 * width]
        for second, likely in enumerate(rights[tuple(tokens)])
        if first != EOD or second == EOD  # how sentences are folded
    ]
    return sorted(pairs, reverse=True)[: 3 * width]


def finalize(tokens: list[int]) -> list[int]:
    """FINALIZE (line 10): the left tokens, then the right ones in reverse."""
    words = tokens[: tokens.index(EOD)]
    return words[0::2] + list(reversed(words[1::2]))


def algorithm_1(model: Transformer, source: list[int], width: int, outputs: int) -> list[tuple[float, list[int]]]:
    """The K = `outputs` best hypotheses, scored by log probability over length."""
    beam: Beam = [(0.0, [])]
    hypotheses: Beam = []
    while len(hypotheses) < outputs:
        pairs = decode_beam(model, source, beam, width)
        for score, tokens in pairs[:width]:
            if EOD in tokens[-2:]:
                hypotheses.append((score / len(tokens), finalize(tokens)))
        beam = [(score, tokens) for score, tokens in pairs if EOD not in tokens[-2:]][:width]
    return sorted(hypotheses, reverse=True)[:outputs]


@pytest.mark.parametrize("width", [1, 2, 5])
def test_the_search_equals_algorithm_1(width: int) -> None:
    model, sentences = tiny_transformer(order="bidirectional", ends=0.3), make_sentences(6)
    options = Decoding(search=BeamSearch(beam_size=width, n_best=width, stop="first"), batch_size=4, max_length=100)
    for sentence, found in zip(sentences, beam_search([Verifier(model)], sentences, options), strict=True):
        expected = algorithm_1(model, list(sentence.source), width, width)
        assert [a.ids for a in found.alternatives] == [[*words, EOD] for _, words in expected]
        assert [a.score for a in found.alternatives] == pytest.approx([score for score, _ in expected], rel=1e-4)


WE, WILL, GO, TO, TOKYO, STOP, HE, HOME = range(5, 13)
Likely = dict[int, float]
# The probabilities of the next left and right token after the pairs so far (left and right tokens alternate).
FOLLOWING: dict[tuple[int, ...], tuple[Likely, Likely]] = {
    (): ({WE: 0.8, HE: 0.2}, {STOP: 0.9, HOME: 0.1}),
    (WE, STOP): ({WILL: 0.6, GO: 0.4}, {TOKYO: 0.7, HOME: 0.3}),
    (HE, STOP): ({WILL: 0.9, GO: 0.1}, {TOKYO: 1.0}),
    (WE, STOP, WILL, TOKYO): ({GO: 0.95, EOD: 0.05}, {TO: 0.9, EOD: 0.1}),
    (WE, STOP, GO, TOKYO): ({TO: 0.9, EOD: 0.1}, {EOD: 0.85, TO: 0.15}),
    (WE, STOP, WILL, TOKYO, GO, TO): ({EOD: 0.55, GO: 0.45}, {EOD: 0.95, TO: 0.05}),
    (WE, STOP, GO, TOKYO, TO, TO): ({EOD: 0.6, TO: 0.4}, {EOD: 0.5, TO: 0.5}),
}


class Worked(Verifier):
    """A verifier whose probabilities are read from FOLLOWING; it records the beams that are scored."""

    def __init__(self) -> None:
        super().__init__(tiny_transformer(order="bidirectional"))
        self.beams: list[set[tuple[int, ...]]] = []

    def raw_score(self, state: State, draft: Draft) -> Scores:  # noqa: ARG002
        """Log probabilities (rows, 2, V)."""
        written = [tuple(row[2 : int(length)]) for row, length in zip(state.tokens.tolist(), state.lengths, strict=True)]
        self.beams.append(set(written))
        logits = torch.full((len(written), 2, VOCABULARY), log(1e-9))
        for row, tokens in enumerate(written):
            for end, likely in enumerate(FOLLOWING[tokens]):
                for token, probability in likely.items():
                    logits[row, end, token] = log(probability)
        return Scores(logits, torch.zeros(len(written), 2, 32))


def work(length_penalty: float) -> tuple[Worked, tuple[Alternative, ...]]:
    """Run the search of the example with W = K = 2, and return all finalized hypotheses."""
    verifier = Worked()
    (found,) = beam_search(
        [verifier],
        make_sentences(1),
        Decoding(search=BeamSearch(beam_size=2, length_penalty=length_penalty, n_best=3, stop="first"), max_length=16),
    )
    return verifier, found.alternatives


def test_a_worked_example_follows_the_published_steps() -> None:
    """The sentence of Figure 2, "We will go to Tokyo .", of which a shorter one is finalized first.

    Step 1: (We .) 0.72, (He .) 0.18, (We home) 0.08, (He home) 0.02.
    Step 2: left 0.432, 0.288, 0.162, 0.018; best pairs of "We .": (will Tokyo) 0.3024, (go Tokyo) 0.2016.
    Step 3: (go to) 0.2586 continues. (to EOD) 0.1542 is the second best pair: "We go to Tokyo ." is finalized. (go EOD) 0.0287 is
    the third best, beyond W: dropped. (to to) 0.0272 goes on.
    Step 4: (EOD EOD) 0.1351 and (go EOD) 0.1105 are finalized. There are K hypotheses, and the search ends.
    """
    verifier, found = work(length_penalty=1.0)
    assert verifier.beams == [
        {()},
        {(WE, STOP), (HE, STOP)},
        {(WE, STOP, WILL, TOKYO), (WE, STOP, GO, TOKYO)},
        {(WE, STOP, WILL, TOKYO, GO, TO), (WE, STOP, GO, TOKYO, TO, TO)},
    ]
    assert [a.ids for a in found] == [
        [WE, WILL, GO, TO, TOKYO, STOP, EOD],
        [WE, WILL, GO, GO, TO, TOKYO, STOP, EOD],
        [WE, GO, TO, TOKYO, STOP, EOD],
    ]
    assert [round(exp(a.log_probability), 4) for a in found] == [0.1351, 0.1105, 0.1542]
    assert [round(a.score, 4) for a in found] == [round(log(0.135093) / 8, 4), round(log(0.110531) / 8, 4), round(log(0.154224) / 6, 4)]


def test_the_shorter_sentence_wins_without_a_length_penalty() -> None:
    _, found = work(length_penalty=0.0)
    assert [len(a.ids) for a in found] == [6, 7, 8]
