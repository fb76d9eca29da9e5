"""Padded drafts have few sizes; the drafter does not see the padding."""

from collections.abc import Sequence
from typing import Any

import torch

from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.drafters.none import NoDrafter
from specdec_cli.decoding.drafters.source_copy import SourceCopy
from specdec_cli.decoding.execution.cuda_padding import PaddedDrafter
from specdec_cli.decoding.loop import Round, decode
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.state import Draft, State, Verdict
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.text.tokenize.sentencepiece import EOS
from specdec_cli.tuning.adaptive_block_size import AdaptiveBlockSize
from tests.decoding.execution.imitation import imitated
from tests.fake_drafters import FakeDrafter, drafts, sometimes
from tests.fakes import VOCABULARY, make_sentences, tiny_transformer
from tests.tuning.test_adaptive_block_size import CHEAP, FREE

LONGEST = 30


def found(verifier: Verifier, drafter: Drafter, sentences: Sequence[Sentence]) -> list[Hypothesis]:
    """Hypotheses in the order of the sentences, decoded one by one."""
    return sorted(
        decode(verifier, drafter, sentences, Decoding(batch_size=1, max_length=LONGEST)), key=lambda hypothesis: hypothesis.number
    )


def test_changing_sizes_need_few_graphs() -> None:
    model, sentences = tiny_transformer(), make_sentences(40)
    outputs = {h.number: h.ids for h in found(Verifier(model), NoDrafter(), sentences)}
    imitation = imitated(model)
    adaptive = AdaptiveBlockSize(PaddedDrafter(FakeDrafter(outputs, 12, sometimes)), CHEAP, 12)
    assert [h.ids for h in found(imitation.verifier, adaptive, sentences)] == list(outputs.values())
    # Drafts of 3, 7 and 11 tokens, or 12, padded to 15.
    assert all(len(graphs) <= 4 for graphs in imitation.capture.graphs.values())


def test_drafts_longer_than_the_block_size_are_counted_up_to_it() -> None:
    text = [7 + place % 30 for place in range(55)]
    for largest, padded in ((1, 3), (48, 51)):
        copier = PaddedDrafter(SourceCopy("nearest", EOS, torch.ones(VOCABULARY, dtype=torch.bool)))
        adaptive = AdaptiveBlockSize(copier, FREE, largest)
        assert max(len(draft) for _ in range(20) for draft in drafts(adaptive, text, text)) == padded
        assert all(passed <= asked for asked, passed in zip(adaptive._asked, adaptive._passed, strict=True))


def test_drafts_have_few_sizes_and_hide_the_padding_from_the_drafter() -> None:
    model, sentences = tiny_transformer(), make_sentences(8)
    outputs = {h.number: h.ids for h in found(Verifier(model), NoDrafter(), sentences)}
    widths, heard = set[int](), set[tuple[int, int]]()

    class Hearing(FakeDrafter):
        def propose(self, state: State, memory: Any, size: int) -> Draft:
            draft = super().propose(state, memory, size)
            self.width = draft.ids.shape[1]
            return draft

        def observe(self, state: State, memory: Any, verdict: Verdict) -> None:
            super().observe(state, memory, verdict)
            accepted = verdict.accepted
            heard.add((self.width + 1, accepted.ids.shape[1]))
            assert accepted.predictions.shape == accepted.ids.shape == verdict.states.shape[:2]

    def look(now: Round) -> None:
        widths.add(now.draft.ids.shape[1])

    drafter = PaddedDrafter(Hearing(outputs, 9, sometimes, ragged=True))
    list(decode(Verifier(model), drafter, sentences, Decoding(batch_size=2, max_length=LONGEST), look))
    assert widths == {0, 3, 7, 11}
    assert all(told <= drafted for drafted, told in heard)


def test_a_size_is_rounded_up_within_the_same_positions() -> None:
    state = Verifier(tiny_transformer()).begin([0], [make_sentences(1)[0].source])

    asked = list[int]()

    class Asked(FakeDrafter):
        def propose(self, state: State, memory: Any, size: int) -> Draft:  # noqa: ARG002
            asked.append(size)
            return Draft(state.tokens[:, :0], state.lengths * 0)

    for limit, expected in ((10, [3, 3, 7, 10, 10, 10]), (0, [3, 3, 7, 11, 11, 0])):
        asked.clear()
        drafter = PaddedDrafter(Asked({0: [7]}, limit, sometimes))
        assert drafter.block_size == limit
        for size in (1, 3, 4, 8, 10, 0):
            drafter.propose(state, None, size)
        assert asked == expected
