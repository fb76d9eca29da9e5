"""Which drafts are left out, and that the output does not depend on it."""

from specdec_cli.memories.found import FoundDraft
from specdec_cli.pipeline.drafts import ALONE, ENOUGH, PAUSE, TOGETHER, DraftGate

SIMILAR, OTHER = FoundDraft("a", 95.0, "tm"), FoundDraft("a", 75.0, "tm")


def test_drafts_are_used_until_too_few_tokens_are_accepted() -> None:
    gate = DraftGate(0.5)
    assert gate.admits(SIMILAR) and gate.admits(OTHER) and not gate.knows
    gate.count(SIMILAR, ENOUGH, ENOUGH)
    gate.count(OTHER, ENOUGH, ENOUGH // 4)
    assert gate.knows
    assert all(gate.admits(SIMILAR) for _ in range(PAUSE))
    assert [gate.admits(OTHER) for _ in range(PAUSE)] == [False] * (PAUSE - 1) + [True]


def test_drafts_that_become_better_are_used_again() -> None:
    gate = DraftGate(0.5)
    gate.count(OTHER, 9 * ENOUGH, 0)
    assert not gate.admits(OTHER)
    for _ in range(20):
        gate.count(OTHER, ENOUGH, ENOUGH)
    assert gate.admits(OTHER)


def test_batches_need_more_accepted_tokens() -> None:
    one, many = DraftGate.for_batches(1), DraftGate.for_batches(8)
    for gate in (one, many):
        gate.count(OTHER, ENOUGH, int(ENOUGH * (ALONE + TOGETHER) / 2))
    assert one.admits(OTHER) and not many.admits(OTHER)
