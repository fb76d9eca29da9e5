"""Earlier versions: which old translation a sentence of the new version gets."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_cli.memories.found import EXACT
from specdec_cli.memories.pairs import Entry
from specdec_cli.memories.previous import PreviousVersion

pytest.importorskip("rapidfuzz")

OLD = [
    Entry("Yes.", "Ja."),
    Entry("Press the button to start.", "Start."),
    Entry("Yes.", "Doch."),
    Entry("Keep it dry.", "Trocken."),
    Entry("The end.", "Ende."),
]


def drafts(new: list[str], similarity: float = 70.0) -> list[tuple[str, float] | None]:
    """The draft of each sentence of a new version, with its similarity."""
    found = PreviousVersion([(OLD, new)], similarity).find(new)
    return [None if each is None else (each.text, each.similarity) for each in found]


def test_unchanged_sentences_get_the_translation_at_their_place() -> None:
    assert drafts([source for source, *_ in OLD]) == [(target, EXACT) for _, target, *_ in OLD]


def test_changed_moved_and_new_sentences() -> None:
    new = ["The end.", "Yes.", "Press the button to stop.", "Something that is new.", "Yes.", "Keep it dry."]
    found = drafts(new)
    assert found[0] == ("Ende.", EXACT)
    assert found[2] is not None and found[2][0] == "Start." and 90 < found[2][1] < EXACT
    assert found[3] is None
    assert [each and each[0] for each in (found[1], found[4], found[5])] == ["Ja.", "Doch.", "Trocken."]
    assert drafts(new, similarity=100.0)[2] is None


def test_frequent_sentences_between_changed_ones_get_the_translation_at_their_place() -> None:
    old = [each for place in range(150) for each in (Entry(f"Sentence {place}.", "Satz."), Entry("Yes.", f"Ja {place}."))]
    new = [each for place in range(150) for each in (f"Changed {place}.", "Yes.")]
    found = PreviousVersion([(old, new)], 100.0).find(new)
    assert [each and each.text for each in found[1::2]] == [f"Ja {place}." for place in range(150)]


@given(
    st.lists(st.sampled_from([*(source for source, *_ in OLD), "Keep it wet.", "No."]), max_size=12), st.sampled_from([0.0, 50.0, 100.0])
)
@settings(deadline=None, max_examples=100)
def test_every_sentence_that_stood_in_the_old_version_gets_one_of_its_translations(new: list[str], similarity: float) -> None:
    for sentence, found in zip(new, drafts(new, similarity), strict=True):
        known = {target for source, target, *_ in OLD if source == sentence}
        assert not known or (found is not None and found[0] in known and found[1] == EXACT)
        assert found is None or found[1] >= similarity


def test_sentences_that_were_not_announced_have_no_draft() -> None:
    assert PreviousVersion([(OLD, [])], 70.0).find(["Yes."]) == [None]


def test_sentences_of_longer_texts_are_guesses() -> None:
    old = [Entry("Open.", "Öffnen."), Entry("Wait.", "Warte.", guessed=True), Entry("Open.", "Das ist offen.", guessed=True)]
    found = PreviousVersion([(old, ["Wait.", "Open.", "Stop.", "Open."])], 100.0).find(["Wait.", "Open.", "Open."])
    assert [each and (each.text, each.guessed) for each in found] == [("Warte.", True), ("Öffnen.", False), ("Das ist offen.", True)]
