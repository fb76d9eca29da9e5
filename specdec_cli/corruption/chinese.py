"""Errors of Chinese characters: the four types of learners' errors (missing, redundant and wrong characters, and wrong order)."""

from random import Random

from specdec_cli.corruption.tokens import Sentence, TokenEdit
from specdec_cli.english.words import confusable, word_list

# Characters that are often taken for each other: of the same sound, or of similar use.
_GROUPS = word_list("""
的地得之 在再才 做作 他她它 那哪 以已 有又 是时事 像象向相 和跟与并 了着过 不没 会能可 到道 为位
很真太 也还 就都 给让对 从自 把被 因应 带代戴 进近 化话 听停 买卖 认人 各个 理里利历 心新
生升声 情清请 问间 住注 使知至 己以 变便遍 常长 成城 感敢 经京 机几 轻青 份仿 业作 职工 高多大
后时 处点 两二
""")
_REDUNDANT = "的了是有在也就对不很都我会个"
_COMMA, _STOP, _ENUMERATION = "\uff0c", "\u3002", "\u3001"
_MISSING = frozenset("的是会了我就在有也到都要能人为地里这过上很才中只个") | {_COMMA}
_SHARE_OF_OTHERS = 0.3
_CONFUSIONS = confusable("\n".join(map(" ".join, (*_GROUPS, _COMMA + _STOP, _COMMA + _ENUMERATION))))


def character_drop(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Remove a Chinese character, preferably a function word, or a comma.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    text, start, end = sentence.tokens[i]
    if not (sentence.is_character(i) or (text == _COMMA and not sentence.is_japanese)) or len(sentence.tokens) == 1:
        return None
    if text not in _MISSING and random.random() >= _SHARE_OF_OTHERS:
        return None
    return TokenEdit(start, end, "", i, i)


def character_insert(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Insert a function word of one character before a Chinese character.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    added = random.choice(_REDUNDANT)
    if not sentence.is_character(i) or added in (sentence.words[i], sentence.words[i - 1]):
        return None
    start = sentence.tokens[i].start
    return TokenEdit(start, start, added, i, i)


def character_confusion(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace a Chinese character by one of the same sound or of similar use (在 by 再), a comma by a stop or 、, or these by a comma.

    A stop at the end of the line stays. Returns None if this error is impossible at token i.
    """
    text, start, end = sentence.tokens[i]
    others = _CONFUSIONS.get(text)
    if others is None or sentence.is_japanese or (text == _STOP and not any(map(str.isalnum, sentence.text[end:]))):
        return None
    return TokenEdit(start, end, random.choice(others), i, i)


def character_swap(sentence: Sentence, i: int, _: Random) -> TokenEdit | None:
    """Swap two adjacent Chinese characters.

    Returns None if this error is impossible at token i.
    """
    words = sentence.words
    if not (sentence.is_character(i) and sentence.is_character(i + 1)) or words[i] == words[i + 1] or sentence.gap(i):
        return None
    return TokenEdit(sentence.tokens[i].start, sentence.tokens[i + 1].end, words[i + 1] + words[i], i, i + 1)
