"""Texts of many kinds, drawn from templates, that the shipped bundles translate or correct: how many come out as a reader expects.

`pytest tests/pipeline/test_drawn_kinds.py -s` prints the table of kinds.
"""

import html
import random
import re
from collections.abc import Callable, Iterator, Sequence

import pytest

from specdec_cli.documents.document import Source
from specdec_cli.documents.formats import read_document
from specdec_cli.pipeline.corrector import Correction, LineCorrector
from specdec_cli.pipeline.edit_filter import EditFilter
from specdec_cli.pipeline.translator import LineTranslator, Translation
from specdec_cli.text.locale.languages import is_function_word
from tests.drawn import Drawn, Kind, drawn, wrong
from tests.stored_engine import opened

THOUSANDS = (
    "The stadium holds {} people.",
    "There are {} books in the library.",
    "The company has {} employees in {} offices.",
    "They planted {} trees last year.",
    "More than {} visitors came on Sunday.",
    "The mountain is {} metres high.",
    "The road is {} kilometres long.",
    "Our school bought {} chairs.",
    "The ship weighs {} tonnes.",
    "He walked {} steps today.",
    "The disk has {} free bytes, and {} are used.",
    "In total, {} letters were sent.",
    "The farm has {} cows and {} sheep.",
    "The lake is {} m deep.",
    "We need {} bricks for the wall.",
)
DECIMALS = (
    "The child is {} metres tall.",
    "The engine uses {} litres an hour.",
    "The bag weighs {} kg.",
    "Prices rose by {} percent in May.",
    "The screen is {} inches wide.",
    "The water has {} °C.",
    "The film is {} hours long.",
    "The town has {} million inhabitants.",
    "The file is {} MB, and the other one {} GB.",
    "The tower grew by {} cm.",
    "About {}% of the students failed.",
    "The average age is {} years.",
    "It was -{} degrees in the morning.",
    "Add {} g of salt to {} litres of water.",
    "The car is {} seconds faster.",
)
PRICES = (
    "The watch costs {}.",
    "I paid {} for the ticket.",
    "The old house was sold for {}.",
    "You still owe me {}.",
    "A room costs {} per night.",
    "Her salary is {} a month.",
    "The repair will cost about {}.",
    "He won {} in the lottery.",
    "The total is {}.",
    "They spent {} on the new kitchen.",
)
PRICE_PAIRS = (
    "The tickets cost between {} and {}.",
    "We pay {} for the hall and {} for the food.",
    "The price fell from {} to {}.",
    "A small one costs {}, a large one {}.",
    "You can save {} to {} every month.",
)
TIMES = (
    "The concert begins at {}.",
    "The bank closes at {}.",
    "My bus leaves at {} tomorrow.",
    "She woke up at {}.",
    "Dinner is served from {} to {}.",
    "The meeting is at {} on Monday.",
    "The shop is open from {} until {}.",
    "He called me at {}.",
    "The train from Berlin arrives at {}.",
    "Please come before {}.",
    "The match ended at {}.",
)


SPEECH = (
    "Where are you going?",
    "Stop!",
    "I love you,",
    "Who is there?",
    "Come in!",
    "I am tired,",
    "It is late,",
    "We have to go home,",
    "What is your name?",
    "I don't know,",
    "This is my house,",
    "You are right,",
    "Nobody knows the answer,",
    "How much does the ticket cost?",
)
SPEAKERS = ("he", "she", "Tom", "the old man", "the girl", "my mother", "the teacher", "Mary")
SAID = ("said", "asked", "shouted", "whispered", "answered", "replied")
BEFORE_SPEECH = ("He said,", "She asked:", "Tom told me:", "My father always said,", "The teacher answered:")
SENTENCES = ("I am tired.", "Where is the key?", "We are late!", "The train has left.", "I have no time.")
TWO_PRICES = (
    "{} is about {}.",
    "It costs {} here and {} in the shop.",
    "I paid {} for the book and {} for the pen.",
    "Tickets are {} for guests and {} for members.",
    "We changed {} into {}.",
    "She has {}, and he has {}.",
)
TIMES_OF_24_HOURS = (
    "Das Konzert beginnt um {} Uhr.",
    "Der Laden schließt um {} Uhr.",
    "Um {} Uhr kam Tom nach Hause.",
    "Der Zug fährt um {} Uhr ab.",
    "Wir essen um {} Uhr zu Abend.",
    "Sie hat mich um {} Uhr angerufen.",
    "Die Bank ist bis {} Uhr offen.",
    "Bitte komm vor {} Uhr.",
)
SPACED_TAGS = (
    "It is <b>{0}big{1}</b>.",
    "The <b>{0}red house{1}</b> is old.",
    "She has a <i>{0}new car{1}</i> and two dogs.",
    "<em>{0}Tom{1}</em> lives in Berlin.",
    'We read the <a href="x.html">{0}first page{1}</a> today.',
    "Please close the <u>{0}window{1}</u>",
    "My <i>old <b>{0}friend{1}</b></i> is here.",
    "I like <b>{0}tea{1}</b>, but not <b>{0}coffee{1}</b>.",
)


def thousands(draw: random.Random) -> Drawn:
    """Whole numbers with a separator of thousands."""
    template = draw.choice(THOUSANDS)
    values = [
        draw.choice((draw.randrange(1000, 10_000), draw.randrange(1000, 10_000), draw.randrange(10_000, 5_000_000)))
        for _ in range(template.count("{}"))
    ]
    english = [f"{value:,}" for value in values]
    return Drawn(template.format(*english), tuple(_number(each.replace(",", ".")) for each in english), tuple(map(_number, english)))


def decimals(draw: random.Random) -> Drawn:
    """Numbers with a point before their decimals."""
    template = draw.choice(DECIMALS)
    values = [
        f"{draw.randrange(0, 120)}.{draw.choice((draw.randrange(1, 10), draw.randrange(11, 100)))}" for _ in range(template.count("{}"))
    ]
    return Drawn(template.format(*values), tuple(_number(each.replace(".", ",")) for each in values), tuple(map(_number, values)))


def prices(draw: random.Random) -> Drawn:
    """Prices with cents, most of them with a separator of thousands."""
    sign, value = draw.choice("$$€£"), draw.choice((draw.randrange(1000, 90_000), draw.randrange(1000, 90_000), draw.randrange(1, 1000)))
    english = f"{value:,}.{draw.randrange(1, 100):02}"
    german = english.translate(str.maketrans(",.", ".,"))
    priced = rf"(?:{re.escape(sign)}\s?{_number(german)}|{_number(german)}\s?{re.escape(sign)})"
    return Drawn(draw.choice(PRICES).format(sign + english), (priced, rf"^[^{sign}]*{re.escape(sign)}[^{sign}]*$"), (_number(english),))


def sides_of_signs(draw: random.Random) -> Drawn:
    """Prices, whose sign is behind the amount in German."""
    sign, value = draw.choice("$€£"), draw.choice((draw.randrange(2, 1000), draw.randrange(1000, 90_000)))
    english = f"{value:,}" + draw.choice(("", f".{draw.randrange(1, 100):02}"))
    german = english.translate(str.maketrans(",.", ".,"))
    has = rf"{_number(german)}\s{re.escape(sign)}(?!\w)"
    return Drawn(draw.choice(PRICES).format(sign + english), (has,), (rf"{re.escape(sign)}\s?\d",))


def two_currencies(draw: random.Random) -> Drawn:
    """Prices in two of five currencies: each amount has its own sign, and no other sign is there."""
    signs, amounts = draw.sample("$€£¥₹", 2), draw.sample((5, 6, 20, 35, 70, 150, 300, 450, 999), 2)
    source = draw.choice(TWO_PRICES).format(*(f"{sign}{amount}" for sign, amount in zip(signs, amounts, strict=True)))
    has = tuple(rf"(?<!\d){amount}\s{re.escape(sign)}(?!\w)" for sign, amount in zip(signs, amounts, strict=True))
    return Drawn(source, has, (r"  |\ufffd", rf"[{''.join(set('$€£¥₹').difference(signs))}]", rf"[{''.join(signs)}][^$€£¥₹]*" * 3))


def halves_of_days(draw: random.Random) -> Drawn:
    """Times of the 24-hour clock, which English writes as p.m., pm or PM, not as P.M."""
    hour, minute = draw.randrange(1, 24), draw.choice((0, 0, 15, 20, 30, 45))
    shown = f"{hour}" if minute == 0 and draw.random() < 0.7 else f"{hour}{draw.choice('.:')}{minute:02}"
    clock = rf"(?<![\d:])(?:0?{hour}|0?{(hour - 1) % 12 + 1})"
    in_digits = rf"{clock}(?::{minute:02})?(?![\d:])" if minute == 0 else f"{clock}:{minute:02}"
    return Drawn(
        draw.choice(TIMES_OF_24_HOURS).format(shown),
        (in_digits + ("|noon" if (hour, minute) == (12, 0) else ""), *([r"(?i:\d ?p\.?m\b)|(?:1[3-9]|2[0-3]):"] if hour > 12 else [])),
        (r"[AP]\.\s?M", r"[ap]\.?m\.\."),
    )


def spaces_in_tags(draw: random.Random) -> Drawn:
    """Tags in HTML with spaces inside them; beside line breaks, other spaces may have become one."""
    before, after = draw.choice((" ", "  ", "\n  ", "")), draw.choice((" ", "\n ", ""))
    source = draw.choice(SPACED_TAGS).format(before, after)
    names = re.findall(r"<(\w+)", source.replace("<i>old", ""))
    first, last = (r"\s+" if each and "\n" in before + after else each for each in (before, after))
    has = (rf"<{name}\b[^<>]*>{first}[^\s<][^<]*(?<=\S){last}</{name}>" for name in names)
    return Drawn(f"<p>{source}</p>\n", tuple(has))


def price_pairs(draw: random.Random) -> Drawn:
    """Two prices of the same currency."""
    sign = draw.choice("$€£")
    values = [draw.choice((f"{draw.randrange(2, 100)}", f"{draw.randrange(2, 100)}.{draw.randrange(10, 100)}")) for _ in range(2)]
    has = [
        rf"(?:{re.escape(sign)}\s?{_number(german)}|{_number(german)}\s?{re.escape(sign)})"
        for german in (each.replace(".", ",") for each in values)
    ]
    template = draw.choice(PRICE_PAIRS)
    if "save" in template:  # a range may have its sign once
        has = [rf"{_number(values[0].replace('.', ','))}(?:\s?{re.escape(sign)})? (?:bis|auf) ", has[1]]
    else:
        has.append(rf"^[^{sign}]*{re.escape(sign)}[^{sign}]*{re.escape(sign)}[^{sign}]*$")
    return Drawn(template.format(*(sign + each for each in values)), tuple(has))


def times(draw: random.Random) -> Drawn:
    """Times of the 12-hour clock."""
    template = draw.choice(TIMES)
    shown, has = [], []
    for _ in range(template.count("{}")):
        hour, minute, half = (
            draw.randrange(1, 13),
            draw.choice((0, 5, 10, 15, 20, 30, 40, 45, 50)),
            draw.choice(("AM", "PM", "a.m.", "p.m.", "am", "pm")),
        )
        whole = minute == 0 and draw.random() < 0.5
        shown.append(f"{hour} {half}" if whole else f"{hour}:{minute:02} {half}")
        clock = hour % 12 + 12 * half.lower().startswith("p")
        has.append(_clock(clock, minute))
    return Drawn(template.format(*shown).replace("..", "."), tuple(has))


def speech(draw: random.Random) -> Drawn:
    """Direct speech with the words that say who speaks, before or after it."""
    opening, closing = draw.choice(('""', '""', "\u201c\u201d"))
    if draw.random() < 0.25:
        source = f"{draw.choice(BEFORE_SPEECH)} {opening}{draw.choice(SENTENCES)}{closing}"
        return Drawn(source, (r"\w[^\u201e\u201c\"]*\u201e[^\u201e\u201c\"]*\w[^\u201e\u201c\"]*\u201c\.?$",))
    source = f"{opening}{draw.choice(SPEECH)}{closing} {draw.choice(SPEAKERS)} {draw.choice(SAID)}."
    return Drawn(source, (r"^\u201e[^\u201e\u201c\"]*\w[^\u201e\u201c\"]*\u201c[^\u201e\u201c\"]*\w[^\u201e\u201c\"]*$",))


BARE_TIMES = (
    "The office opens at {}.",
    "The shop closes at {}.",
    "The film starts at {}.",
    "We meet at {} in front of the school.",
    "My train leaves at {} on Friday.",
    "She came home at {}.",
    "The library is open from {} to {}.",
    "The bus leaves at {} and arrives at {}.",
    "Please be there before {}.",
    "The lesson lasts until {}.",
)
BARE_TIMES_OF_24_HOURS = (
    "Das Büro öffnet um {}.",
    "Der Film beginnt um {}.",
    "Wir treffen uns um {} vor der Schule.",
    "Der Zug fährt um {} ab.",
    "Sie kam um {} nach Hause.",
    "Das Spiel endet um {}.",
    "Das Geschäft ist von {} bis {} geöffnet.",
)
MILLIONS = (
    "The house costs {}.",
    "The company paid {} last year.",
    "He won {} in the lottery.",
    "The new bridge will cost {}.",
    "They lost {} in May.",
    "She gave {} to the school.",
    "The city needs {} for the new hospital.",
    "The film made {} in a week.",
)
MILLIONS_IN_GERMAN = (
    "Das Haus kostet {}.",
    "Die Firma hat letztes Jahr {} bezahlt.",
    "Er hat {} in der Lotterie gewonnen.",
    "Die neue Brücke wird {} kosten.",
    "Sie haben im Mai {} verloren.",
    "Die Stadt braucht {} für das neue Krankenhaus.",
)
_GERMAN_POWERS = {"million": ("Million", "Millionen", "Mio."), "billion": ("Milliarde", "Milliarden", "Mrd.")}


def bare_times(draw: random.Random) -> Drawn:
    """Times without a.m. or p.m., whose hour stays."""
    template = draw.choice(BARE_TIMES)
    shown, has = [], []
    for _ in range(template.count("{}")):
        hour, minute = draw.randrange(24), draw.choice((0, 0, 0, 5, 15, 30, 45, draw.randrange(60)))
        is_whole = minute == 0 and 1 <= hour <= 12 and "at {}." in template and draw.random() < 0.4
        is_british = not is_whole and "at {}." in template and hour and draw.random() < 0.2
        shown.append(f"{hour}" if is_whole else f"{hour}.{minute:02}" if is_british else f"{hour}:{minute:02}")
        has.append(_clock(hour, minute) + (rf"|\bum {hour}\.$" if is_whole else ""))
    return Drawn(template.format(*shown), tuple(has))


def bare_times_of_24_hours(draw: random.Random) -> Drawn:
    """Times without "Uhr", whose hour stays or has a.m. or p.m."""
    template = draw.choice(BARE_TIMES_OF_24_HOURS)
    shown, has = [], []
    for _ in range(template.count("{}")):
        hour, minute = draw.randrange(1, 24), draw.choice((0, 15, 30, 45, draw.randrange(60)))
        shown.append(f"{hour}{draw.choice('::.') if 'um {}' in template else ':'}{minute:02}")
        clock, later = rf"(?<![\d:])0?{(hour - 1) % 12 + 1}", hour >= 12
        minutes = rf"(?:[:.]{minute:02})" + "?" * (minute == 0)
        own = rf"(?<![\d:])0?{hour}[:.]{minute:02}(?!\d)(?! ?{'a' if later else 'p'}\.?m)"
        words = {(12, 0): "|noon"}.get((hour, minute), "")
        has.append(rf"(?i:{clock}{minutes} ?{'p' if later else 'a'}\.?m|{own}{words})")
    return Drawn(template.format(*shown), tuple(has))


def millions(draw: random.Random) -> Drawn:
    """Amounts of millions and billions of a currency."""
    value = draw.choice(("1", "1", "2", "3", "20", "150", "1.5", "2.5", "0.7", "12.4"))
    power = draw.choice(("million", "million", "billion"))
    sign, name, german = draw.choice((("$", "dollars", "Dollar"), ("€", "euros", "Euro"), ("£", "pounds", "Pfund")))
    form = draw.choice(("sign", "name", "short"))
    short = {"million": "m", "billion": "bn"}[power]
    shown = {"sign": f"{sign}{value} {power}", "name": f"{value} {power} {name}", "short": f"{sign}{value}{short}"}[form]
    one, many, abbreviation = _GERMAN_POWERS[power]
    words = f"(?:{one if value == '1' else many}|{re.escape(abbreviation)})"
    unit = german if form == "name" else rf"(?:{re.escape(sign)}|{german})"
    number = re.escape(value.replace(".", ","))
    return Drawn(draw.choice(MILLIONS).format(shown), (rf"(?:(?<![\d.,]){number}|\b[Ee]ine)\s{words}\s{unit}(?!\w)",))


def millions_in_german(draw: random.Random) -> Drawn:
    """Amounts of millions and milliards of a currency, in German."""
    value = draw.choice(("1", "1", "2", "3", "20", "150", "1,5", "2,5", "0,7", "12,4"))
    power = draw.choice(("million", "million", "billion"))
    sign, name, german = draw.choice((("$", "dollars?", "Dollar"), ("€", "euros?", "Euro"), ("£", "pounds?", "Pfund")))
    one, many, abbreviation = _GERMAN_POWERS[power]
    word = draw.choice((one if value == "1" else many, abbreviation))
    unit = draw.choice((german, sign))
    number = rf"(?<![\d.,]){re.escape(value.replace(',', '.'))}"
    has = rf"(?i:{re.escape(sign)}{number} {power}(?!\w)|(?:{number}|\b(?:one|a)) {power} {name}(?!\w))"
    return Drawn(draw.choice(MILLIONS_IN_GERMAN).format(f"{value} {word} {unit}"), (has,))


def _number(written: str) -> str:
    """A pattern of a number that is no part of another one."""
    return rf"(?<![\d.,]){re.escape(written)}(?![.,]?\d)"


def _clock(hour: int, minute: int) -> str:
    """A pattern of a time as German writes it."""
    hours = {hour, 24 if hour == 0 else hour}
    digits = "|".join(f"0?{each}" for each in sorted(hours))
    words = {0: "|Mitternacht", 12: "|Mittag|mittags"}.get(hour, "") if minute == 0 else ""
    return (
        rf"(?:(?<![\d:.])(?:{digits})[:.]{minute:02}(?!\d)"
        + (rf"|(?<![\d:.])(?:{digits})(?! ?Uhr \d)(?![:.]\d)(?: (?:bis|und) \d+)? Uhr" if minute == 0 else "")
        + f"{words})"
    )


NAMES = ("name", "user.name", "count", "total", "item_count", "file", "order.id", "first_name", "price", "city")
TAGS = (
    "{{{{ {} }}}}", "{{{}}}", "${{{}}}", "#{{{}}}", "<%= {} %>", "<%- {} %>", "%({})s", "<?php echo ${}; ?>", "{{{{{}|upper}}}}", "@{{{}}}",
)  # fmt: skip
PRINTF = ("%s", "%d", "%1$s", "{0}", "%@", "%i")
WITH_TAG = (
    "Hello {}, welcome back!",
    "Your order {} has been sent.",
    "{} has sent you a message.",
    "You have {} new messages.",
    "The file {} was not found.",
    "Click here to open {}.",
    "{} files were deleted.",
    "Page {} of {}",
    "We could not save {} because the disk is full.",
    "Please send {} to {} before Monday.",
    "{}: the connection is closed",
    "Welcome to {}!",
)
BLOCKS = (
    "{{% if {0} %}}You are an admin.{{% endif %}}",
    "<% if {0} %>You are an admin.<% end %>",
    "{{{{#if {0}}}}}Good morning!{{{{/if}}}}",
)
FORMULAS = (
    "${}$",
    "${}.5$",
    "$0.{}$",
    "$x = {}$",
    "$n + {}$",
    "$x^{}$",
    "$x_{}$",
    "$\\frac{{1}}{{{}}}$",
    "${}k$",
    "$\\alpha_{}$",
    "$$y = {}$$",
)
WITH_FORMULA = (
    "Let $n$ be {} or {}.",
    "The {} sets are equal.",
    "The answer is {}.",
    "The sum of {} and {} is not known.",
    "If the value of {} is too large, the program stops.",
    "We use {} for all tests.",
    "There are {} ways to do this.",
    "{} is the largest number.",
    "The function has the value {} at {}.",
)
ELEMENTS = ("b", "script", "em", "head", "br", "table", 'div class="a"', 'img src="a.png"', "p", "strong", 'input type="text"', "h1")
WITH_ELEMENT = (
    "Use {} for bold text.",
    "Type {} in the file.",
    "The tag {} begins a new line.",
    "Put the text between {} and {}.",
    "Every page has a {}.",
    "Do not forget to close {}.",
    "The browser shows {} as a button.",
    "{} and {} are not the same.",
    "What does {} mean?",
)
FOLDERS = ("Program Files", "Users", "My Games", "Temp", "New Folder", "My Documents", "Data", "backup", "src", "Windows", "Old Photos")
FILES = ("a.txt", "setup.exe", "report.docx", "main.py", "IMG 001.jpg", "read me.txt", "config.yaml", "Makefile.am", "index.html")
UNIX = ("usr", "share", "home", "anna", "var", "log", "etc", "My Files", "opt", "lib", "local", "tmp")
WITH_PATH = (
    "Open {} in the editor.",
    "The file is in {}.",
    "Copy {} to {}.",
    "You will find the program in {}.",
    "Please delete {} first.",
    "The log is written to {}.",
    "{} cannot be opened.",
    "Save your work as {}, and close the window.",
)
CODE = (
    "def {0}({1}):",
    "    if {1} is None:",
    "        return {0}",
    "    for {0} in {1}.items():",
    "        {0}.append({1})",
    "    {0} = {1}[{2}]",
    "    self.{0} = {1}",
    "    await {0}({1})",
    "    with open({0}) as {1}:",
    "    raise ValueError({0})",
    "    except Exception as {0}:",
    "    {0}, {1} = {1}, {2}",
    "    assert {0} == {2}",
    "    while {0} < {2}:",
    '    return f"{{{0}}} of {{{1}}}"',
    "from {0} import {1}",
    "    if not {0} in {1}:",
    "    print({0}, {1})",
    "    yield {0}.{1}",
    "    del {0}[{2}]",
)
IDENTIFIERS = (
    "names",
    "value",
    "user",
    "path",
    "item",
    "result",
    "send",
    "data",
    "index",
    "line",
    "request",
    "handler",
    "child",
    "is_open",
)
TITLES = (
    ("The", "The", "My", "Our"),
    ("Meaning", "Art", "Joy", "Importance", "History", "Future", "End", "Secret", "Lives", "Book", "Power", "Price"),
    ("of", "of", "in", "and", "for"),
    (
        "Life",
        "Reading",
        "Cooking",
        "Learning",
        "Others",
        "Modern Cities",
        "Old Friends",
        "Small Things",
        "the West",
        "the Sea",
        "Being Young",
    ),
)
HOW_TO = (
    ("How to Use", "How to Read", "How to Build", "Learning to Love", "A Guide to", "An Introduction to"),
    ("This Guide", "a Map", "Your House", "Your Work", "Modern Music", "Better Sleep", "Old Tools", "the Garden", "Good Bread"),
)
SHOUTED = (
    "HOW ARE {0}?",
    "WHERE ARE {0}?",
    "{1} OUT!",
    "THE {2} IS RED",
    "DID {0} SEE THE {2}?",
    "{0} ARE SO BAD!",
    "CAN {0} GO?",
    "THE {2} IS NOT HERE",
    "WHO HAS THE {2}?",
    "{1} UP NOW!",
    "I DO NOT LIKE THE {2}!",
    "WE SAW THE {2} AND RAN",
    "{0} ARE ALL OUT OF TIME!",
    "THIS IS MY {2}!",
    "WHY DO {0} NEED A {2}?",
    "IS IT A {2}?",
)
SHOUTED_WORDS = (("YOU", "WE", "THEY"), ("GET", "COME", "GO"), ("DOG", "CAR", "BOY", "MAN", "KEY", "CAT", "BOOK", "HOUSE", "BUS", "GUN"))
SHARED = frozenset(["in", "so", "was", "am", "all", "hat", "an", "die", "man", "bus", "name", "ball", "rot", "gold"])
"""Words of English and German."""
TRADE = """
    kubectl nginx postgres redis ansible terraform conda oauth macos vlan wlan vlogger dmenu magit systemd webpack pytest numpy pandas
    mypy eslint fastapi grafana kafka kibana jenkins mongodb sqlite rsync tmux zsh vim emacs neovim ffmpeg imagemagick ebpf grpc graphql
    kustomize helm minikube podman buildah cron crontab dockerfile makefile cmake gcc llvm valgrind gdb lldb strace perf btrfs zfs ext lvm
    iptables nftables wireguard openvpn haproxy memcached celery gunicorn uvicorn starlette pydantic sqlalchemy alembic keras pytorch
    ipython jupyter matplotlib scipy regex stdin stdout stderr argv localhost middleware serverless dataset codec bitrate timestamp
    frontend backend namespace hostname dropdown tooltip changelog repo monorepo refactoring linter tokenizer boolean enum struct mutex
    semver yaml toml json protobuf webhook favicon captcha sudo chmod grep awk sed xargs curl wget
"""
WITH_TRADE = (
    "The new {} version is out.",
    "We moved everything to {} last week.",
    "I cannot start {} on my laptop.",
    "Is {} better than {}?",
    "She wrote a book about {} and {}.",
    "Your {} is too old for this.",
    "First install {}, then restart the computer.",
    "They do not support {} any more.",
)

STATEMENTS = (
    "I like this house, but it is too small.",
    "The train was late again.",
    "She bought bread, milk and cheese.",
    "We went home after the film.",
    "It was cold, so we stayed inside.",
    "They have two dogs and a cat.",
    "My brother works in a bank.",
    "This book is very good!",
    "There is a lake behind the house.",
    "He wants to learn how to swim.",
    "Why did you leave so early?",
    "You can see the sea from here.",
    "In summer, we sleep in a tent.",
    "If you have time, please call me.",
    "What do you want to eat?",
    "The children are playing in the garden.",
    "When I was young, I lived in Rome.",
    "That is all I know!",
)
JOINTS = ("{} ", "{} ", " {} ", " {}", "{}", " {} ")
"""What may be between two sentences, the mark included."""
WITH_STOPS = (
    "We use {file} and {file} every day.",
    "The {file} file is in this folder.",
    "Please call {method} before you begin.",
    "The line is .{digit} mm wide.",
    "It grew by {digit} .{digit} percent.",
    "{cell}   {cell}   {cell}",
    "{cell}  {cell}  {cell}",
    "I waited and waited ... and nobody came.",
    "Some fruit, {short}These are good.",
    "The town is in the {land} and has a river.",
    "It costs $.{digit}0 at the shop.",
)
SPACED = {
    "file": (".gitignore", ".env", ".bashrc", ".Net", "Node.js", ".vimrc", "setup.Py", ".htaccess"),
    "method": ("object.Method", "Console.Write", "System.Out", "user.Name", "math.Abs", "os.Exit", "list.Add", "event.Stop"),
    "digit": "123456789",
    "cell": ("Apples", "Name", "Red pears", "12 kg", "Price", "Berlin", "Old books", "Sum"),
    "short": ("e.g.", "i.e.", "etc."),
    "land": ("U.S.", "U.K.", "E.U."),
}

POOL = {
    "Home": "Startseite",
    "Hours": "(Öffnungsz|Stund).*",
    "Done": "Fertig|Erledigt",
    "Total": "Gesamt.*|Summe",
    "About": "Über.*",
    "Free": "Kostenlos|Frei|Gratis",
    "Submit": "Absenden|Senden|Abschicken|Einreichen",
    "Week": "Woche",
    "Month": "Monat",
    "May": "Mai",
    "Drink": "Getränk|Trinken",
    "Supper": "Abendessen|Abendbrot",
    "Low": "Niedrig|Gering",
    "Add to cart": "(In den|Zum) Warenkorb.*",
    "Yes": "Ja",
    "Thanks": "Danke",
    "Price": "Preis",
    "Sign in": "Anmelden|Einloggen",
    "Log Out": "Abmelden|Ausloggen",
    "My profile": "Mein Profil",
    "Change photo": "(Foto|Bild) ändern",
    "Notifications": "Benachrichtigungen|Mitteilungen",
    "Sound effects": "Soundeffekte|Klangeffekte|Toneffekte",
    "Difficulty": "Schwierigkeit.*",
    "New game": "Neues Spiel",
    "Load game": "Spiel laden",
    "Quit game": "Spiel (beenden|verlassen)",
    "Compose": "Verfassen|Schreiben",
    "Reply all": "Allen antworten",
    "Forward": "Weiterleiten|Vorwärts|Weiter",
    "Inbox": "Posteingang",
    "Subject": "Betreff|Thema",
    "Attach file": "Datei (anhängen|anfügen)",
    "Bookmarks": "Lesezeichen",
    "History": "Verlauf|Chronik|Geschichte",
    "New tab": "Neuer Tab|Neues Unterfenster",
    "Transfer": "Überweis.*|Übertrag.*",
    "Balance": "Saldo|Kontostand|Guthaben",
    "Account number": "Kontonummer",
    "Withdraw": "Abheben|Auszahlen|Zurückziehen",
    "First name": "Vorname",
    "Postcode": "Postleitzahl|PLZ",
    "Date of Birth": "Geburtsdatum",
    "Required": "Erforderlich|Pflicht.*|Benötigt",
    "Departure date": "(Abreise|Abflug|Abfahrt).*",
    "Rooms": "Zimmer|Räume",
    "Breakfast included": "(Mit )?Frühstück (inklusive|inbegriffen|enthalten)|Inklusive Frühstück",
    "Sunday": "Sonntag",
    "Closed": "Geschlossen",
    "Open": "Öffnen|Offen|Geöffnet",
    "Sold Out": "Ausverkauft",
    "Size": "Größe",
    "Colour": "Farbe",
    "Quantity": "Menge|Anzahl",
    "Description": "Beschreibung",
    "Details": "Details|Einzelheiten",
    "Specifications": "Spezifikationen|Technische Daten",
    "Reviews": "Bewertungen|Rezensionen",
    "Print": "Drucken",
    "Font": "Schrift.*",
    "Bold": "Fett",
    "Table": "Tabelle|Tisch",
    "Insert": "Einfügen",
    "Undo": "Rückgängig.*",
    "Properties": "Eigenschaften",
    "Full Screen": "Vollbild.*",
    "Language": "Sprache",
    "Help": "Hilfe",
    "Chicken soup": "Hühnersuppe",
    "Red wine": "Rotwein|Roter Wein",
    "Strawberry": "Erdbeere",
    "Wednesday": "Mittwoch",
    "Kitchen": "Küche",
    "France": "Frankreich",
    "Green": "Grün",
    "Twelve": "Zwölf",
    "Warning": "Warnung|Achtung",
    "Try again": "(Versuchen Sie es )?(Erneut|Noch einmal|noch einmal|erneut)( versuchen)?",
    "Not found": "Nicht gefunden",
    "Please wait": "Bitte warten.*",
    "Version": "Version",
    "Username": "Benutzername",
    "Latest news": "(Aktuelle|Neueste|Neuste|Letzte) (Nachrichten|Neuigkeiten|Meldungen)|Aktuelles",
    "Read more": "(Weiter|Mehr) ?lesen",
    "Opening hours": "Öffnungszeiten",
    "Lost password": "Passwort (vergessen|verloren)|Verlorenes Passwort",
    "Screenshots": "Bildschirmfotos|Screenshots",
    "Upload": "Hochladen",
    "Expiry date": "Ablaufdatum|Verfallsdatum",
    "Card number": "Kartennummer",
}
"""Labels as they stand in menus, forms and tables, and patterns of translations that a reader accepts."""
FRAMES = ("{}", "{}", "{}", "# {}", "* {}", "| {} | 12 |", "{}:", "<b>{}</b>", "1. {}", "{}\t{}")
DECORATED = (
    "**{}**", "*{}*", "[{}]", "({})", "<b>{}</b>", "**{}**:", "**{}:**", "{} →", "→ {}", "\U0001f389 {}", "{} »", "< {}", "~~{}~~", "{} *",
    "- **{}**",
)  # fmt: skip


def templates(draw: random.Random) -> Drawn:
    """Tags of template languages and arguments of messages."""
    if draw.random() < 0.15:
        source = draw.choice(BLOCKS).format(draw.choice(NAMES))
        return Drawn(source, keeps=tuple(re.findall(r"\{%.*?%\}|<%.*?%>|\{\{.*?\}\}", source)), has=(r"Sie sind|Du bist|Guten Morgen",))
    template = draw.choice(WITH_TAG)
    tags = [
        draw.choice(PRINTF) if draw.random() < 0.25 else draw.choice(TAGS).format(name) for name in draw.sample(NAMES, template.count("{}"))
    ]
    return Drawn(template.format(*tags), keeps=tuple(tags))


def formulas(draw: random.Random) -> Drawn:
    """Formulas in Markdown, many of which have numbers only."""
    template = draw.choice(WITH_FORMULA)
    shown = [draw.choice(FORMULAS).format(draw.randrange(2, 99)) for _ in range(template.count("{}"))]
    return Drawn(template.format(*shown), keeps=tuple(shown))


def entities(draw: random.Random) -> Drawn:
    """Tags that HTML shows as text."""
    template = draw.choice(WITH_ELEMENT)
    shown = [html.escape(f"<{draw.choice(('', '', '/'))}{name}>", quote=False) for name in draw.sample(ELEMENTS, template.count("{}"))]
    return Drawn(f"<p>{template.format(*shown)}</p>\n", keeps=tuple(shown))


def paths(draw: random.Random) -> Drawn:
    """Paths of Windows and Unix, also with spaces."""
    template = draw.choice(WITH_PATH)
    shown = []
    for _ in range(template.count("{}")):
        name = draw.choice(FILES)
        if draw.random() < 0.6:
            shown.append("\\".join([draw.choice(("C:", "D:", "C:")), *draw.sample(FOLDERS, draw.randrange(1, 4)), name]))
        else:
            folders = draw.sample(UNIX, draw.randrange(1, 4))
            shown.append("/".join([draw.choice(("", "", "~")), *folders, name.replace(" ", "_")]))
    return Drawn(template.format(*shown), keeps=tuple(shown))


def code(draw: random.Random) -> Drawn:
    """Adjacent lines of a program."""
    lines = [draw.choice(CODE).format(*draw.sample(IDENTIFIERS, 2), draw.randrange(0, 99)) for _ in range(draw.randrange(3, 7))]
    source = "\n".join(["import os", *lines])
    return Drawn(source, has=(f"^{re.escape(source)}$",))


def titles(draw: random.Random) -> Drawn:
    """Titles, whose words have capitals."""
    source = " ".join(draw.choice(words) for words in draw.choice((TITLES, TITLES, HOW_TO)))
    return Drawn(source, has=(f"^{re.escape(source)}$",))


def shouted(draw: random.Random) -> Drawn:
    """Short sentences in capitals."""
    source = draw.choice(SHOUTED).format(*map(draw.choice, SHOUTED_WORDS))
    left = [word for word in re.findall(r"[A-Z]+", source) if is_function_word(word, "en") and word.lower() not in SHARED]
    return Drawn(source, has=(r"^[^a-z\u00e4\u00f6\u00fc]*\w\w[^a-z\u00e4\u00f6\u00fc]*$",), lacks=tuple(rf"\b{word}\b" for word in left))


def spaces(draw: random.Random) -> Drawn:
    """Sentences with spaces before their marks, none after them, or two between words."""
    sentences = draw.sample(STATEMENTS, 3)
    expected = source = " ".join(sentences)
    while source == expected:
        joined = [draw.choice(JOINTS).format(each[-1]) for each in sentences[:2]]
        source = "".join([*(each[:-1] + joint for each, joint in zip(sentences, joined, strict=False)), sentences[2]])
        source = source[:-1] + draw.choice(("", "", " ")) + source[-1]
        if draw.random() < 0.4:
            source = source.replace(", ", draw.choice((" , ", " ,", ",  ")))
        if draw.random() < 0.4:
            word = draw.choice([found.end() for found in re.finditer(r"[a-z](?= [a-z])", source)])
            source = f"{source[:word]} {source[word:]}"
    return Drawn(source, has=(f"^{re.escape(expected)}$",))


def spaces_that_stay(draw: random.Random) -> Drawn:
    """Numbers, names and abbreviations with stops, and rows of tables, whose spaces are no mistakes."""
    source = draw.choice(WITH_STOPS)
    while "{" in source:
        name = source[source.index("{") + 1 : source.index("}")]
        source = source.replace(f"{{{name}}}", draw.choice(SPACED[name]), 1)
    with_other_words = re.sub(r"(?:\\?')?[A-Za-z]+(?:\\?'s)?", r"[\\w']+(?: \\w+)?", re.escape(source))
    return Drawn(source, has=(f"^{with_other_words}$",))


def words_of_the_trade(draw: random.Random) -> Drawn:
    """Names and words of people who work with computers, in sentences without a mistake."""
    template = draw.choice(WITH_TRADE)
    words = draw.sample(TRADE.split(), template.count("{}"))
    return Drawn(template.format(*words), keeps=tuple(words))


def labels(draw: random.Random) -> Drawn:
    """Words of interfaces, which stand alone."""
    label, frame = draw.choice(sorted(POOL)), draw.choice(FRAMES)
    pattern = re.escape(frame).replace(r"\{\}", f"(?:{POOL[label]})")
    return Drawn(frame.replace("{}", label), has=(f"^{pattern}$",))


def decorated_labels(draw: random.Random) -> Drawn:
    """Words of interfaces in marks, or beside signs."""
    label, frame = draw.choice(sorted(POOL)), draw.choice(DECORATED)
    pattern = re.escape(frame).replace(r"\{\}", f"(?:{POOL[label]})")
    return Drawn(frame.replace("{}", label), has=(f"^{pattern}$",))


EXCLAIMED = (
    "I can't believe it",
    "We won the game",
    "That is so cool",
    "Where are you",
    "Are you serious",
    "Come here",
    "Thank you so much",
    "Help me",
    "Why did you do that",
    "It's already Monday",
    "I love this song",
    "Don't do that",
    "Look at this",
    "The train is late again",
)
RUNS = ("!!", "!!!", "??", "???", "?!", "!?", "!!!!", "!!!!!!!", "?!?!")
CHATTED = (
    "We won the game",
    "That is so cool",
    "Thank you so much",
    "I love you",
    "I am tired",
    "See you tomorrow",
    "I miss you",
    "It was a great day",
    "I have to work tomorrow",
    "The cat is sleeping",
    "You are the best",
    "Good night",
    "We are late again",
    "I don't know",
    "My phone is broken",
)
FACES = (":)", ":-)", ";)", ":(", ":'(", ":D", "<3", ":P", "^^", "xD", ":))", "=)", "-_-", ":/", "</3")


REFERENCES = (
    "Thank you for your order {}.",
    "Please pay the invoice {} today.",
    "See {} on page 3.",
    "Room {} is free.",
    "Your ticket has the {}.",
    "Bus {} goes to the station.",
    "We found an error in report {}.",
    "Question {} was too difficult.",
    "Our account {} is empty.",
    "I lost contract {}.",
)
REFERENCES_IN_GERMAN = (
    "Vielen Dank für Ihre Bestellung {}.",
    "Bitte zahlen Sie heute die Rechnung {}.",
    "Siehe {} auf Seite 3.",
    "Zimmer {} ist frei.",
    "Meine Karte hat die {}.",
    "Der Bus {} fährt zum Bahnhof.",
    "Frage {} war zu schwer.",
    "Ich habe den Vertrag {} verloren.",
)


def references(draw: random.Random) -> Drawn:
    """Things with a number after "no."."""
    number = draw.choice(("", "", "A-", "RX-", "INV-")) + str(draw.randrange(1, 99_999))
    source = draw.choice(REFERENCES).format(f"{draw.choice(('no.', 'No.'))} {number}")
    return Drawn(source, has=(rf"(?<![\w-]){re.escape(number)}(?!\d)",), lacks=(r"(?i)\bn(?:o|ein|icht|ie)\b",))


def references_in_german(draw: random.Random) -> Drawn:
    """Things with a number after "Nr."."""
    number = draw.choice(("", "", "A-", "RX-")) + str(draw.randrange(1, 99_999))
    source = draw.choice(REFERENCES_IN_GERMAN).format(f"Nr. {number}")
    return Drawn(source, has=(rf"(?<![\w-]){re.escape(number)}(?!\d)",), lacks=(r"\bNr\b",))


def exclamations(draw: random.Random) -> Drawn:
    """Sentences with several final marks."""
    runs = [draw.choice(RUNS) for _ in range(draw.choice((1, 1, 2)))]
    source = " ".join(sentence + run for sentence, run in zip(draw.sample(EXCLAIMED, len(runs)), runs, strict=True))
    pattern = "[^!?]+".join(map(re.escape, runs))
    return Drawn(source + draw.choice(("", "", " \U0001f600")), has=(rf"^[^!?]+{pattern}(?: \U0001f600)?$",))


def faces(draw: random.Random) -> Drawn:
    """Sentences of a chat with emoticons."""
    first, second = draw.sample(CHATTED, 2)
    face = draw.choice(FACES)
    form = draw.choice(("{0} {1}", "{0}! {1}", "{0}. {1}", "{1} {0}", "{0} {1} {2}", "{0}. {1} {2}.", "{0} {1} and {2}."))
    return Drawn(form.format(first, face, second), has=(rf"(?:^|\s){re.escape(face)}(?=$|[\s,.])",), keeps=(face,))


SUFFIXED = ("#", "{n}", "%1", "%d", "{0}", "%s", "{{ count }}", "${n}")
ORDINALS = ("{} visit", "the {} visit", "This is your {} visit.", "the {} floor", "You are the {} visitor.", "Your {} order is free.")


def ordinals(draw: random.Random) -> Drawn:
    """Ordinals of placeholders."""
    name = draw.choice(SUFFIXED)
    return Drawn(draw.choice(ORDINALS).format(name + draw.choice(("th", "st", "nd", "rd"))), (rf"{re.escape(name)}\. [A-Z]",), (r"\bth\b",))


ABBREVIATIONS = (
    *(
        "IEEE",
        "NATO",
        "NASA",
        "HTTP",
        "USB",
        "DNS",
        "SQL",
        "PDF",
        "LED",
        "UNESCO",
        "FIFA",
        "OECD",
        "IMF",
        "FBI",
        "IBM",
        "BMW",
        "GPS",
        "XML",
    ),
    *("iPhone", "macOS", "GitHub", "YouTube", "LaTeX", "JavaScript", "MySQL", "WhatsApp", "user_id", "getName()", "H264", "Wi-Fi", "USB-C"),
)
UNITS = ("kWh", "mAh", "GHz", "Mbps", "km/h", "dB", "kPa", "mL", "ppm", "rpm", "hPa", "kB")
WITH_ABBREVIATION = (
    "The {} standard is used by many companies.",
    "They talked about {} and its history.",
    "She work for {} in London.",
    "The {} report were published on May.",
    "He explained how does {} work.",
    "For example the {} give many informations.",
)
WITH_UNIT = ("It have about 20 {} of power.", "The device needs 5 {} at most.", "The value were 300 {} in test.")


def abbreviations(draw: random.Random) -> Drawn:
    """Sentences, right and wrong ones, with abbreviations, names of products, identifiers and units."""
    token, frame = draw.choice([(draw.choice(ABBREVIATIONS), draw.choice(WITH_ABBREVIATION)), (draw.choice(UNITS), draw.choice(WITH_UNIT))])
    return Drawn(frame.format(token), keeps=(token,))


RANGES = (
    "Wait for {} minutes.",
    "The years {} were hard.",
    "See pages {} of the book.",
    "The trip takes {} days.",
    "She lived here from {}.",
)
"""Sentences with a range of numbers."""


def ranges(draw: random.Random) -> Drawn:
    first = draw.choice((draw.randrange(2, 90), draw.randrange(1700, 1990)))
    written = f"{first}\u2013{first + draw.randrange(1, 30)}"
    return Drawn(draw.choice(RANGES).format(written), keeps=(written,))


def accounts(draw: random.Random) -> Drawn:
    """Sentences with an IBAN."""
    groups = " ".join(f"{draw.randrange(10_000):04}" for _ in range(draw.choice((3, 4, 5))))
    iban = f"{draw.choice(('DE', 'AT', 'CH', 'FR'))}{draw.randrange(10, 100)} {groups}{draw.choice(('', ' 00'))}"
    sentence = draw.choice(("Bitte zahlen Sie auf das Konto {}.", "Unsere IBAN ist {}.", "Meine Kontonummer lautet {}."))
    return Drawn(sentence.format(iban), keeps=(iban,))


def hours_of_opening(draw: random.Random) -> Drawn:
    first, last = draw.randrange(6, 12), draw.randrange(13, 23)
    sentences = ("Ge\u00f6ffnet von {}\u2013{} Uhr.", "Ge\u00f6ffnet {}-{} Uhr", "Von {} bis {} Uhr sind wir da.")
    afternoon = rf"\b{last - 12}(?::00)? ?[pP]\.?[mM]"
    return Drawn(draw.choice(sentences).format(first, last), has=(rf"\b{first}\b", afternoon), lacks=(rf"\b{last}\b",))


def prices_without_cents(draw: random.Random) -> Drawn:
    value = draw.randrange(2, 950)
    sentence = draw.choice(("Das kostet {},- Euro.", "Preis: {},- \u20ac", "Der Eintritt kostet {},\u2013 \u20ac.", "Nur {},-- \u20ac!"))
    return Drawn(sentence.format(value), has=(rf"\b{value}\b",), lacks=(rf"{value}[.,](?:[ -]|$)(?!$)", ", \u20ac"))


def contracted_speech(draw: random.Random) -> Drawn:
    """Speech in single quotation marks, with an apostrophe in it."""
    speech = draw.choice(("I don't know", "It's late", "We can't go", "I'm tired", "Don't worry", "You're right"))
    speaker = draw.choice(("he said", "she answered", "Tom said", "asked Mary", "my father said", "I replied", "they all said"))
    return Drawn(f"'{speech},' {speaker}" + draw.choice((".", " again.")), has=("\u201c, ",), lacks=(",\u201c",))


def unfinished(draw: random.Random) -> Drawn:
    """Sentences that end with an ellipsis."""
    speech = draw.choice(("I don't know", "Maybe", "If only I knew", "Let me see", "And then he left", "We could try it", "I think so"))
    begin = draw.choice(("", "Well, ", "Yes, ", "No, ", "Oh, ", "Perhaps "))
    text = f"{begin}{speech[0].lower() + speech[1:] if begin and speech[0] != 'I' else speech}"
    return Drawn(text + draw.choice(("\u2026", "...", " \u2026")), has=(r"(?:\u2026|\.\.\.)$",), lacks=(r"\.{4,}",))


GERMAN_NAMES = (
    "\u00d6zil",
    "Sch\u00e4uble",
    "Gro\u00dfkopf",
    "K\u00f6hler",
    "J\u00e4ger",
    "B\u00e4cker",
    "Wei\u00df",
    "L\u00f6we",
    "Fr\u00f6hlich",
    "Schmidt",
)
TITLED = ("Herr {} ist {}.", "Frau {} war gestern {}.", "Dr. {} ist heute {}.", "Warum ist Herr {} {}?", "Ich glaube, Frau {} ist {}.")
FOREIGN_NAMES = (
    "S\u00e3o Paulo",
    "\u00c1ngel D\u00edaz",
    "\u0141ukasz \u017bak",
    "Zo\u00eb Kravitz",
    "C\u00f4te Sauvage",
    "Mr. \u00d8ster",
    "Mr. Nguy\u1ec5n",
)
WITH_NAME = ("We met {} in {}.", "{} is in {}.", "I saw {} in {}.", "They talked about {} in {}.")


def names_behind_titles(draw: random.Random) -> Drawn:
    name, state = draw.choice(GERMAN_NAMES), draw.choice(("krank", "hier", "da", "zu Hause", "in Berlin"))
    return Drawn(draw.choice(TITLED).format(name, state), keeps=(name,))


def foreign_names(draw: random.Random) -> Drawn:
    name, place = draw.choice(FOREIGN_NAMES), draw.choice(("Berlin", "May", "London", "the morning", "Paris"))
    return Drawn(draw.choice(WITH_NAME).format(name, place), keeps=(name.removeprefix("Mr. "),))


def escaped(draw: random.Random) -> Drawn:
    """Lines of string literals, with escaped quotation marks and line breaks."""
    first = draw.choice(
        ("It\\'s late.", "You can\\'t do that.", "Don\\'t worry.", "We couldn\\'t find it.", "I haven\\'t seen it.", "She isn\\'t here.")
    )
    second = draw.choice(("Please try again.", "Are you sure?", 'Click \\"OK\\".', 'The file \\"%s\\" is new.', "That\\'s all."))
    break_ = draw.choice(("\\n", "\\n\\n"))
    lacks = (r"(?<!\\)['\"]", r"n\\'t", r"\\\\")
    return Drawn(first + break_ + second, has=(rf"[.!?]{re.escape(break_)}[^\W\d_]",), lacks=lacks)


KINDS = (
    Kind(thousands, 97),
    Kind(decimals, 97),
    Kind(prices, 97),
    Kind(price_pairs, 97),
    Kind(sides_of_signs, 97),
    Kind(two_currencies, 97),
    Kind(times, 97),
    Kind(halves_of_days, 97, bundle="de-en"),
    Kind(bare_times, 97),
    Kind(bare_times_of_24_hours, 97, bundle="de-en"),
    Kind(millions, 95),
    Kind(millions_in_german, 90, bundle="de-en"),
    Kind(speech, 97),
    Kind(contracted_speech, 97),
    Kind(unfinished, 97),
    Kind(names_behind_titles, 97, bundle="de-en"),
    Kind(foreign_names, 97),
    Kind(escaped, 97),
    Kind(ranges, 97),
    Kind(accounts, 100, bundle="de-en"),
    Kind(hours_of_opening, 97, bundle="de-en"),
    Kind(prices_without_cents, 97, bundle="de-en"),
    Kind(templates, 100),
    Kind(formulas, 100, format="md"),
    Kind(entities, 100, format="html"),
    Kind(spaces_in_tags, 97, format="html"),
    Kind(paths, 100),
    Kind(code, 100),
    Kind(code, 100, "correct"),
    Kind(titles, 100, "correct"),
    Kind(shouted, 90),
    Kind(references, 97),
    Kind(references_in_german, 97, bundle="de-en"),
    Kind(exclamations, 97),
    Kind(faces, 97),
    Kind(faces, 97, "correct"),
    Kind(labels, 85),
    Kind(decorated_labels, 85),
    Kind(ordinals, 97),
    Kind(words_of_the_trade, 98, "correct"),
    Kind(abbreviations, 100, "correct"),
    Kind(spaces, 90, "correct"),
    Kind(spaces_that_stay, 97, "correct"),
)


def outputs(kind: Kind, texts: Sequence[str], cache: pytest.Cache) -> list[str]:
    """What the shipped bundle of the kind's task makes of texts of one or more lines, or of documents."""
    decode: Callable[..., Iterator[Translation | Correction]]
    if kind.task == "translate":
        bundle, engine = opened(kind.bundle, cache)
        source, target = kind.bundle.split("-")
        translator = LineTranslator(engine, bundle.tokenizer, languages=(source, target))
        translator.use_labels(bundle.labels)
        decode = translator.translate
    else:
        bundle, engine = opened("en-gec", cache, with_scores=True, mode="balanced")
        passing = EditFilter.of(bundle.info)
        corrector = LineCorrector(engine, bundle.tokenizer, passing, languages=("en", "en"), ngrams=bundle.ngrams, lexicon=bundle.lexicon)
        decode = corrector.correct
    if kind.format:
        documents = [read_document(Source(text.encode(), f"a.{kind.format}"), kind.format) for text in texts]
        segments = [segment.text for document in documents for segment in document.segments]
        found = iter([each.text for each in decode(segments, separate=True)])
        return [document.translated([next(found) for _ in document.segments]).decode() for document in documents]
    lines = [line for text in texts for line in [*text.split("\n"), ""]]
    found = iter([each.text for each in decode(lines)])
    return ["\n".join([next(found) for _ in range(text.count("\n") + 2)][:-1]) for text in texts]


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.draw.__name__}-{kind.task}")
@pytest.mark.parametrize("seed", [21, 22])
def test_drawn_texts_come_out_as_a_reader_expects(kind: Kind, seed: int, pytestconfig: pytest.Config) -> None:
    texts = list(drawn(kind, seed))
    found = outputs(kind, [each.source for each in texts], pytestconfig.cache)
    faults = [(each.source, output) for each, output in zip(texts, found, strict=True) if wrong(each, output)]
    print(f"\n{kind.draw.__name__:20}{kind.task:10} seed {seed}: {len(texts) - len(faults)} of {len(texts)}")
    assert 100 * len(faults) <= (100 - kind.share) * len(texts), faults
