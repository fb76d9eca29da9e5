"""Lines to sentences, long sentences to pieces, and back."""
# ruff: noqa: RUF001

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.text.sentences import Segments, segment, split_sentences, split_to_limit, whole_line

TEXT = st.text() | st.text(st.sampled_from(" .!?…aB1,;–\"”')(。！，」\u3000\n\ufeff"), max_size=80)


def words(text: str) -> int:
    return len(text.split())


def with_spaces(text: str) -> int:
    """A count in which gaps have tokens too, as runs of spaces have in SentencePiece."""
    return len(text)


@pytest.mark.parametrize(
    "line",
    [
        "One here. | Two here! | Three here? | Four here… | Five.",
        "“Go!” | “No.” | (Yes.) | He left.",
        "»Nein!« | »Doch.« | „Gut.“ | Ende.",
        "Vraiment ? | Oui, « c’est vrai ». | Bien !",
        "¿Qué? | ¡Nada! | Bueno.",
        "Mr. Smith met Dr. No. | They spoke.",
        "Use tools, e.g. Git, i.e. version control, etc. Then rest.",
        "J. R. R. Tolkien wrote it. | C. S. Lewis read it.",
        "It costs 3.5 dollars. | Or 4.",
        "It was 1990. | Then came 1991.",
        "Am 1. Januar und am 31. Dezember.",
        "Ludwig XIV. war König. | Er starb 1715.",
        "Das ist z.B. Berlin, d.h. Deutschland. | Die Dipl.-Ing. Meier kommt.",
        "See No. 5 and Fig. 3 on p. 120. | He said no. | She left.",
        "He lives in the U.S. Army base.",
        "It opens at 9 a.m. on weekdays. | It closes at noon.",
        "Well... maybe so. | Well... | Maybe so.",
        "What?! | Nothing.",
        "See example.com. it is small.",
        "Это предложение. | И это тоже.",
        "안녕하세요. | 반갑습니다.",
        'He asked "why?" (and left).',
    ],
)
def test_splits_where_a_reader_would(line: str) -> None:
    plain = line.replace(" | ", " ")
    assert list(split_sentences(plain).texts) == line.split(" | ")


def test_full_width_terminators_need_no_white_space() -> None:
    segments = split_sentences("你好。「再见！」谢谢？ 好。")
    assert segments.texts == ("你好。", "「再见！」", "谢谢？", "好。")
    assert segments.gaps == ("", "", "", " ", "")


def test_gaps_come_back() -> None:
    segments = split_sentences("\ufeff  One.\t\u00a0Two. \r")
    assert segments == Segments(("One.", "Two."), ("\ufeff  ", "\t\u00a0", " \r"))
    assert segments.join(["Eins.", "Zwei."]) == "\ufeff  Eins.\t\u00a0Zwei. \r"


@pytest.mark.parametrize("line", ["", " ", "\t\u3000", "\ufeff"])
def test_a_blank_line_has_no_texts(line: str) -> None:
    for segments in (split_sentences(line), whole_line(line), segment(line, 1, words)):
        assert segments == Segments((), (line,))
        assert segments.join([]) == line


def test_join_wants_a_translation_for_each_text() -> None:
    with pytest.raises(ValueError, match="1 translations of 2 texts"):
        split_sentences("One. Two.").join(["Eins."])


@pytest.mark.slow
@given(TEXT)
def test_unchanged_sentences_join_to_the_line(line: str) -> None:
    for segments in (split_sentences(line), whole_line(line)):
        assert segments.join(segments.texts) == line
        assert all(text and text == text.strip() for text in segments.texts)


@given(TEXT, st.integers(1, 12), st.sampled_from([words, with_spaces]))
def test_pieces_respect_the_limit_and_join_to_the_line(line: str, limit: int, count: object) -> None:
    assert callable(count)
    for split in (True, False):
        segments = segment(line, limit, count, split=split)
        assert segments.join(segments.texts) == line
        assert all(text and text == text.strip() for text in segments.texts)
        assert all(count(text) <= limit for text in segments.texts)


def test_cuts_between_clauses_first() -> None:
    sentence = "a b c, d e; f – g h (i j), k"
    assert split_to_limit(sentence, 4, words).texts == ("a b c,", "d e; f –", "g h (i j),", "k")
    assert split_to_limit(sentence, 100, words) == whole_line(sentence)


def test_cuts_a_long_clause_between_words_and_an_endless_word_inside() -> None:
    assert split_to_limit("a b c d e, f", 2, words).texts == ("a b", "c d", "e, f")
    assert split_to_limit("abcdefgh", 3, with_spaces).texts == ("ab", "cd", "ef", "gh")


def test_keeps_a_single_character_that_exceeds_the_limit() -> None:
    assert split_to_limit("🙂🙂", 1, lambda text: 4 * len(text)).texts == ("🙂", "🙂")


def test_counts_the_sentences_that_were_cut() -> None:
    assert segment("One two three. Four. Five six seven.", 2, words).too_long == 2


@pytest.mark.parametrize("line", ["word " * 20000, "x" * 100000, "a, " * 33000, "." * 100000, ".)" * 50000, "。" * 100000, "A. " * 33000])
def test_a_long_line_is_counted_a_few_times_only(line: str) -> None:
    counted = 0

    def count(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return len(text)

    segments = segment(line, 100, count)
    assert segments.join(segments.texts) == line
    assert counted < 20 * len(line)
