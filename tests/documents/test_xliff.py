"""XLIFF 1.2 and 2.0."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from specdec_cli.errors import InputError
from tests.documents.helper import corrected, parse, texts, translated, unchanged
from tests.tables import sample, tables

CASES = tables(__file__)

FIRST = sample("version-1.xliff")
SECOND = sample("version-2.xliff")


def test_targets_and_states_are_added() -> None:
    state = 'state="needs-review-translation" state-qualifier="mt-suggestion"'
    changed = translated(FIRST, "xliff")
    etree.fromstring(changed.encode())
    first = f'</source>\n        <target {state}>THE <g id="1">RED HOUSE</g> IS BIG<x id="2"/> &amp; &lt;old&gt;.</target>\n        <note>'
    assert first in changed
    assert '<target state="needs-review-translation" xml:lang="de" state-qualifier="mt-suggestion">HELLO</target>' in changed
    assert f'<target {state}>CLICK <ph id="1">&lt;br/&gt; now</ph> HERE.</target>' in changed
    assert f'<target {state}><bpt id="1">[b]</bpt>ALL<ept id="1">[/b]</ept> OF IT</target>' in changed
    assert f'\n        <target {state}><mrk mtype="seg" mid="1">ONE.</mrk> <mrk mtype="seg" mid="2">TWO.</mrk></target>' in changed
    assert f"<target {state}><![CDATA[A < B & C]]></target>" in changed
    assert "<source>Done</source><target>He have it</target>" in changed
    assert "<source>Nope</source></trans-unit>" in changed
    second = translated(SECOND, "xliff")
    assert '<segment state="translated">\n  <source>' in second
    assert '</source>\n  <target>THE <pc id="1">RED HOUSE</pc> IS <ph id="2"/> BIG.</target>\n</segment><ignorable>' in second
    assert second.count("<target>") == 2


def test_a_second_run_changes_nothing() -> None:
    once = translated(FIRST, "xliff")
    assert texts(parse(once, "xliff")) == []
    assert unchanged(parse(once, "xliff")) == once.encode()


def test_finished_units_are_segments_on_request_and_targets_are_corrected() -> None:
    assert "Done" in texts(parse(FIRST, "xliff", redo=True))
    assert corrected(FIRST, "xliff", lambda each: each.replace("have", "has <3")) == FIRST.replace("He have", "He has &lt;3")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<xliff version='1.2'>\n<a>", "line 2: not well-formed XML"),
        ("<tmx version='1.4'/>", "line 1: not XLIFF"),
        ('<!DOCTYPE x [<!ENTITY a "b">]>\n<x>&a;</x>', "line 1: declares its own document type"),
        ("<xliff version='1.2'>" + "<g>" * 300, "line 1: nested more than 256"),
        ("<?xml version='1.0' encoding='utf-8'?>\n<a>\x01</a>", "line 2: not well-formed"),
    ],
)
def test_bad_files_are_errors_with_their_line(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(text, "xliff")


CONTENT = st.lists(st.sampled_from(CASES.content) | st.text(alphabet="abc \u00fc", max_size=5)).map("".join)


@given(CONTENT, st.sampled_from(["utf-8", "utf-16", "iso-8859-1"]))
def test_translated_files_are_well_formed_and_keep_their_source(content: str, encoding: str) -> None:
    text = f"<?xml version='1.0' encoding='{encoding}'?><xliff version='1.2'><trans-unit><source>{content}</source></trans-unit></xliff>"
    data = text.encode(encoding, "xmlcharrefreplace")
    try:
        before = etree.fromstring(data)
    except etree.XMLSyntaxError:
        with pytest.raises(InputError):
            parse(data, "xliff")
        return
    document = parse(data, "xliff")
    changed = etree.fromstring(unchanged(document))
    assert etree.tostring(changed[0][0]) == etree.tostring(before[0][0])
    assert "".join(changed[0][1].itertext()) == "".join(before[0][0].itertext())
    assert len(changed[0][1]) == len(before[0][0])
    assert document.corrected([[] for _ in document.segments]) == data


@pytest.mark.parametrize(("text", "expected"), CASES.each_form_of_a_message_is_a_text)
def test_each_form_of_a_message_is_a_text(text: str, expected: list[str]) -> None:
    unit = f'<xliff version="1.2"><file><body><trans-unit id="1"><source>{text}</source></trans-unit></body></file></xliff>'
    assert texts(parse(unit, "xliff")) == expected
    changed = translated(unit, "xliff", lambda each: f"q{each}q")
    for one in expected:
        text = re.sub(rf"(?<![\w}}]){re.escape(one).replace('<x1/>', '<x.*?/>')}(?!\w)", lambda found: f"q{found.group()}q", text, count=1)
    assert f">{text}</target>" in changed


def _marked(targets: str, state: str = "") -> str:
    own = '<mrk mtype="seg" mid="1">One <g id="2">cat</g>.</mrk> <mrk mtype="seg" mid="2">Two.</mrk>'
    source = f"<source>One <g id='2'>cat</g>. Two.</source><seg-source>{own}</seg-source>"
    unit = f"<trans-unit id='1'>{source}<target{state}>{targets}</target></trans-unit>"
    return f'<xliff version="1.2"><file><body>{unit}</body></file></xliff>'


def test_a_target_with_empty_marks_only_is_filled() -> None:
    text = _marked('<mrk mtype="seg" mid="1"></mrk> <mrk mtype="seg" mid="2"/>')
    assert texts(parse(text, "xliff")) == ["One <g1>cat</g1>.", "Two."]
    (target,) = etree.fromstring(translated(text, "xliff")).iter("target")
    assert target.get("state") == "needs-review-translation"
    assert ["".join(mark.itertext()) for mark in target] == ["ONE CAT.", "TWO."]


def test_empty_marks_beside_translated_ones_are_filled() -> None:
    text = _marked('<mrk mtype="seg" mid="1"/> <mrk mtype="seg" mid="2">Zwei.</mrk>')
    assert texts(parse(text, "xliff")) == ["One <g1>cat</g1>."]
    changed = translated(text, "xliff")
    (target,) = etree.fromstring(changed).iter("target")
    assert target.get("state") == "needs-review-translation"
    assert etree.tostring(target[0], with_tail=False) == b'<mrk mtype="seg" mid="1">ONE <g id="2">CAT</g>.</mrk>'
    assert etree.tostring(target[1]) == b'<mrk mtype="seg" mid="2">Zwei.</mrk>'
    assert texts(parse(changed, "xliff")) == []
    assert texts(parse(_marked('<mrk mtype="seg" mid="1"/> <mrk mtype="seg" mid="2">Zwei.</mrk>', ' state="final"'), "xliff")) == []


@pytest.mark.parametrize(("content", "expected"), CASES.inline_elements_are_pairs_breaks_or_single)
def test_inline_elements_are_pairs_breaks_or_single(content: str, expected: list[str]) -> None:
    unit = f'<xliff version="1.2"><file><body><trans-unit id="1"><source>{content}</source></trans-unit></body></file></xliff>'
    assert texts(parse(unit, "xliff")) == expected
