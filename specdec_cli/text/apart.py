"""Texts that are cut into parts, which the model translates one by one: speech, brackets inside of brackets, paths of menus, and repeated
clauses.

In one piece, models lose marks of such texts.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

from specdec_cli.language_codes import short_code
from specdec_cli.text.locale.languages import CODES, is_told_apart, known
from specdec_cli.text.quotations import LETTER, MOST, WRITTEN, Quotation, quotations, with_own_quotes, without_inner_stops

_SPEECHES = {code: known(code)["speeches"] for code in CODES if "speeches" in known(code)}
"""For languages, short speeches that stand for any other one while the words around it are decoded."""
_FEW_WORDS = 2
"""So many words in quotation marks may be a name or title."""
_END = re.compile(r"(?<![.,!?;:\u2026])[.,!?;:\u2026]+$")


@dataclass(frozen=True)
class Apart:
    """A text that is cut into `texts`, which are decoded one by one. `join` makes the output for the whole from the outputs for these; it
    returns None if they do not fit together.
    """

    texts: tuple[str, ...]
    join: Callable[[Sequence[str]], str | None]


def speech_apart(text: str, languages: tuple[str, str], *, at_last: bool = False) -> Iterator[Apart]:
    """For a text with speech in quotation marks, yield ways to cut it: a frame, which is the text with a short speech such as "Yes" in the
    place of each speech, and the words of each speech. A text that is one quotation has no frame.

    The ways differ in the short speech, in the place of its comma, and in the marks of quotations inside of speech. Nothing is yielded for
    a text without speech, and for languages whose quotation marks are not known.

    A quotation is speech if it has several words, and a comma, a colon or the end of a sentence is beside its marks; if there is another
    quotation inside; or if it begins or ends outside of the text. Tried `at_last`, any of more than two words is, and a text is cut only if
    there is such a one.
    """
    source, target = map(short_code, languages)
    if source == target or source not in _SPEECHES or target not in WRITTEN:
        return
    quoted = quotations(text)
    # Models read English in other texts.
    own = [index for index, each in enumerate(quoted) if target == "en" or not is_told_apart(each.content(text), source, target)]
    spoken = [index for index in own if _is_speech(text, quoted[index])]
    if at_last:
        also = [index for index in own if len(quoted[index].content(text).split()) > _FEW_WORDS]
        spoken = sorted({*spoken, *also}) if not set(also) <= set(spoken) else []
    if not spoken or len(quoted) > MOST or any(each.inner for index, each in enumerate(quoted) if index not in spoken):
        return
    is_whole, is_nested = quoted[0].start == 0 and quoted[0].end == len(text), any(quoted[index].inner for index in spoken)
    for number, (speech, is_inside) in enumerate(product(_SPEECHES[source], (True, False))):
        mark = "\"'"[number % 2]
        parts = [_part(quoted[index].content(text), mark) for index in spoken]
        speeches = tuple(part for part, _ in parts)
        if is_whole:
            if number == 0 or (is_nested and number == 1):
                yield Apart(speeches, partial(_whole, quoted[0], parts[0], target))
            continue
        frame = text
        for index, each in reversed(list(enumerate(quoted))):
            words = _short_speech(each.content(text), speech) if index in spoken else each.content(text)
            comma = "," * (words.endswith(",") and not is_inside)
            frame = f'{frame[: each.start]}"{words.removesuffix(",") if comma else words}"{comma}{frame[each.end :]}'
        yield Apart((frame, *speeches), partial(_framed, frame, quoted, dict(zip(spoken, parts, strict=True)), target))


def _is_speech(text: str, quoted: Quotation) -> bool:
    words = quoted.content(text)
    if quoted.inner or not (quoted.opens and quoted.closes):
        return True
    count = len(words.split())
    is_beside = count > _FEW_WORDS and (text[: quoted.start].rstrip()[-1:] in (",", ":") or text[quoted.end : quoted.end + 1] == ",")
    is_whole = quoted.start == 0 and quoted.end == len(text)
    return count > 1 and (is_beside or is_whole or _END.search(words) is not None)


def _part(words: str, inner: str) -> tuple[str, str]:
    """The words of a quotation as a text to decode, and the punctuation at their end. In the text, quotations have the marks `inner`, and a
    sentence without a stop has one.
    """
    words = words.strip()
    found, first = _END.search(words), LETTER.search(words)
    end = found.group() if found else ""
    if end in ("", ",") and len(words.split()) > 2 and first is not None and first.group().isupper():
        words = f"{words[: len(words) - len(end)]}."
    for place, _, _ in [mark for each in quotations(words) for mark in each.marks()]:
        words = f"{words[:place]}{inner}{words[place + 1 :]}"
    return words, end


def _short_speech(words: str, speech: str) -> str:
    """The `speech` with the first letter and the final punctuation of the `words` that it stands for."""
    end = _END.search(words.strip())
    mark = next((mark for mark in "?!." if end is not None and mark in end.group()), "," * (end is not None))
    return (speech.lower() if words.lstrip()[:1].islower() else speech) + mark


def _fitted(part: tuple[str, str], output: str, language: str) -> str | None:
    """An output for the words of a quotation without the punctuation at its end. Its own quotations have the marks that the language uses
    inside of another quotation. None if it has other quotations than the words.
    """
    written = with_own_quotes(output, part[0], language, 1) if quotations(part[0]) else output
    return _END.sub("", written.strip()) or None if written is not None else None


def _whole(quoted: Quotation, part: tuple[str, str], language: str, outputs: Sequence[str]) -> str | None:
    """The output for a text that is one quotation."""
    words, marks = _fitted(part, outputs[0], language), WRITTEN[language][0]
    return None if words is None else f"{marks[0] * quoted.opens}{words}{part[1]}{marks[1] * quoted.closes}"


def _framed(
    frame: str, quoted: Sequence[Quotation], parts: Mapping[int, tuple[str, str]], language: str, outputs: Sequence[str]
) -> str | None:
    """The output for a frame in which the outputs for the speeches are put; None if it has other quotations than the frame.

    Stops, question and exclamation marks at the end of a speech are those of the source; a comma is there if the output for the frame has
    one.
    """
    written = with_own_quotes(outputs[0], frame, language)
    places = quotations(written or "")
    if written is None or len(places) != len(quoted):
        return None
    for (index, part), output in reversed(list(zip(parts.items(), outputs[1:], strict=True))):
        words, place, own = _fitted(part, output, language), places[index], quoted[index]
        if words is None:
            return None
        inner, after = place.content(written), written[place.end :]
        end = part[1] if part[1] not in ("", ",") else "," * inner.endswith(",")
        if end and after in (".", "!", "?"):
            after = ""
        opening, closing = written[place.start] * own.opens, written[place.end - 1] * own.closes
        written = f"{written[: place.start]}{opening}{words}{end}{closing}{after}"
    return without_inner_stops(written, language)


_BRACKET = re.compile(r"[()]")
_ENDING = re.compile(r"(?<=\w)\(\w{1,3}\)")
_INNER = re.compile(r" ?\(((?=[^()]*[^\W\d_])[^()]*+)\)(?=\))")
"""Brackets at the end of what is between others."""


def brackets_apart(text: str) -> Iterator[Apart]:
    """For a text with brackets at the end of other brackets, as in "(a (b))", yield the text without the inner brackets, and what is
    inside them, as texts of their own. For other texts yield nothing.
    """
    inner = list(_INNER.finditer(text))
    if not inner:
        return
    frame, ends, removed = "", list[int](), 0
    for found in inner:
        frame += text[removed : found.start()]
        ends.append(frame.count(")"))
        removed = found.end()
    frame += text[removed:]
    if not _INNER.search(frame):
        yield Apart((frame, *(found[1] for found in inner)), partial(_bracketed, frame, ends))


def _bracketed(frame: str, ends: Sequence[int], outputs: Sequence[str]) -> str | None:
    """The output for a text without its inner brackets, with the outputs for these. Each is put before the closing bracket of the outer
    ones; `ends` are the numbers of these closing brackets, from 0.
    """
    written = outputs[0]
    if not has_brackets_of(written, frame):
        return None
    closing = [match.start() for match in re.finditer(r"\)", written)]
    for number, output in reversed(list(zip(ends, outputs[1:], strict=True))):
        words = _END.sub("", output.strip())
        written = f"{written[: closing[number]]} ({words}){written[closing[number] :]}"
    return written


def has_brackets_of(output: str, source: str) -> bool:
    """Whether an output has the opening and closing brackets of its source, in the same order; endings such as (s) do not count."""
    return _brackets(output) == _brackets(source)


def _brackets(text: str) -> list[str]:
    return _BRACKET.findall(_ENDING.sub("", text)) if "(" in text or ")" in text else []


_NAME_IN_MENU = r"[^\W\d_a-z][\w'\u2019-]*+(?:(?: (?:&|and|und))? [^\W\d_a-z][\w'\u2019-]*+){0,3}"
_MENUS = re.compile(rf"{_NAME_IN_MENU}(?: > {_NAME_IN_MENU})+")
"""The path of a command in menus: File > Open."""
_STEP = re.compile(r"(?<![\w'\u2019&-])[^\W\d_a-z][\w'\u2019-]* > (?=[^\W\d_a-z])")
_STAND_IN = "K7"


def menus_apart(text: str) -> Iterator[Apart]:
    """For a text with one path of menus (Click File > Open), yield the text with a placeholder for it, and the names of the menus."""
    menus = list(_MENUS.finditer(text))
    if len(menus) != 1 or _STAND_IN in text:
        return
    start, names = menus[0].start(), menus[0].group().split(" > ")
    verb, _, rest = names[0].partition(" ")
    if start == 0 and rest[:1].isalpha() and rest != "" and text[menus[0].end() :].strip(" .!"):
        start, names[0] = len(verb) + 1, rest
    frame = f"{text[:start]}{_STAND_IN}{text[menus[0].end() :]}"
    if frame.strip(" .") == _STAND_IN:
        yield Apart(tuple(names), lambda outputs: _path(outputs) + text[menus[0].end() :])
    else:
        yield Apart((frame, *names), _with_menus)


def _with_menus(outputs: Sequence[str]) -> str | None:
    return outputs[0].replace(_STAND_IN, _path(outputs[1:])) if outputs[0].count(_STAND_IN) == 1 else None


def _path(names: Sequence[str]) -> str:
    return " > ".join(name[:1].upper() + _END.sub("", name)[1:] for name in names)


def with_known_menus(output: str, source: str, known: Callable[[str], str | None]) -> str:
    """Return `output` with the translations of names of menus that are `known` in the place of others, if it has a path of menus as its
    source. Names of several words beside other words with capitals stay.
    """
    own, there = _MENUS.search(source), _MENUS.search(output)
    if own is None or there is None:
        return output
    names, shown = own.group().split(" > "), there.group().split(" > ")
    if len(names) != len(shown):
        return output
    for place, (name, other) in enumerate(zip(names, shown, strict=True)):
        before, space, last = other.rpartition(" ") if place == 0 else ("", "", other)
        translation = known(name.rpartition(" ")[2] if place == 0 else name)
        if translation is not None and " " not in translation and not (place == len(names) - 1 and " " in last):
            shown[place] = f"{before}{space}{translation}"
    return f"{output[: there.start()]}{' > '.join(shown)}{output[there.end() :]}"


def has_menus_of(output: str, source: str) -> bool:
    """Whether an output has as many names in paths of menus as its source."""
    return " > " not in source or not _MENUS.search(source) or len(_STEP.findall(output)) == len(_STEP.findall(source))


_REPEATED = re.compile(r"([^\W\d_][\w'\u2019]*(?: [\w'\u2019]+){0,3})((?:, \1)+)(?=[,.!?\u2026]|$)", re.IGNORECASE)
"""A clause of at most four words that is repeated at the beginning of a text."""


def count_repetitions(text: str) -> int:
    """How many times the first clause of a text stands at its beginning, with commas between: 3 for "No, no, no!", else 1."""
    match = _REPEATED.match(text)
    return 1 if match is None else 1 + len(match[2]) // (len(match[1]) + 2)


def repeats_as(output: str, source: str) -> bool:
    """Whether an output has its first clause as often as its source."""
    return count_repetitions(output) == count_repetitions(source)


def repetition_apart(text: str, language: str) -> Iterator[Apart]:
    """For a text that begins with a clause three times or more, yield the text with the clause twice. If there are no other words and the
    output is in English (`language`), also yield the clause alone. The outputs get the clause as often as the text has it.
    """
    found, times = _REPEATED.match(text), count_repetitions(text)
    if found is None:
        return
    rest = text[found.end() :]
    if times > 2:
        yield Apart((f"{found[1]}{found[2][: len(found[1]) + 2]}{rest}",), lambda outputs: _repeated(outputs[0], times))
    if short_code(language) == "en" and not LETTER.search(rest):
        yield Apart((found[1] + rest,), lambda outputs: _multiplied(outputs[0], times))


def _repeated(output: str, times: int) -> str | None:
    """An output that begins with the same clause twice, extended so that it has the clause `times` times; None for other outputs."""
    match = _REPEATED.match(output)
    return None if match is None or count_repetitions(output) != 2 else f"{match[1]}{match[2] * (times - 1)}{output[match.end() :]}"


def _multiplied(output: str, times: int) -> str | None:
    """An output that is one clause, extended so that it has the clause `times` times; None if it has a comma."""
    end = _END.search(output)
    clause = output[: end.start()] if end is not None else output
    again = clause if re.match(r"I\b", clause) else clause[:1].lower() + clause[1:]
    return None if "," in clause else f"{clause}{f', {again}' * (times - 1)}{output[len(clause) :]}"
