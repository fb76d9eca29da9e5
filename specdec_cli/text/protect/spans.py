"""Protected spans of a text, which must not change: addresses, format arguments, tags, code, paths, times,
identifiers, emoji.
"""

import re
from bisect import bisect
from collections.abc import Iterable
from itertools import pairwise

TAG_ATTRIBUTES = r"\s(?:(?:=\s*\"[^\"<]*\"|=\s*'[^'<]*'|[^<>])*+(?=>)|[^<>]*)"
"""A pattern for what is between the name and the end of a tag; a ">" in the quoted value of an attribute does not end the tag."""
EMOJI = (
    r"(?:(?:[\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\U0001f000-\U0001faff]|[0-9#*](?=\ufe0f?\u20e3)"
    r"|[\u00a9\u00ae\u203c\u2049\u2122\u2139\u24c2\u3030\u303d\u3297\u3299](?=\ufe0f))[\ufe0f\u200d\u20e3\U000e0020-\U000e007f]*)+"
)
"""A pattern for emoji, pictographs and arrows, with what joins and modifies them: keycaps, signs such as "TM" that are shown as emoji, and
flags of tag sequences too.
"""
LONGEST_WORD = 99
"""The most Latin letters of a word; longer runs of letters are not language."""
_ARGUMENT = r"%(?:\(\w+\)|\d+\$)?[-+#0']*+(?:\d+|\*)?(?:\.(?:\d+|\*)?)?(?:hh|h|ll|l|q|j|z|t)?[a-z@](?![a-z])"
"""A pattern for format arguments: %s, %(name)d, %-5.2f, %.*s."""
_IN_BRACES = r"\{\{[^{}]*\}\}|[$#%]?\{[^\s{}]*\}"
"""A pattern for {name}, {0:.2f}, ${HOME}, {{ user.name }}."""
_KINDS = (
    rf"(?<![\w'`])['`](?:{_ARGUMENT}|%\d{{1,2}}|{_IN_BRACES})'(?![\w'])",  # '%s', `%s'
    r"(?<!`)`[^`\s]+`(?!`)",  # code without spaces in backquotes, also in a word, as in the plural of a name
    r"(?<![\w`])(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?![\w`])",  # code in backquotes, not apostrophes that were meant
    r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?\)",  # the address of a Markdown link
    r"!?\[(?=[^][]{1,200}\]\()",  # the beginning of a Markdown link
    # Web addresses, without the stop after them.
    r"(?<![a-z0-9+.-])(?:[a-z][a-z0-9+.-]*://|www\.)(?:\([^\s<>\"()]*\)|[^\s<>\"()])*(?:\([^\s<>\"()]*\)|[^\s<>\"().,;:!?\]}'])",
    r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+",  # e-mail addresses
    r"(?<![\w.@/-])(?:[a-z0-9][\w-]{0,62}\.){1,8}(?-i:com|org|net|edu|gov|io)(?![\w-])(?:/[^\s<>\"]*[\w/])?",  # example.org
    rf"</?(?-i:[A-Za-z])[\w:.-]*(?:{TAG_ATTRIBUTES}|/)?>",  # tags
    r"<\?[a-z][^<>]*\?>|<!\[CDATA\[|\]\]>|<![a-z][^<>]*>",  # <?xml version="1.0"?>, <!DOCTYPE html>
    r"&(?:amp;)*(?:[a-z][a-z0-9]+|#\d+|#x[0-9a-f]+);",  # entities, and those of their signs (&amp;lt;)
    rf"\{{%[^{{}}]*%\}}|{_IN_BRACES}",
    r"(?<![\w$])\$(?=[^\s$\d])[^$]*[^\s$]\$(?![\w$])",  # formulas between dollar signs
    r"(?<![\w$])\$[a-z_]\w+|(?<![\w%])%[a-z_]{2,}%",  # $HOME, %PATH%
    rf"(?<![\d%]){_ARGUMENT}",
    r"(?<![\w%])%\d{1,2}(?![\w%])|(?<!%)%%(?!%)",  # %1
    r"(?<![\w\\])[a-z]:\\[^\s<>\"|?*]*[\w\\]",  # C:\folder
    r"\\(?:begin|end|cite\w*|\w*ref|label|url|input|includegraphics)\*?(?:\[[^][]*\])?\{[^{}]*\}"
    r"|\\[nrt\"\\](?![a-z])|\\n(?-i:(?=[A-Z]))|\\[a-z]+\*?\{?"
    r"|\\[!-/:-@\[-`{-~]",  # escapes of TeX and Markdown
    r"(?<![\w/.:~<-])(?:(?:~|\.{1,2})/|/[\w.@+-]{1,255}/|/(?=(?:etc|usr|var|tmp|home|opt|dev|proc|root|srv|mnt)(?!\w)))"
    r"(?:[\w.@+-]{1,255}/)*[\w.@+-]{0,254}\w/?(?![\w/])",  # /etc/hosts, ~/notes, ./configure
    r"(?<![\w/.:~<-])[\w-][\w.-]{0,254}/(?:[\w.@+-]{1,255}/)*[\w.-]{1,254}\.[a-z]\w{0,4}(?!\w)",  # src/main.c
    r"(?<![\w.-])[\w-]{1,255}\.(?-i:c|cc|cfg|conf|cpp|css|csv|deb|docx?|exe|gif|gz|h|html?|ini|iso|java|jpe?g|js|json|log|md|mo|mp[34]|odt|"
    r"pdf|png|pot?|py|rpm|rs|sh|so|sql|svg|tar|tgz|toml|ts|tsv|txt|xlsx?|xml|xz|ya?ml|zip)(?:\.(?:gz|xz|bz2))?(?![\w-])",  # names of files
    r"(?<![\w-])--[a-z][\w-]*(?:=[^\s,;]*[\w/])?",  # --long-option
    r"(?<!\w)\w{1,64}(?:(?:::|\.)\w{1,64}){0,8}\(\)|(?<!\w)[a-z]\w{0,63}(?:::\w{1,64})+",  # call(), std::vector
    r"(?<![\w-])[a-z0-9]{1,64}(?:_[a-z0-9]{1,64}){1,16}(?!\w)",  # snake_case
    r"(?<![\w.@])[@#][a-z_]\w+|(?<!\w)#\d{2,}(?!\w)",  # @name, #topic, #123
    r"(?<!\w)\d{4}-\d{2}-\d{2}(?:T[\d:.,]+\d(?:Z|[+-]\d{2}:?\d{2})?)?(?!\w)",  # 2023-12-24
    r"(?<![\w:])\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,6})?Z?(?![\w:])",  # 00:00:01,000
    r"(?<![\w.])v?\d+(?:\.\d+){2,16}(?:[-+]?[a-z]\w*)?(?::\d+)?(?!\w)|(?<!\w)v\d+(?:\.\d+)*(?!\w)",  # 2.13.0, 10.0.0.1:8080
    r"(?<![\w+])\+\d[\d ()/-]{5,24}\d(?!\w)|(?<![\w-])\d{3}-(?:\d{3}-)?\d{4}(?![\w-])",  # telephone numbers
    r"(?<![\w-])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![\w-])|(?<!\w)0x[0-9a-f]+(?!\w)",
    r"(?<!\w)(?-i:(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,64})(?!\w)",  # digests
    r"(?<![\w-])(?-i:(?=[A-Z0-9-]{0,32}\d)(?=[A-Z0-9-]{0,32}[A-Z])[A-Z0-9][A-Z0-9-]{4,32}[A-Z0-9])(?![\w-])",  # AB-12345
    r"(?<![\w.,])\d{5,}+(?![\w.,]*\w)",
    rf"[A-Za-z\u00c0-\u024f]{{{LONGEST_WORD + 1},}}+",  # what is no word
    r"\w{0,32}(?:(?<!~)~\w{1,16}~(?!~)|\^\w{1,16}\^)\w{0,32}",  # H~2~O, x^2^
    r"\*\*|~~|[{}]",  # emphasis; braces that are left over
    EMOJI,
)
_PROTECTED = re.compile("|".join(_KINDS), re.IGNORECASE)
_OTHER_SCRIPT = r"[\u0370-\u1dff\u2e80-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]+"
_BESIDE_LATIN = re.compile(f"{_PROTECTED.pattern}|{_OTHER_SCRIPT}", re.IGNORECASE)
_ORDERED = re.compile(r"%|</?\w")
# Prose in which neither of these patterns finds a span: without digits inside of words, marks inside of words other than
# apostrophes and single hyphens, very long words, and signs that most texts have not. This is checked many times faster than all kinds.
_PROSE = re.compile(
    rf"(?!(?:\S{{0,{LONGEST_WORD}}}(?:\s|$))*+\S)"
    r"(?:[A-Za-z\u00c0-\u024f ,;!?'\"\u00ab\u00bb\u2010-\u2027)]++|\((?!\))|-(?!-)"
    r"|[.:]+[\"')]*(?!\S)|(?<![^\s(])[0-9]{1,4}[.,;:!?)]*(?!\S))*+"
)


def protected_spans(text: str, *, latin: bool = False) -> list[tuple[int, int]]:
    """Offsets (start, end), in order, of the spans of `text` that must not change, such as URLs, format arguments,
    tags, code and paths.

    They are in code points, with the end excluded. With `latin`, words in other scripts than the Latin one are
    protected too.
    """
    if _PROSE.fullmatch(text):
        return []
    return [match.span() for match in (_BESIDE_LATIN if latin else _PROTECTED).finditer(text)]


def split_at(text: str, spans: Iterable[tuple[int, int]]) -> list[str]:
    """The parts of `text` outside `spans` (start, end), which are in order, and the spans between them: every second part is a span."""
    bounds = [0, *(offset for span in spans for offset in span), len(text)]
    return [text[start:end] for start, end in pairwise(bounds)]


def gaps_outside_spans(text: str, gaps: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return those of the `gaps` in `text` whose start is not inside a protected span. A gap is (start, end) of, for example, the
    white space between two sentences.
    """
    found = list(gaps)
    spans = protected_spans(text) if found else []
    starts = [start for start, _ in spans]
    places = (bisect(starts, start) - 1 for start, _ in found)
    return [gap for gap, place in zip(found, places, strict=True) if place < 0 or spans[place][1] <= gap[0]]


def keeps_order(span: str) -> bool:
    """Whether the order of protected spans like `span` matters: tags, and format arguments without a name or number."""
    return _ORDERED.match(span) is not None and not re.match(r"%(?:\(|\d+\$|\d+$)", span)


def without_protected(text: str) -> str:
    """Return `text` with each protected span, such as a URL, replaced by a space."""
    return text if _PROSE.fullmatch(text) else _PROTECTED.sub(" ", text)
