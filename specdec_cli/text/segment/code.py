"""Detection of program code by the form of lines."""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

from specdec_cli.text.locale.languages import is_function_word

_CODE = re.compile("|".join(tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["patterns"]))
MAX_CODE_LENGTH = 1000
_KEYS = re.compile(r"WEBVTT\b|(?:msgid(?:_plural)?|msgctxt) \"|#[:,|~] ")


def is_code(line: str) -> bool:
    """Whether a line is program code other than a comment, or a line of keywords of a message catalogue or subtitle file.

    False for lines of more than `MAX_CODE_LENGTH` characters, because the patterns take quadratic time on some inputs.
    """
    text = line.strip()
    return len(text) <= MAX_CODE_LENGTH and bool(_CODE.match(text) or _KEYS.match(text))


_STATEMENT = re.compile(
    r"\s*(?:(?:return|raise|yield|await|assert|del|if|elif|while|for|with|except|import|from|async|not|lambda|case|catch|switch|throw|new"
    r"|let|const|var|local|export|echo)\b|(?:self|this|super|print)\b[.(])"
)
"""The words, in small letters, with which statements begin."""
_EVIDENCE = re.compile(
    r"\b(?:None|True|False|null|nil|undefined|NULL|this|self|isinstance)\b|\b[A-Za-z_]\w*\.[A-Za-z_]\w*(?![\w.]*\.\s)|\w_\w"
    r"|\b\w+[(\[](?![^\s()]*\s?s?\)$)|\w\s?[=!<>]=|->|=>|::|\b[fbr][\"']|[{}]|\$\w|;(?: do| then)?$"
)
"""What statements have and prose has not: constants, attributes, calls, operators."""
_SHAPE = re.compile(
    r"\s*+(?:[\w.\[\]\"'*]+\s?(?:[-+*/|&:]?=|:)\s?\S.*|[\w.]+\(.*|[\"'][^\"']*[\"'](?::.*)?[,:]?|[\w.*]+,|[)\]}>]+.*|[\w.\[\]]+[({\[]"
    r"|(?:else|try|finally|do|then|done|fi|esac|begin|end|pass|break|continue|return|default)\b\s?[:{;]?"
    r"|(?:and|or|not|in|is|if|for|else)\s.*|@\w.*|[a-z][\w-]* .*\s--?[A-Za-z][\w-]*(?:[= ].*)?|.*[,({\[:\\]|.*\bas \w+:)$"
)
"""Lines that are code beside code: assignments, calls, arguments, brackets, and lines that go on."""
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\* )")
_SENTENCE = re.compile(r"[.!?\u2026][\"')\]]*$")
_PLAIN_WORD = re.compile(r"(?<![\w.])[A-Za-z']+(?![\w.(])")
_KEYWORDS = frozenset(("if", "for", "in", "is", "not", "and", "or", "as", "from", "with", "while", "do", "then", "this", "no"))


def code_lines(lines: Sequence[str]) -> list[bool]:
    """For each of adjacent lines of a text, whether it is code: by its own form (see `is_code`), or by its form beside a line of code."""
    found = [is_code(line) or _is_statement(line) for line in lines]
    if not any(found):
        return found
    for order in (range(len(lines)), range(len(lines) - 1, -1, -1)):
        beside = False
        for place in order:
            beside = found[place] = found[place] or (beside and _may_be_code(lines[place]))
    return found


def is_beside_code(line: str) -> bool:
    """Whether `code_lines` may need this line and the next one together, as one may be code for the other's sake."""
    return is_code(line) or _is_statement(line) or _may_be_code(line)


def _is_statement(line: str) -> bool:
    return bool(_STATEMENT.match(line)) and _EVIDENCE.search(line) is not None and not _is_prose(line)


def _may_be_code(line: str) -> bool:
    if not line.strip() or len(line) > MAX_CODE_LENGTH or _is_prose(line):
        return False
    return bool(_SHAPE.match(line)) or bool(_STATEMENT.match(line)) or _EVIDENCE.search(line) is not None


def _is_prose(line: str) -> bool:
    """Whether a line is a comment, ends as a sentence does, or has two function words of English that are no keywords."""
    if len(line) > MAX_CODE_LENGTH or _SENTENCE.search(line) or _COMMENT.match(line):
        return True
    words = (word.lower() for word in _PLAIN_WORD.findall(line))
    return sum(word not in _KEYWORDS and is_function_word(word, "en") for word in words) >= 2
