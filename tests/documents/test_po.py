"""gettext message catalogues."""

import polib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.documents.po import written
from specdec_cli.errors import InputError
from tests.documents.helper import corrected, parse, texts, translated, unchanged
from tests.tables import sample, tables

CASES = tables(__file__)

HEADER = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Plural-Forms: nplurals=3; plural=0;\\n"\n\n'
TEXT = sample("messages.po")


def test_translations_are_fuzzy_and_all_else_is_kept() -> None:
    changed = translated(TEXT, "po")
    assert changed.startswith(HEADER)
    assert (
        '#, fuzzy, c-format\nmsgctxt "menu"\nmsgid "Could not open file %s: {name}\\n"\nmsgstr "COULD NOT OPEN FILE %s: {name}\\n"\n'
        in changed
    )
    assert '#: b.c\n#, fuzzy\nmsgid "%d house"\nmsgid_plural "%d houses"\n' in changed
    assert 'msgstr[0] "%d HOUSE"\nmsgstr[1] "%d HOUSES"\nmsgstr[2] "%d HOUSES"\n' in changed
    assert '"THE \\"BIG\\" HOUSE IS OLD AND HAS\\n"\n"A GARDEN AND THE CHILDREN ARE\\n"\n"PLAYING THERE.\\n"\n' in changed
    assert changed.endswith('msgid "Done"\nmsgstr   "Fertig"\n\n#~ msgid "obsolete"\n#~ msgstr "weg"\n')
    assert changed.count("fuzzy") == 3
    before, after = polib.pofile(TEXT), polib.pofile(changed)
    for one, other in zip(before, after, strict=True):
        assert (one.msgid, one.msgctxt, one.comment, one.tcomment, one.occurrences) == (
            (other.msgid, other.msgctxt, other.comment, other.tcomment, other.occurrences)
        )


def test_all_translates_again() -> None:
    assert texts(parse(TEXT, "po", redo=True))[-1] == "Done"
    assert '#, fuzzy\nmsgid "Done"\nmsgstr "DONE"\n' in translated(TEXT, "po", redo=True)


def test_translations_are_corrected() -> None:
    assert texts(parse(TEXT, "po", purpose="correct")) == ["alt", "Fertig"]
    text = HEADER + 'msgid "x"\nmsgstr ""\n"He have a \\"c"\n"ar\\".\\n"\n'
    assert corrected(text, "po", lambda each: each.replace("have", 'has "now"')) == text.replace("have", 'has \\"now\\"')
    assert corrected(text, "po", lambda each: each.replace("car", "bike")) == text.replace('c"\n"ar', "bike")


@pytest.mark.parametrize(("text", "message"), CASES.bad_files_are_errors_with_their_line)
def test_bad_files_are_errors_with_their_line(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(text, "po")


def test_other_encodings_are_kept() -> None:
    data = TEXT.replace("UTF-8", "ISO-8859-1").replace("Fertig", "F\u00e4hig").encode("latin-1")
    document = parse(data, "po")
    assert "F\u00e4hig".encode("latin-1") in document.translated([f"{each} \u00fc" for each in texts(document)])
    with pytest.raises(InputError, match="line 12: iso8859-1 has no"):
        document.translated([f"{each} \u20ac" for each in texts(document)])


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], include_characters="\n\t")))
def test_written_strings_are_read_as_they_were(text: str) -> None:
    catalogue = HEADER + written("msgid", text or "x", "\n") + "\n" + written("msgstr", text, "\n") + "\n"
    found = polib.pofile(catalogue)
    assert [entry.msgstr for entry in found] == [text]
    again = parse(catalogue, "po", purpose="correct")
    assert unchanged(again) == catalogue.encode()


@given(st.lists(st.tuples(st.text(min_size=1), st.text()), max_size=6))
def test_finished_catalogues_are_not_changed(pairs: list[tuple[str, str]]) -> None:
    def clean(text: str) -> str:
        return text.encode("utf-8", "replace").decode().replace("\0", "")

    entries = [
        f"{written('msgid', clean(one) or 'a', chr(10))}\n{written('msgstr', clean(other) or 'b', chr(10))}\n" for one, other in pairs
    ]
    data = (HEADER + "\n".join(entries)).encode()
    for purpose in ("translate", "correct"):
        document = parse(data, "po", purpose=purpose)
        assert unchanged(document) == data


def _catalogue(*texts: str, header: str = HEADER) -> str:
    return header + "\n\n".join(f'msgid "{text}"\nmsgstr ""' for text in texts) + "\n"


def _translations(text: str, table: dict[str, str]) -> list[str]:
    return [entry.msgstr for entry in polib.pofile(translated(text, "po", lambda each: table.get(each, each)))]


def test_accelerators_are_in_the_translation_once() -> None:
    table = {"File": "Datei", "Exit": "Beenden", "Save as": "Alles sichern", "Open %s": "%s auf", "AT&T": "Firma"}
    signs = _translations(_catalogue("&File", "E&xit", "&Save as", "&Open %s", "AT&T"), table)
    assert signs == ["&Datei", "&Beenden", "Alle&s sichern", "%s &auf", "Firma"]
    assert _translations(_catalogue("_File", "_Exit", "_Save as"), table) == ["_Datei", "B_eenden", "Alle_s sichern"]
    assert _translations(_catalogue("E&xit", "&Same", "&Old"), {"Old": "42"}) == ["E&xit", "&Same", "&42"]


def test_other_signs_are_no_accelerators() -> None:
    others = ["a snake_case", "number %_d", "&amp; this", "R&D", "see http://e.org/?a&b", "do some_thing"]
    accelerators = ["&File", "&Open", "&Save"]
    assert set(others) <= set(texts(parse(_catalogue(*others, *accelerators), "po")))
    assert set(others) <= set(texts(parse(_catalogue(*others, "_File", "_Open", "_Save"), "po")))
    assert texts(parse(_catalogue("a &b", "the _id"), "po")) == ["a &b", "the _id"]  # too few to tell
    header = HEADER.replace('"Plural', '"X-Accelerator-Marker: &\\n"\n"Plural')
    assert texts(parse(_catalogue("&File", header=header), "po")) == ["File"]


@pytest.mark.parametrize("label", ["&File", "&OK", "Save &As...", "_Open", "Print _Preview", "Find in the &Page", "&Quit %s now?"])
def test_one_label_shows_that_a_catalogue_has_accelerators(label: str) -> None:
    assert texts(parse(_catalogue(label), "po")) == [label.replace("&", "").replace("_", "")]


@pytest.mark.parametrize(
    "text",
    [
        *("Q&A", "AT&T", "R&D and Q&A", "Fish & Chips", "Hello. Press &Go", "my_File", "_id", "_ID", "__Init__", "&amp; B"),
        *(
            "http://e.org/?a&B",
            "Use %_D here",
            "&Alpha; is a letter",
            "x &y z",
            "the _private name",
            "a && B",
            "See the &Go and &Run buttons",
        ),
    ],
)
def test_one_other_text_does_not(text: str) -> None:
    assert texts(parse(_catalogue(text), "po")) in ([text], [])


@pytest.mark.parametrize(("text", "written"), CASES.the_forms_of_a_message_are_texts)
def test_the_forms_of_a_message_are_texts(text: str, written: str) -> None:
    made = polib.pofile(translated(f'msgid "{text}"\nmsgstr ""\n', "po"))
    assert made[0].msgstr == written.replace("\\n", "\n")


@pytest.mark.parametrize(("source", "read", "written"), CASES.two_signs_show_an_ampersand)
def test_two_signs_show_an_ampersand(source: str, read: str, written: str) -> None:
    catalogue = _catalogue(source, "&File", "&Open", "&Save")
    assert texts(parse(catalogue, "po"))[0] == read
    assert f'msgid "{source}"\nmsgstr "{written}"\n' in translated(catalogue, "po")


@pytest.mark.parametrize("forms", ["0", "11", "999999999", "9" * 5000])
def test_a_catalogue_of_too_many_forms_is_refused(forms: str) -> None:
    header = f'msgid ""\nmsgstr ""\n"Plural-Forms: nplurals={forms}; plural=0;\\n"\n'
    with pytest.raises(InputError, match=r"line 3: nplurals=\d{1,9}, expected 1 to 10$"):
        parse(header, "po")
