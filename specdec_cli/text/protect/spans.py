"""Protected spans of a text, which must not change: addresses, format arguments, tags, code, paths, times,
identifiers, emoji. Each kind of span is an entry of RECOGNISERS; tests/text/protect/spans.toml has examples of each.
"""

import re
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from specdec_cli.text.edits import Span
from specdec_cli.text.marks import PICTURES

TAG_ATTRIBUTES = r"\s(?:(?:=\s*\"[^\"<]*\"|=\s*'[^'<]*'|[^<>])*+(?=>)|[^<>]*)"
"""A pattern for what is between the name and the end of a tag; a ">" in the quoted value of an attribute does not end the tag."""
EMOJI = (
    rf"(?:(?:[{PICTURES}]|[0-9#*](?=\ufe0f?\u20e3)"
    r"|[\u00a9\u00ae\u203c\u2049\u2122\u2139\u24c2\u3030\u303d\u3297\u3299](?=\ufe0f))[\ufe0f\u200d\u20e3\U000e0020-\U000e007f]*)+"
)
"""A pattern for emoji, pictographs and arrows, with what joins and modifies them: keycaps, signs such as "TM" that are shown as emoji, and
flags of tag sequences too.
"""
EMOTICON = (
    r"(?<![^\s(])(?:[:;=]'?[-^o]?(?:\)+|\(+|[]\[DdPpOoXx3*|/\\](?![^\W_]))|8-\)|</?3+(?!\w)|\^_*\^|[xX](?-i:D)+(?!\w)|[-.o>]_+[-.o<](?!\w))"
)
"""A pattern for faces of ASCII characters such as :-), which stand after a space."""
CODE = r"(?<!`)(?P<ticks>`+)(?!`).{1,2000}?(?<!`)(?P=ticks)(?!`)"
"""A pattern for code in backquotes, of at most 2,000 characters, with the group `ticks`."""
FORMULA = (
    r"(?<![\w$\\])\$(?=[^\s$\d])[^$]*[^\s$]\$(?![\w$])"
    r"|(?<![\w$\\])\$\d(?:[\d.,\s+*/=<>^_(){}|!-]|\\[a-z]+|(?<![a-z])[a-z](?![a-z]))*+(?<=\S)(?<=[^$])\$(?![\w$])"
)
"""A pattern for formulas between dollar signs, $x + 1$ and $3$, but not for amounts of money."""

NO_TEXT = "\uffff"
"""The character in the place of hidden ones, which is in nothing that is looked for."""
LONGEST_WORD = 99
"""The most Latin letters of a word; longer runs of letters are not language."""
_DIGITS = "0123456789"
_BEYOND_ASCII = "\u0080"
"""Stands for all characters that are not ASCII."""

_ARGUMENT = r"[-+#0']*+(?:\d+|\*)?(?:\.(?:\d+|\*)?)?(?:hh|h|ll|l|q|j|z|t)?[a-z@](?![a-z])"
"""What follows the percent sign, and the number or name, of a format argument."""
_TYPED = r"\{\s*\w+\s*,\s*(?:date|duration|list|number|ordinal|spellout|time)\b[^{}]{0,200}\}"
_IN_BRACES = rf"\{{\{{[^{{}}]*\}}\}}|[$#%]?\{{[^\s{{}}]*\}}|[$#]\{{[^{{}}]{{1,200}}\}}|{_TYPED}"
"""A pattern for {name}, {0:.2f}, ${HOME}, #{user.name + 1}, {{ user.name }}, {day, date, short}."""
_COUNT = r"(?:\w+[._])?(?:n|num|number|count|total)"
"""The names of values that are probably numbers."""
_FILE = (
    r"(?-i:c|cc|cfg|conf|cpp|css|csv|deb|docx?|exe|gif|gz|h|html?|ini|iso|java|jpe?g|js|json|log|md|mo|mp[34]|odt|"
    r"pdf|png|pot?|py|rpm|rs|sh|so|sql|svg|tar|tgz|toml|ts|tsv|txt|xlsx?|xml|xz|ya?ml|zip)(?:\.(?:gz|xz|bz2))?(?![\w-])"
)
_DATE_FORMAT = (
    r"(?:[YyJ]{4}|[YyJ]{2})(?P<sep>[-/.])M{1,4}(?P=sep)(?:[Dd]{1,2}|TT?)|(?:[Dd]{1,2}|TT?|M{1,4})(?P<sep2>[-/.])(?:M{1,4}|[Dd]{1,2}|TT?)(?P=sep2)"
    r"(?:[YyJ]{4}|[YyJ]{2})|M{3,4} d{1,2},? [Yy]{4}|d{1,2}\.? M{3,4},? [Yy]{4}"
)
_TIME_FORMAT = r"(?:HH?|hh?):mm(?::ss(?:[.,]S{1,3})?)?(?: [aA](?!\w))?"
"""Patterns of what says how dates and times are written."""
_SUBCOMMANDS = (
    r"(?:git (?:add|clone|commit|push|pull|fetch|merge|rebase|checkout|branch|status|log|diff|init|reset|stash|config|switch)"
    r"|npm (?:install|run|start|test|ci|init|update|publish)|docker (?:run|build|pull|push|compose|ps|exec|stop)|pip3? (?:un)?install"
    r"|kubectl (?:get|apply|delete|describe|logs)|apt-get (?:install|update|upgrade|remove))(?![\w-])"
)
"""A pattern for commands of programs that sentences name: git pull."""
_NAME = r"[^\s<>\"|?*:\\/()]"
_IN_FOLDER = rf"{_NAME}+(?: (?-i:[A-Z0-9&]){_NAME}*| \(\w+\))*"
"""A part of a Windows path; a space in it is before a capital letter or a digit."""


@dataclass(frozen=True, slots=True)
class Recogniser:
    """A kind of protected spans, those that match `pattern`, where none of a kind before it in RECOGNISERS begins earlier or there.

    A span that matches `number` stands for a number. Several spans of a kind that is `ordered` keep their order. A span has a character of
    each of `signs`, and, in small letters, one of `words`: other texts need not be searched.
    """

    name: str
    pattern: str
    number: str = ""
    ordered: bool = False
    signs: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


RECOGNISERS = (
    Recogniser(
        "erb",  # also those of EJS, JSP and the short ones of PHP
        r"<%(?:(?!%>|<%).){1,300}%>|<\?=[^<>]{1,300}\?>",
        number=rf"<%==?\s*@?{_COUNT}\s*-?%>",
        signs=("<", ">"),
    ),
    Recogniser("shown_tag", r"&lt;/?[a-z][\w:.-]*(?:\s(?:(?!&[lg]t;)[^<>]){0,300})?/?&gt;", signs=("&", ";")),
    Recogniser(
        "quoted_argument", rf"(?<![\w'`])['`](?:%(?:\([\w.]+\)|\d+\$)?{_ARGUMENT}|%\d{{1,2}}|{_IN_BRACES})'(?![\w'])", signs=("'", "%{")
    ),
    Recogniser(
        "code",  # in a word without spaces, as in the plural of a name; else not beside words, where it is an apostrophe that was meant
        rf"(?<!`)`[^`\s]+`(?!`)|(?<!\w){CODE}(?!\w)|\[code\].{{1,2000}}?\[/code\]",
        signs=("`[",),
    ),
    Recogniser("link_target", r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?\)", signs=("]", "(")),
    Recogniser("link_start", r"!?\[(?=[^][]{1,200}\]\()", signs=("[", "(")),
    Recogniser(
        "wiki_link",
        r"\[\[[^][|]{1,200}\]\]|\[\[[^][|]{1,200}(?:\|[^][|]{1,200}){0,8}?\|(?=[^][|]{1,200}\]\])|\]\](?!>)",
        signs=("]",),
        words=("]]",),
    ),
    Recogniser(
        "url",  # without the stop after it
        r"(?<![a-z0-9+.-])(?:[a-z][a-z0-9+.-]*://|www\.)(?:\([^\s<>\"()]*\)|[^\s<>\"()])*(?:\([^\s<>\"()]*\)|[^\s<>\"().,;:!?\]}'])",
        signs=("/.",),
        words=("://", "www."),
    ),
    Recogniser(
        "data_url",
        r"(?<!\w)(?:data:[\w./+-]+(?:;[\w=-]+)*,[\w+/=%-]*|mailto:[^\s<>\"@]+@[\w-]+(?:\.[\w-]+)*)",
        signs=(":",),
        words=("data:", "mailto:"),
    ),
    Recogniser("email", r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+", signs=("@", ".")),
    Recogniser(
        "domain",
        r"(?<![\w.@/-])(?:[a-z0-9][\w-]{0,62}\.){1,8}(?-i:com|org|net|edu|gov|io)(?![\w-])(?:/[^\s<>\"]*[\w/])?",
        signs=(".",),
        words=(".com", ".org", ".net", ".edu", ".gov", ".io"),
    ),
    Recogniser("tag", rf"</?(?:(?-i:[A-Za-z])[\w:.-]*(?:{TAG_ATTRIBUTES}|/)?|\d{{1,2}}/?)>", ordered=True, signs=("<", ">")),
    Recogniser("declaration", r"<\?[a-z][^<>]*\?>|<!\[CDATA\[|\]\]>|<![a-z][^<>]*>", signs=("<>",)),
    Recogniser(
        "entity",  # and those of its sign (&amp;lt;)
        r"&(?:amp;)*(?:[a-z][a-z0-9]+|#\d+|#x[0-9a-f]+);",
        signs=("&", ";"),
    ),
    Recogniser(
        "braces",
        rf"\{{%[^{{}}]*%\}}|{_IN_BRACES}",
        number=rf"\{{\s*\w+\s*,\s*(?:number|spellout)\b[^{{}}]*\}}|\{{\w*:[^{{}}]*[defgn]\}}|[$#%]?\{{{{1,2}}\s*{_COUNT}\s*\}}{{1,2}}",
        signs=("{", "}"),
    ),
    Recogniser("formula", rf"(?<![\w$\\])\$\$(?=[^\s$])[^$]{{1,1000}}(?<=\S)\$\$(?![\w$])|{FORMULA}", signs=("$",)),
    Recogniser(
        "environment",
        r"(?<![\w$])\$[a-z_]\w+|(?<![\w%])%[a-z_]{2,}%|(?<![\w%])%%[a-z_][\w.]*%%"
        r"|(?<![\w$])\$\([a-z_][\w.-]*\)",
        number=rf"\${_COUNT}",
        signs=("$%",),
    ),
    Recogniser(
        "named_argument",
        rf"(?<![\d%])%(?:\([\w.]+\)|\d+\$){_ARGUMENT}|(?<![\w%])%\d{{1,2}}(?![\w%])",
        number=rf"%(?:\(\w+\)|\d+\$)[^a-z(]*(?:hh|h|ll|l|q|j|z|t)?[diufgen]|%\({_COUNT}\)s",
        signs=("%",),
    ),
    Recogniser(
        "argument", rf"(?<![\d%])%{_ARGUMENT}|(?<!%)%%(?!%)", number=r"%[^a-z(]*(?:hh|h|ll|l|q|j|z|t)?[diufgen]", ordered=True, signs=("%",)
    ),
    Recogniser(
        "windows_path",  # of words with spaces, those before a backslash, those with capitals and names of files belong to it
        rf"(?<![\w\\])(?:[a-z]:\\|\\\\[\w.$-]+\\)(?:{_IN_FOLDER}\\)*"
        rf"(?:(?!\S* (?:and|or|to|is|in|on|from|with|of|for) )[\w-]+(?: [\w-]+){{1,2}}\.{_FILE}"
        rf"|{_IN_FOLDER}(?<=[\w)])|[^\s<>\"|?*()]*[\w\\])?",
        signs=("\\",),
    ),
    Recogniser(
        "tex",  # commands and escapes of TeX, and escapes of strings and Markdown
        r"\\(?:begin|end|cite\w*|\w*ref|label|url|input|includegraphics)\*?(?:\[[^][]*\])?\{[^{}]*\}"
        r"|\\[nrt\"\\](?![a-z])|\\n(?-i:(?=[A-Z]))|\\[a-z]+\*?\{?"
        r"|\\[!-/:-@\[-`{-~]",
        signs=("\\",),
    ),
    Recogniser(
        "list",  # of strings and numbers, as in programs
        r"(?<!\w)\[(?=[^][]*['\"])(?:'[^'\n]{0,99}'|\"[^\"\n]{0,99}\"|-?\d[\d.]*)(?:, ?(?:'[^'\n]{0,99}'|\"[^\"\n]{0,99}\"|-?\d[\d.]*))*\]",
        signs=("[", "]", "'\""),
    ),
    Recogniser(
        "media_type",
        r"(?<![\w/.])(?:application|audio|font|image|multipart|text|video)/(?:[*]|(?:x-|vnd\.)[\w.+-]*\w|[\w.-]+\+\w+"
        r"|(?:css|csv|form-data|gif|html|javascript|jpe?g|json|markdown|mp[34g]|mpeg|octet-stream|ogg|pdf|plain|png|wav|web[mp]|woff2?|xml|zip))"
        r"(?![\w/+-])",
        signs=("/",),
        words=("application/", "audio/", "font/", "image/", "multipart/", "text/", "video/"),
    ),
    Recogniser(
        "unix_path",
        r"(?<![\w/.:~<-])(?:(?:~|\.{1,2})/|/[\w.@+-]{1,255}/|/(?=(?:etc|usr|var|tmp|home|opt|dev|proc|root|srv|mnt)(?!\w)))"
        r"(?:[\w.@+-]{1,255}/){0,40}[\w.@+-]{0,254}\w/?(?![\w/])",
        signs=("/",),
    ),
    Recogniser(
        "command",  # with its options, and arguments that are no plain words
        rf"(?<![\w./-])(?-i:(?:sudo )?(?:{_SUBCOMMANDS}"
        r"(?: --?[a-z][\w-]*(?:[= ](?:\"[^\"]*\"|'[^']*'))?| (?:[^\W\d_]|[.-])*+[\d/@:=_][\w./@:=-]*(?<=\w))*"
        r"|cd \.\.?(?:/[\w./-]*\w)?))(?![\w.-]*\w)",
        words=("git ", "npm ", "docker ", "kubectl ", "pip", "apt-get ", "cd ."),
    ),
    Recogniser(
        "source_path", r"(?<![\w/.:~<-])[\w-][\w.-]{0,254}/(?:[\w.@+-]{1,255}/)*[\w.-]{1,254}\.[a-z]\w{0,4}(?!\w)", signs=("/", ".")
    ),
    Recogniser("file", rf"(?<![\w.-])[\w-]{{1,255}}\.{_FILE}", signs=(".",)),
    Recogniser("option", r"(?<![\w-])--[a-z][\w-]*(?:=[^\s,;]*[\w/])?", signs=("-",), words=("--",)),
    Recogniser(
        "call", r"(?<!\w)\w{1,64}(?:(?:::|\.)\w{1,64}){0,8}\(\)|(?<!\w)[a-z]\w{0,63}(?:::\w{1,64})+", signs=("(:",), words=("()", "::")
    ),
    Recogniser("snake_case", r"(?<![\w-])[a-z0-9]{1,64}(?:_[a-z0-9]{1,64}){1,16}(?!\w)", signs=("_",)),
    Recogniser("handle", r"(?<![\w.@])[@#][a-z_]\w+|(?<!\w)#\d{2,}(?!\w)", signs=("@#",)),
    Recogniser(
        "date",
        r"(?<!\w)\d{4}-\d{2}-\d{2}(?:T[\d:.,]+\d(?:Z|[+-]\d{2}:?\d{2})?)?(?!\w)|(?<![\w/])\d{1,2}/\d{1,2}/\d{4}(?![\w/])",
        signs=(_DIGITS, "-/"),
    ),
    Recogniser(
        "date_format",
        rf"(?<![\w./-])(?-i:(?:{_DATE_FORMAT})(?:(?: |, |T|'T'){_TIME_FORMAT})?|{_TIME_FORMAT})(?![\w/-]|\.\w)",
        words=("yy", "jj", ":mm"),
    ),
    Recogniser("timecode", r"(?<![\w:])\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,6})?Z?(?![\w:])", signs=(_DIGITS, ":")),
    Recogniser(
        "version", r"(?<![\w.])v?\d+(?:\.\d+){2,16}(?:[-+]?[a-z]\w*)?(?::\d+)?(?!\w)|(?<!\w)v\d+(?:\.\d+)*(?!\w)", signs=(_DIGITS, ".vV")
    ),
    Recogniser("telephone", r"(?<![\w+])\+\d[\d ()/-]{5,24}\d(?!\w)|(?<![\w-])\d{3}-(?:\d{3}-)?\d{4}(?![\w-])", signs=(_DIGITS, "+-")),
    Recogniser(
        "account",  # IBANs, and numbers of cards
        r"(?<![\w-])(?-i:[A-Z]{2}\d{2}(?: [A-Z0-9]{4}){3,7}(?: [A-Z0-9]{1,3})?)(?![\w-])|(?<![\w-])\d{4}(?: \d{4}){3}(?![\w-])",
        signs=(_DIGITS, " "),
    ),
    Recogniser("sizes", r"(?<!/ )(?<![\w/])(?-i:[A-Z]{1,3}(?: / [A-Z]{1,3})+)(?![\w/])(?! /)", signs=("/",), words=(" / ",)),
    Recogniser("uuid", r"(?<![\w-])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![\w-])|(?<!\w)0x[0-9a-f]+(?!\w)", signs=("-0",)),
    Recogniser("digest", r"(?<!\w)(?-i:(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,64})(?!\w)", signs=(_DIGITS,)),
    Recogniser(
        "identifier",  # also postcodes of Great Britain
        r"(?<![\w-])(?-i:(?=[A-Z0-9-]{0,32}\d)(?=[A-Z0-9-]{0,32}[A-Z])[A-Z0-9][A-Z0-9-]{4,32}[A-Z0-9]"
        r"|[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2})(?![\w-])",
        signs=(_DIGITS,),
    ),
    Recogniser("long_number", r"(?<![\w.,])\d{5,}+(?![\w.,]*\w)", signs=(_DIGITS,)),
    Recogniser("long_word", rf"[A-Za-z\u00c0-\u024f]{{{LONGEST_WORD + 1},}}+"),
    Recogniser("chemical", r"\w{0,32}(?:(?<!~)~\w{1,16}~(?!~)|\^\w{1,16}\^)\w{0,32}", signs=("~^",)),
    Recogniser("emphasis", r"\*\*|~~|[{}]", signs=("*~{}",)),
    Recogniser("shortcode", r"(?<![\w:]):(?:[+-]1|(?=[0-9_-]*[a-z])[a-z0-9_+-]{1,32}):(?![\w:])", signs=(":",)),
    Recogniser(
        "measure",  # feet and inches, degrees with minutes and seconds, a paragraph of a law
        r"(?<![\w.,'\"])\d{1,3}(?:\s?['\u2019\u2032]\s?\d{1,2}(?:[.,]\d{1,3})?\s?(?:[\"\u201d\u2033]|'')"
        r"|\s?\u00b0\s?\d{1,2}\s?['\u2019\u2032](?:\s?\d{1,2}(?:[.,]\d{1,3})?\s?(?:[\"\u201d\u2033]|''))?"
        r"|['\"\u2032\u2033]\s?[x\u00d7]\s?\d{1,3}['\"\u2032\u2033])"
        r"|\u00a7{1,2}\s?\d+[a-z]?(?:\s(?:Abs\.|Absatz|Satz|S\.|Nr\.|lit\.)\s?\w{1,3})*\s(?-i:[A-Z][A-Za-z]{0,5}[A-Z]+)(?!\w)",
        signs=(_DIGITS, "'\"\u2019\u201d\u2032\u2033\u00b0\u00a7"),
    ),
    Recogniser("emoticon", EMOTICON, signs=(":;=8<^xX_",)),
    Recogniser("emoji", EMOJI, signs=(_BEYOND_ASCII,)),
)
"""All kinds of protected spans. Where several match at the same place, the first one decides."""
_SIGNS = frozenset(character for kind in RECOGNISERS for signs in kind.signs for character in signs)
_OTHER_SCRIPT = Recogniser("other_script", r"[\u0370-\u1dff\u2e80-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]+", signs=(_BEYOND_ASCII,))
"""Words in other scripts than the Latin one."""


once = lru_cache(maxsize=2048)
"""For functions that find things in texts, which several steps of a translation ask for: those of a window of lines are found once."""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def protected_spans(text: str, *, latin: bool = False) -> list[tuple[int, int]]:
    """Offsets (start, end), in order, of the spans of `text` that must not change, such as URLs, format arguments, tags, code and paths.

    They are in code points, with the end excluded. With `latin`, words in other scripts than the Latin one are protected too.
    """
    return list(_spans(text, latin))


@once
def _spans(text: str, latin: bool) -> tuple[tuple[int, int], ...]:
    kinds = (*_kinds_in(text), *[_OTHER_SCRIPT] * (latin and not text.isascii()))
    return tuple(_merged(text, [_compiled(kind.pattern) for kind in kinds]))


def _kinds_in(text: str) -> list[Recogniser]:
    """The kinds of which a text may have spans, by its characters and words."""
    characters = _SIGNS.intersection(text)
    if not text.isascii():
        characters |= {_BEYOND_ASCII, *(_DIGITS if any(map(str.isdecimal, text)) else "")}
    lowered = text.lower()
    return [kind for kind in _kinds_with(characters) if not kind.words or any(word in lowered for word in kind.words)]


@lru_cache(maxsize=1024)
def _kinds_with(characters: frozenset[str]) -> list[Recogniser]:
    """The kinds all of whose `signs` are among `characters`. _BEYOND_ASCII stands for all characters that are not ASCII."""
    return [kind for kind in RECOGNISERS if not any(map(characters.isdisjoint, kind.signs))]


def _merged(text: str, patterns: Sequence[re.Pattern[str]]) -> Iterator[tuple[int, int]]:
    """The matches of all patterns joined by |, which are found faster pattern by pattern: that which begins first counts, and of several
    that begin there, the one of the first pattern.
    """
    following = {place: found for place, pattern in enumerate(patterns) if (found := pattern.search(text)) is not None}
    while following:
        _, first = min((found.start(), place) for place, found in following.items())
        start, end = following[first].span()
        yield start, end
        for place in [place for place, found in following.items() if found.start() < end]:
            if (found := patterns[place].search(text, end)) is None:
                del following[place]
            else:
                following[place] = found


def united(positions: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the `positions` in order, each overlapping group as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(positions):
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def split_at(text: str, spans: Iterable[tuple[int, int]]) -> list[str]:
    """The parts of `text` outside `spans` (start, end), which are in order, and the spans between them: every second part is a span."""
    bounds = [0, *(offset for span in spans for offset in span), len(text)]
    return [text[start:end] for start, end in pairwise(bounds)]


def hidden(text: str, spans: Iterable[Span]) -> str:
    """`text` with NO_TEXT in the place of each character of the `spans`, which are in order."""
    pieces, position = [], 0
    for start, end in spans:
        pieces += [text[position:start], NO_TEXT * (end - start)]
        position = end
    return "".join([*pieces, text[position:]])


def changed_outside(text: str, change: Callable[[str], str]) -> str:
    """Return `text` with a `change` of each part outside its protected spans."""
    parts = split_at(text, protected_spans(text))
    parts[::2] = map(change, parts[::2])
    return "".join(parts)


def gaps_outside_spans(text: str, gaps: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return those of the `gaps` in `text` whose start is not inside a protected span; one that begins with a span has all of it. A gap is
    (start, end) of, for example, the white space between two sentences.
    """
    found = list(gaps)
    spans = protected_spans(text) if found else []
    starts = [start for start, _ in spans]
    places = (bisect(starts, start) - 1 for start, _ in found)
    return [gap for gap, place in zip(found, places, strict=True) if place < 0 or spans[place][1] <= gap[spans[place][0] == gap[0]]]


def kind_of(span: str) -> Recogniser | None:
    """The kind of a protected span; None if `span` is not one as a whole."""
    return next((kind for kind in _kinds_in(span) if _compiled(kind.pattern).fullmatch(span)), None)


def keeps_order(span: str) -> bool:
    """Whether the order of protected spans like `span` matters: tags, and format arguments without a name or number."""
    kind = kind_of(span)
    return kind is not None and kind.ordered


def is_number(span: str) -> bool:
    """Whether a protected span stands for a number, as %d, {0:.2f} and {count} do."""
    kind = kind_of(span)
    return kind is not None and kind.number != "" and re.fullmatch(kind.number, span, re.IGNORECASE) is not None


def without_protected(text: str) -> str:
    """Return `text` with each protected span, such as a URL, replaced by a space."""
    spans = _spans(text, False)
    return " ".join(split_at(text, spans)[::2]) if spans else text
