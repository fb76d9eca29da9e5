"""Messages of programs, of forums, wikis and chats, and addresses, drawn from templates: what is around their words stays.

`pytest tests/pipeline/test_drawn_messages.py -s` prints how many of each kind come out as a reader expects.
"""

import random
import re

import pytest

from tests.drawn import Drawn, Kind, check_translations, kinds
from tests.tables import tables

TEXTS = tables(__file__)


def _words(draw: random.Random) -> tuple[str, str, str, str]:
    """A noun and an adjective, and patterns of their translations."""
    noun, adjective = draw.choice(list(TEXTS.nouns)), draw.choice(list(TEXTS.adjectives))
    return noun, adjective, TEXTS.nouns[noun], f"(?i:{TEXTS.adjectives[adjective]})"


def numbered_tags(draw: random.Random) -> Drawn:
    """Tags with numbers, as libraries of messages give them to elements: their words are translated."""
    noun, adjective, own, other = _words(draw)
    first, last = draw.sample(range(12), 2)
    template, has = draw.choice(
        (
            (
                f"<{first}>The {noun}</{first}> is <{last}>{adjective}</{last}>.",
                rf"<{first}>[^<>]*{own}</{first}>.*<{last}>{other}</{last}>",
            ),
            (f"The <{first}>{noun}</{first}> is {adjective}.", rf"<{first}>[^<>]*{own}</{first}>.*{other}"),
            (
                f"<{first}><{last}>The {noun}</{last}></{first}> is {adjective}.",
                rf"<{first}><{last}>[^<>]*{own}</{last}></{first}>.*{other}",
            ),
            (f"Your {noun} is <{first}>{adjective}</{first}>.", rf"{own}.*<{first}>{other}</{first}>"),
        )
    )
    return Drawn(template, has=(has,), lacks=(rf"\b(?:{noun}|{adjective})\b",))


def breaks_of_lines(draw: random.Random) -> Drawn:
    """Placeholders or tags between two sentences without spaces: both sentences are translated."""
    if draw.random() < 0.3:
        (first, _, own, _), (last, _, other, _) = _words(draw), _words(draw)
        mark = draw.choice(("{br}", "<x/>", "<br/>"))
        return Drawn(f"The {first}{mark}My {last}", has=(f"{own}{re.escape(mark)}Meine? {other}$",))
    first, last = draw.sample(TEXTS.sentences, 2)
    mark = draw.choice(("{br}", "{0}", "<x/>", "<br />", "{br}{br}", "{n}", "<ph/>", "<lb/>"))
    return Drawn(f"{first}{mark}{last}", has=(rf"[.?!]{re.escape(mark)}[A-ZÄÖÜ]\w+ .*[.?!]$",), lacks=(rf"\b(?:{last.split()[1]})\b",))


def choices(draw: random.Random) -> Drawn:
    """Forms for numbers from limits on: the limits stay, and all forms are translated."""
    noun = draw.choice(("house", "city", "street", "car"))
    many = {"city": "cities"}.get(noun, f"{noun}s")
    place = draw.choice("012345")
    own = {"house": "Haus", "city": "Stadt", "street": "Straße", "car": "Auto"}[noun]
    plural = {"house": "Häuser", "city": "Städte", "street": "Straßen", "car": "Autos"}[noun]
    source = f"{{{place},choice,0#no {many}|1#one {noun}|1<{{{place}}} {many}}}"
    before = draw.choice(("", "Found: ", "You have ", "There: ", "In all: "))
    has = rf"\{{{place},choice,0#[^|#<]*{plural}[^|#<]*\|1#[^|#<]*{own}[^|#<]*\|1<\{{{place}\}} {plural}\}}"
    return Drawn(before + source, has=(has,), lacks=(rf"\b(?:{noun}|{many})\b",))


def forums(draw: random.Random) -> Drawn:
    """Tags in square brackets."""
    noun, adjective, own, other = _words(draw)
    tag = draw.choice(("b", "i", "u", "s", "color=red", "size=20", "url=https://example.org/a", "font=Arial"))
    name = tag.partition("=")[0]
    opening, closing = re.escape(f"[{tag}]"), re.escape(f"[/{name}]")
    source, has = draw.choice(
        (
            (f"[{tag}]The {noun}[/{name}] is {adjective}.", f"{opening}[^][]*{own}{closing}.*{other}"),
            (f"The {noun} is [{tag}]{adjective}[/{name}].", f"{own}.*{opening}{other}{closing}"),
            (f"[quote]The {noun} is {adjective}.[/quote]", rf"^\[quote\][^][]*{own}[^][]*{other}\.\[/quote\]$"),
            (
                f"[center]The [{tag}]{noun}[/{name}] is {adjective}.[/center]",
                rf"^\[center\].*{opening}{own}{closing}.*{other}\.\[/center\]$",
            ),
        )
    )
    return Drawn(source, has=(has,))


def wikis(draw: random.Random) -> Drawn:
    """Emphasis by apostrophes."""
    noun, adjective, own, other = _words(draw)
    mark = draw.choice(("''", "'''"))
    source, has = draw.choice(
        (
            (f"{mark}The {noun}{mark} is {adjective}.", f"{mark}[^']*{own}{mark}[^']*{other}"),
            (f"The {noun} is {mark}{adjective}{mark}.", f"{own}[^']*{mark}{other}{mark}"),
            (f"The {mark}{noun}{mark} is very {adjective}.", f"{mark}{own}{mark}[^']*{other}"),
        )
    )
    return Drawn(source, has=(has,), lacks=("[\u201e\u201c\u201a\u2018]",))


def forum_blocks(draw: random.Random) -> Drawn:
    """Tags in square brackets around whole texts, lists, and code, which stays."""
    (first, _, own, _), (second, _, other, _) = _words(draw), _words(draw)
    tag = draw.choice(("b", "color=red", "size=20", "url=https://example.org/a", "font=Arial", "quote=Anna", "spoiler", "center"))
    name = tag.partition("=")[0]
    source, has = draw.choice(
        (
            (f"[{tag}]The {first}[/{name}]", rf"^{re.escape(f'[{tag}]')}[^][]*{own}\[/{name}\]$"),
            (f"[{tag}]Where is my {first}?[/{name}]", rf"^{re.escape(f'[{tag}]')}[^][]*{own}[^][]*\[/{name}\]$"),
            (f"[list][*]The {first}[*]The {second}[/list]", rf"^\[list\]\[\*\][^][]*{own}\[\*\][^][]*{other}\[/list\]$"),
            (f"[*] The {first} is here.", rf"^\[\*\] [^][]*{own}[^][]*hier\.$"),
            (f"[code]open {first}[/code]", rf"^\[code\]open {first}\[/code\]$"),
        )
    )
    return Drawn(source, has=(has,))


def wiki_links(draw: random.Random) -> Drawn:
    """Links, pictures, notes and cells of wikis."""
    noun, adjective, own, other = _words(draw)
    source, has = draw.choice(
        (
            (f"[[Page|The {noun}]] is {adjective}.", rf"^\[\[Page\|[^][]*{own}\]\] ist {other}\.$"),
            (f"The {noun} is [[Page|{adjective}]].", rf"{own} ist \[\[Page\|{other}\]\]\.$"),
            (f"[[File:A.jpg|thumb|The {noun}]]", rf"^\[\[File:A\.jpg\|thumb\|[^][]*{own}\]\]$"),
            (f"The {noun} of [[Berlin]] is {adjective}.", rf"{own} .*\[\[Berlin\]\] ist {other}\.$"),
            (
                f'The {noun} is {adjective}.<ref name="a">A book.</ref> It is here.',
                rf'{other}\.<ref name="a">A book\.</ref> \w+ ist hier\.$',
            ),
            (f"| The {noun} || {adjective}", rf"^\| [^|]*{own} \|\| {other}$"),
            (f"== The {noun} ==", f"^== [^=]*{own} ==$"),
        )
    )
    return Drawn(source, has=(has,))


def identifiers(draw: random.Random) -> Drawn:
    """Keys, names of types, formats of dates, postcodes and objects of JSON."""
    noun, adjective = draw.choice(list(TEXTS.nouns)), draw.choice(list(TEXTS.adjectives))
    alone = draw.choice((f"{noun}.title", f"app.{adjective}.{noun}", f'{{"{noun}": "The {noun} is {adjective}."}}', f'[{{"{noun}": 1}}]'))
    inside = draw.choice(TEXTS.identifiers)
    frame = draw.choice(("{}", "Use {} here.", "The value is {}.", f"The {noun} has {{}} on it."))
    kept, source = draw.choice(((alone, alone), (inside, frame.format(inside)), (inside, frame.format(inside))))
    return Drawn(source, keeps=(kept,))


def chats(draw: random.Random) -> Drawn:
    """Lines of chats: date, time and name stay as they are."""
    day, month, hour, minute = draw.randrange(13, 29), draw.randrange(1, 13), draw.randrange(1, 13), draw.randrange(10, 60)
    date = draw.choice((f"{day}/{month:02}/2024", f"{month}/{day}/24", f"{day}.{month:02}.24"))
    time = draw.choice((f"{hour}:{minute}", f"{hour}:{minute} {draw.choice(('AM', 'PM'))}"))
    head = f"{date}, {time} - {draw.choice(TEXTS.names)}: "
    return Drawn(f"{head}{draw.choice(TEXTS.sentences)}", has=(rf"^{re.escape(head)}[A-ZÄÖÜ]\w+ .*[.?!]$",), lacks=(r"\b(?:the|is|you)\b",))


def _address(draw: random.Random) -> str:
    town = draw.choice((f", {draw.choice(TEXTS.towns)}", ""))
    return f"{draw.choice(TEXTS.streets)} {draw.randrange(1, 120)}{draw.choice(('', '', 'a'))}{town}"


def addresses(draw: random.Random) -> Drawn:
    """English sentences with a German address: street, house number and, in some, the town."""
    place = _address(draw)
    source = draw.choice(("Our office is at {}.", "He lives at {}.", "We met at {}.", "The new shop is at {}.", "My address is {}."))
    return Drawn(source.format(place), keeps=(place,))


def addresses_in_german(draw: random.Random) -> Drawn:
    """The same in German."""
    place = _address(draw)
    source = draw.choice(
        ("Unser Büro: {}.", "Er wohnt in der {}.", "Der Laden ist in der {}.", "Meine Adresse ist {}.", "Wir treffen uns {}.")
    )
    return Drawn(source.format(place), keeps=(place,))


def german_names(draw: random.Random) -> Drawn:
    """English sentences with a German name of a firm, a paper, a work or a feast."""
    name = draw.choice(TEXTS.german_names)
    return Drawn(draw.choice(TEXTS.about_names).format(name), has=(re.escape(name).replace("Deutsche", "Deutschen?"),))


def firms(draw: random.Random) -> Drawn:
    """Firms, papers and teams of Germany in English sentences."""
    name = draw.choice(TEXTS.firms)
    return Drawn(draw.choice(TEXTS.about_names).format(name), has=(rf"(?<!\w){name}s?(?!\w)",))


def firms_in_german(draw: random.Random) -> Drawn:
    """The same in German."""
    name = draw.choice(TEXTS.firms)
    return Drawn(draw.choice(TEXTS.about_names_in_german).format(name), has=(rf"(?<!\w){name}(?!\w)",))


def foreign_quotations(draw: random.Random) -> Drawn:
    """Quotations in German, titles and speech, in English sentences."""
    text, frame = draw.choice(TEXTS.german_texts), draw.choice(TEXTS.quoting)
    return Drawn(frame.format(text), has=(f"„{re.escape(text)}[,.!?]?“",), lacks=(r"\b(?:the|of|she|he|is)\b",))


def lists(draw: random.Random) -> Drawn:
    """Lists of strings and numbers, as in programs."""
    mark, (first, second) = draw.choice("'\""), draw.sample(["red", "blue house", "old garden", "two door", "yes", "my friend"], 2)
    found = f"[{mark}{first}{mark}, {draw.choice((f'{mark}{second}{mark}', str(draw.randrange(100))))}]"
    return Drawn(draw.choice(("{}", "The colours are {}.", "Set it to {} and wait.", "It returns {} now.")).format(found), keeps=(found,))


def fixed_spaces(draw: random.Random) -> Drawn:
    """No-break spaces as entities."""
    noun, adjective, own, other = _words(draw)
    source, has = draw.choice(
        (
            (f"The&nbsp;{adjective} {noun} is here.", f"&nbsp;{other}|{own}&nbsp;"),
            (f"The {noun}&nbsp;is {adjective}.", f"{own}&nbsp;ist"),
            (f"The {noun} is&nbsp;{adjective}.", f"&nbsp;{other}"),
        )
    )
    return Drawn(source, has=(has, own, other), lacks=(r" &nbsp;|&nbsp; ", rf"\b(?:{noun}|{adjective})\b"))


def letters(draw: random.Random) -> Drawn:
    """Greetings with a placeholder for a name."""
    place = draw.choice(("{name}", "<field>", "%s", "{{ user.name }}", "%(name)s", "$name", "{0}"))
    behind = draw.choice((" thank you for your letter.", " we have time.", " please wait.", " the house is old.", "", " how are you?"))
    return Drawn(f"{draw.choice(('Dear', 'Hello', 'Hi'))} {place},{behind}", has=(rf"^(?:Hallo|Hi|Liebe[r/()\w]*) {re.escape(place)},",))


KINDS = (
    *kinds(95, numbered_tags, breaks_of_lines, choices, forums, wikis, chats, addresses, german_names, lists),
    *kinds(95, forum_blocks, wiki_links, identifiers, firms, foreign_quotations),
    *kinds(95, fixed_spaces, letters),
    *kinds(95, addresses_in_german, firms_in_german, bundle="de-en"),
)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.draw.__name__)
@pytest.mark.parametrize("seed", [41, 42])
def test_what_is_around_words_stays(kind: Kind, seed: int, pytestconfig: pytest.Config) -> None:
    check_translations(kind, seed, pytestconfig.cache, are_warned=False)
