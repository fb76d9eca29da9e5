"""Subtitles in SubRip and WebVTT."""

import pysubs2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.documents.subtitles import fold, split_by_shares
from specdec_cli.errors import InputError
from tests.documents.helper import parse, texts, translated, unchanged
from tests.tables import sample, tables

CASES = tables(__file__)

SRT = sample("subtitles.srt")
VTT = sample("subtitles.vtt")


def test_cues_times_and_tags_are_kept() -> None:
    changed = translated(SRT, "srt")
    before, after = (pysubs2.SSAFile.from_string(text, format_="srt") for text in (SRT, changed))
    assert [(one.start, one.end) for one in before] == [(one.start, one.end) for one in after]
    assert "<i>I HAVE NEVER SEEN HER.</i>\n" in changed
    assert "{\\an8}SHE IS <i>VERY</i> OLD\n" in changed
    assert "- ARE YOU HOME?\n- YES.\n" in changed
    assert translated(VTT, "vtt") == VTT.replace("Hello there", "HELLO THERE").replace("Good", "GOOD").replace("morning", "MORNING")


def test_a_sentence_is_folded_over_its_cues() -> None:
    def change(text: str) -> str:
        return {"Hello,": "Hallo, ich bin ein Mann, der ins Haus ging und den Hund sah.", "It was": "Er war gross."}.get(text[:6], text)

    assert translated(SRT, "srt", change).split("\n\n")[1:3] == [
        "2\n00:00:02,100 --> 00:00:04,000\nHallo, ich bin ein Mann,",
        "3\n00:00:04,100 --> 00:00:06,000\nder ins Haus ging und den\nHund sah. Er war gross.",
    ]


def test_a_long_run_of_spaces_takes_little_time() -> None:
    text = f"1\n00:00:01,000 --> 00:00:02,000\nOne{' ' * 100_000}two\n"
    assert texts(parse(text, "srt")) == [text.splitlines()[2]]


def test_a_bad_time_is_an_error_with_its_line() -> None:
    with pytest.raises(InputError, match=r"a\.srt, line 2: not a time"):
        parse("1\n00:00:61 --> 00:00:02,000\nHello\n", "srt")
    with pytest.raises(InputError, match=r"a\.srt, line 1: no cue"):
        parse("Just text.\n", "srt")


def test_shares_and_lines_have_similar_lengths() -> None:
    words = ["one", "two", "three", "four", "five", "six"]
    assert split_by_shares(words, [10, 10]) == [["one", "two", "three"], ["four", "five", "six"]]
    assert split_by_shares(words, [0, 10]) == [[], words]
    assert split_by_shares(["one"], [10, 10]) == [["one"], []]
    assert split_by_shares(["yes,", "we", "can", "do", "it", "now"], [12, 12])[0] == ["yes,", "we", "can"]
    assert split_by_shares(["an", "I.", "q", "of", "48"], [5, 5])[0] == ["an", "I.", "q"]
    assert fold(["one", "two", "three", "four", "five", "six"], 2, 40) == ["one two three", "four five six"]
    assert fold(["one", "two"], 2, 40) == ["one two"]
    assert fold(["word"] * 20, 1, 32) == [" ".join(["word"] * 5)] * 4


@given(st.lists(st.text(min_size=1, max_size=8), max_size=20), st.lists(st.integers(0, 50), min_size=1, max_size=6))
def test_every_word_is_in_one_part_in_order(words: list[str], shares: list[int]) -> None:
    parts = split_by_shares(words, [*shares, 1])
    assert len(parts) == len(shares) + 1
    assert [word for part in parts for word in part] == words


BLOCK = st.sampled_from(CASES.lines_of_a_file)


@given(st.lists(BLOCK, max_size=25), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "WEBVTT\n\n", "\ufeff"]))
def test_unchanged_segments_give_the_same_bytes(lines: list[str], ending: str, start: str) -> None:
    data = (start + ending.join([lines[0] if lines else "", "00:00:00,000 --> 00:00:00,500", *lines])).encode()
    document = parse(data, "srt")
    assert unchanged(document) == data
    assert document.corrected([[] for _ in document.segments]) == data
    changed = document.translated([f"{each} q" for each in texts(document)])
    assert changed.count(b"-->") == data.count(b"-->")
    assert changed.count(b"q") == len(document.segments)


@pytest.mark.parametrize(("lines", "text"), CASES.the_indentation_of_a_line_is_no_text)
def test_the_indentation_of_a_line_is_no_text(lines: str, text: str) -> None:
    cue = f"1\n00:00:01,000 --> 00:00:02,000\n{lines}\n"
    assert texts(parse(cue, "srt")) == [text]
    assert translated(cue, "srt") == cue.replace(lines, lines.upper())


@pytest.mark.parametrize("text", ["See 00:00:02,000 --> 00:00:03,000 there", "a 1: b --> c", "x 12:00 --> 13:00 it is"])
def test_a_line_of_a_translation_is_no_time(text: str) -> None:
    cue = f"1\n00:00:01,000 --> 00:00:02,000\n{text}\n"
    output = translated(cue, "srt", lambda each: each.partition(" ")[2])
    assert texts(parse(output, "srt")) == [text.partition(" ")[2].replace("-->", "->")]


LEFT = ("I think that we", "We need the", "If I could only", "No, wait", "But you said")
NEXT = ("The key is on the table.", "Do not talk to me!", "I know it.", "It was a cold night.")


def srt(*cues: str) -> str:
    return "".join(f"{place}\n00:00:{place:02},000 --> 00:00:{place:02},900\n{text}\n\n" for place, text in enumerate(cues, 1))


@pytest.mark.parametrize("mark", ["--", "\u2014", "\u2013", " --"])
@pytest.mark.parametrize("left", LEFT)
def test_speech_that_is_cut_off_does_not_go_on(left: str, mark: str) -> None:
    for beside in NEXT:
        assert texts(parse(srt(left + mark, beside), "srt")) == [left + mark, beside]


@pytest.mark.parametrize(
    ("cue", "parts"),
    [
        ("[sighs] I am tired. [laughs]", ["[sighs]", "I am tired.", "[laughs]"]),
        ("(door opens)\nWho is there?", ["(door opens)", "Who is there?"]),
        ("But you said--\nI know it.", ["But you said--", "I know it."]),
        ("We [the boys] know it.", ["We [the boys] know it."]),
        ("[the] house is old", ["[the] house is old"]),
    ],
)
def test_sounds_and_cut_off_lines_are_texts(cue: str, parts: list[str]) -> None:
    document = parse(srt(cue), "srt")
    assert texts(document) == parts
    assert unchanged(document).decode() == srt(cue)


def test_headings_that_follow_each_other_are_texts_and_shouted_sentences_are_one() -> None:
    assert texts(parse(srt("CHAPTER ONE", "THE OLD HOUSE", "It was cold."), "srt")) == ["CHAPTER ONE", "THE OLD HOUSE", "It was cold."]
    assert texts(parse(srt("WE HAVE TO", "GO TO THE", "HOUSE NOW!"), "srt")) == ["WE HAVE TO GO TO THE HOUSE NOW!"]


def test_readings_above_words_stay() -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\nThe <ruby>East<rt>Ost</rt></ruby> is far.\n"
    assert texts(parse(text, "vtt")) == ["The <g1>East<v2/></g1> is far."]


@pytest.mark.parametrize("beside", NEXT)
@pytest.mark.parametrize("text", ["BERLIN, 1945", "CHAPTER ONE", "THE OLD HOUSE", "www.example.org", "https://example.org/a"])
def test_headings_and_addresses_do_not_go_on(text: str, beside: str) -> None:
    assert texts(parse(srt(text, beside), "srt"))[-1] == beside
    assert beside in translated(srt(text, beside), "srt", lambda each: each)


@pytest.mark.parametrize("tags", [("<i>", "</i>"), ('<font color="red">', "</font>"), ("{\\i1}", "{\\i0}"), ("<b><i>", "</i></b>")])
@pytest.mark.parametrize("sign", ["- ", "\u2013 ", "\u266a "])
def test_each_line_of_a_dialogue_with_tags_is_a_text(tags: tuple[str, str], sign: str) -> None:
    opening, closing = tags
    end = " \u266a" if sign.startswith("\u266a") else ""
    lines = [f"{opening}{sign}{text}{end}{closing}" for text in NEXT[:2]]
    document = parse(srt("\n".join(lines)), "srt")
    assert len(texts(document)) == 2
    assert all(text in found for text, found in zip(NEXT[:2], texts(document), strict=True))
