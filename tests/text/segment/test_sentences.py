"""Splitting lines into sentences and long sentences into pieces, and joining them again."""
# ruff: noqa: RUF001

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.text.segment.sentences import Segments, segment, split_sentences, split_to_limit, whole_line
from tests.tables import tables

CASES = tables(__file__)

TEXT = st.text() | st.text(st.sampled_from(" .!?…aB1,;–\"”')(。！，」\u3000\n\ufeff"), max_size=80)


def words(text: str) -> int:
    return len(text.split())


def with_spaces(text: str) -> int:
    """A token count that includes spaces, as SentencePiece counts runs of spaces."""
    return len(text)


@pytest.mark.parametrize("line", CASES.sentences_are_split)
def test_sentences_are_split(line: str) -> None:
    plain = line.replace(" | ", " ")
    assert list(split_sentences(plain).texts) == line.split(" | ")


def test_full_width_terminators_require_no_white_space() -> None:
    segments = split_sentences("你好。「再见！」谢谢？ 好。")
    assert segments.texts == ("你好。", "「再见！」", "谢谢？", "好。")
    assert segments.gaps == ("", "", "", " ", "")


def test_gaps_are_restored() -> None:
    segments = split_sentences("\ufeff  One.\t\u00a0Two. \r")
    assert segments == Segments(("One.", "Two."), ("\ufeff  ", "\t\u00a0", " \r"))
    assert segments.join(["Eins.", "Zwei."]) == "\ufeff  Eins.\t\u00a0Zwei. \r"


@pytest.mark.parametrize("line", ["", " ", "\t\u3000", "\ufeff"])
def test_a_blank_line_has_no_texts(line: str) -> None:
    for segments in (split_sentences(line), whole_line(line), segment(line, 1, words)):
        assert segments == Segments((), (line,))
        assert segments.join([]) == line


def test_join_requires_a_translation_for_each_text() -> None:
    with pytest.raises(ValueError, match="1 translations of 2 texts"):
        split_sentences("One. Two.").join(["Eins."])


@given(TEXT)
def test_unchanged_sentences_join_to_the_line(line: str) -> None:
    for segments in (split_sentences(line), whole_line(line)):
        assert segments.join(segments.texts) == line
        assert all(text and text == text.strip() for text in segments.texts)


@given(TEXT, st.integers(1, 12), st.sampled_from([words, with_spaces]))
def test_pieces_are_within_the_limit_and_join_to_the_line(line: str, limit: int, count: object) -> None:
    assert callable(count)
    for split in (True, False):
        segments = segment(line, limit, count, split=split)
        assert segments.join(segments.texts) == line
        assert all(text and text == text.strip() for text in segments.texts)
        assert all(count(text) <= limit for text in segments.texts)


def test_long_sentences_are_split_between_clauses_first() -> None:
    sentence = "a b c, d e; f – g h (i j), k"
    assert split_to_limit(sentence, 4, words).texts == ("a b c,", "d e; f –", "g h (i j),", "k")
    assert split_to_limit(sentence, 100, words) == whole_line(sentence)


def test_long_clauses_are_split_between_words_then_inside_words() -> None:
    assert split_to_limit("a b c d e, f", 2, words).texts == ("a b", "c d", "e, f")
    assert split_to_limit("abcdefgh", 3, with_spaces).texts == ("ab", "cd", "ef", "gh")


def test_a_single_character_may_exceed_the_limit() -> None:
    assert split_to_limit("🙂🙂", 1, lambda text: 4 * len(text)).texts == ("🙂", "🙂")


def test_pieces_are_of_about_equal_sizes() -> None:
    assert split_to_limit("a b c d e f, g h i, j", 9, words).texts == ("a b c d e f,", "g h i, j")
    assert split_to_limit("a b c d e f g h i j", 9, words).texts == ("a b c d e", "f g h i j")


def test_protected_text_is_not_split() -> None:
    assert split_sentences("Run `It is. He is` now. Go {{ to. The }} end.").texts == ("Run `It is. He is` now.", "Go {{ to. The }} end.")
    text = "one two `three, four: five` six seven"
    assert segment(text, 22, len).texts == ("one two", "`three, four: five`", "six seven")
    assert segment(text, 15, len).texts == ("one two `three,", "four: five`", "six seven")  # too long for a piece


def test_long_texts_are_split_between_sentences_first() -> None:
    segments = segment(" One, two. Three, four, five. ", 4, words, split=False)
    assert segments.texts == ("One, two.", "Three, four, five.")
    assert not segments.continued
    assert segment("One, two. Three, four.", 4, words, split=False).texts == ("One, two. Three, four.",)


def test_it_is_known_which_pieces_go_on() -> None:
    assert segment("One two three. Four. Five six, seven.", 2, words).continued == {0, 3}
    assert segment("One two. Three.", 2, words).continued == frozenset()


@pytest.mark.parametrize("line", ["word " * 20000, "x" * 100000, "a, " * 33000, "." * 100000, ".)" * 50000, "。" * 100000, "A. " * 33000])
def test_a_long_line_is_tokenised_few_times(line: str) -> None:
    counted = 0

    def count(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return len(text)

    segments = segment(line, 100, count)
    assert segments.join(segments.texts) == line
    assert counted < 20 * len(line)


@pytest.mark.parametrize(("line", "texts", "gap"), CASES.emoji_between_sentences_are_in_the_gap)
def test_emoji_between_sentences_are_in_the_gap(line: str, texts: list[str], gap: str) -> None:
    segments = split_sentences(line)
    assert (list(segments.texts), segments.gaps[1]) == (texts, gap)


@pytest.mark.parametrize("line", ["Type it (max. 20 characters).", "See sec. 4, par. 2, and app. B.", "He came. \U0001f600 and left"])
def test_abbreviations_before_numbers_and_letters_end_no_sentence(line: str) -> None:
    assert split_sentences(line).texts == (line,)


@pytest.mark.parametrize(("line", "texts", "gaps"), CASES.items_of_an_enumeration_are_texts)
def test_items_of_an_enumeration_are_texts(line: str, texts: list[str], gaps: list[str]) -> None:
    segments = split_sentences(line)
    assert (list(segments.texts), list(segments.gaps[1:-1])) == (texts, gaps)


@pytest.mark.parametrize(("line", "texts"), CASES.placeholders_between_sentences_are_in_the_gaps)
def test_placeholders_between_sentences_are_in_the_gaps(line: str, texts: list[str]) -> None:
    found = split_sentences(line)
    assert list(found.texts) == texts and found.join(texts) == line
