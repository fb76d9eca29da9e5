"""Views: offsets of a text and of its source, parts of views, and edits that are divided."""

from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.text.edits import Edit, Utf16, apply_edits, find_edits
from specdec_cli.text.view import Part, PieceKind, View, joined, view_of

SHOWN: dict[str, tuple[str, PieceKind]] = {
    "written": ("&", "text"),
    "gap": (" ", "gap"),
    "removed": ("", "markup"),
    "stand-in": ("<x/>", "markup"),
}
TEXTS = st.text(st.sampled_from("ab \u00e9\u0301\U0001f600\u00ad"), max_size=5)


@st.composite
def views(draw: st.DrawFn) -> tuple[str, View]:
    """A source, and a view of it: text as it is, text that is written otherwise, gaps, and markup that is removed or has a stand-in."""
    source, parts = "", list[Part]()
    for kind in draw(st.lists(st.sampled_from(["copied", *SHOWN]), min_size=1, max_size=8)):
        own = draw(TEXTS) + ("x" if kind != "copied" else "")
        begin, source = len(source), source + own
        text, shown = SHOWN.get(kind, (own, "text"))
        parts.append((text, begin, len(source), shown))
    return source, view_of(parts)


@given(views())
def test_each_character_that_was_copied_is_at_its_place(drawn: tuple[str, View]) -> None:
    source, view = drawn
    for piece in view.pieces:
        for offset in range(piece.start, piece.end):
            assert piece.begin <= view.position(offset) < piece.finish
            if piece.is_copied and piece.end - piece.start > 1:
                assert source[view.position(offset)] == view.text[offset]
                assert view.offset(view.position(offset)) == offset
    assert view.position(len(view.text)) == view.finish == len(source)


@given(views(), st.data())
def test_a_span_covers_what_its_characters_stand_for(drawn: tuple[str, View], data: st.DataObject) -> None:
    _, view = drawn
    start = data.draw(st.integers(0, len(view.text)))
    end = data.draw(st.integers(start, len(view.text)))
    begin, finish = view.span(start, end)
    assert begin == view.position(start) and (finish > begin) == (end > start)
    part = view.part(start, end)
    assert part.text == view.text[start:end]
    assert [part.position(offset) for offset in range(end - start)] == [view.position(offset) for offset in range(start, end)]
    assert all(part.moved(3).position(offset) == part.position(offset) + 3 for offset in range(end - start))


@given(views(), st.data())
def test_parts_one_after_the_other_are_the_whole(drawn: tuple[str, View], data: st.DataObject) -> None:
    _, view = drawn
    place = data.draw(st.integers(0, len(view.text)))
    whole = joined([view.part(0, place), view.part(place, len(view.text))])
    assert whole.text == view.text
    assert [whole.position(offset) for offset in range(len(view.text))] == [view.position(offset) for offset in range(len(view.text))]


def test_edits_are_divided_between_their_words() -> None:
    view = view_of([("He go to a houses", 0, 17, "text")])
    edits = find_edits(view.text, "He goes to the house")
    assert view.divided(edits, [5]) == edits  # at the end of an edit nothing is divided
    (longer,) = [Edit(3, 8, "go to", "goes into")]
    assert [(edit.source, edit.text) for edit in view.divided([longer], [6])] == [("go ", "goes "), ("to", "into")]
    assert view.divided([Edit(3, 8, "go to", "visits")], [6]) == []
    assert apply_edits(view.text, view.divided([longer], [6])) == "He goes into a houses"


@given(st.text(max_size=12))
def test_offsets_in_utf_16_count_its_code_units(text: str) -> None:
    units = Utf16(text)
    assert [units.offset(end) for end in range(len(text) + 1)] == [
        len(text[:end].encode("utf-16-le", "surrogatepass")) // 2 for end in range(len(text) + 1)
    ]
