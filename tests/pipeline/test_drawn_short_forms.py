"""Abbreviations with a full stop, those of chats, and names of dishes and the like, drawn into right lines, stay as they are."""

import random
import re

import pytest

from specdec_cli.pipeline.corrector import LineCorrector
from specdec_cli.text.edits import Edit
from specdec_cli.text.spelling.kept_words import changes_chat, changes_shortened
from tests.stored_engine import opened

DRAWN = 60
STOPPED = """The {dept.|govt.|mgmt.|univ.|assoc.|comm.} {moved to a new building|has not replied yet|will meet in the main hall}.
    It takes approx. {ten minutes|two hours|half a day} {to get there|by train|if the road is free}.
    {Prof.|Dr.|Sen.|Rep.|Gov.|Capt.|Sgt.|Col.|Gen.|Rev.|Hon.|Lt.} {Miller|Brown|Clark} {will speak at the meeting|wrote the report}.
    The case of {Smith vs. Jones|cats vs. dogs|us vs. them|Roe vs. Wade} is {well known|in the book|still open}.
    Bring {pens, paper, etc. to the lesson|a towel, water, etc. and be on time}.
    Some animals, e.g. {cats and dogs|horses|small birds}, {sleep a lot|can learn tricks}.
    He lives at {No. 5|no. 12|No. 221}, {Park Ave.|Main St.|Mill Rd.|Sunset Blvd.} {near the station|on the left}.
    As shown in {Fig. 3|fig. 2|Tab. 4|Sec. 2|Ch. 7|Vol. 3|vol. 12|pp. 10-12|p. 45}, {the values rise|the result is clear|it does not work}.
    {Acme Inc.|Baker Bros.|Hill & Co.|Stone Ltd.|Global Corp.} {has opened a shop|sells tools|is hiring again}.
    The {max.|min.|avg.|approx.|est.} {speed|weight|price|value} is {given in the table|shown here}.
    The price {incl. tax|excl. tax|incl. breakfast|excl. shipping} is {20 euros|quite low}.
    The {misc.|temp.|orig.|std.|alt.} {file|version|name|setting} {was deleted|is below}.
    Please call {ext. 12|ext. 407|tel. 555 0199} {after lunch|before noon}.
    The town, est. {1820|1905|1754}, {has a small church|is near the sea}.
    It was built {ca. 1900|c. 1850|in Jan. 2020|on Sept. 3|on Feb. 14|in Aug. 1999} and {sold later|repaired twice}.
    {The apt.|The bldg.|Our acct.|The dist.|The org.|The div.|The cmte.} {is on the list|was closed|needs a new key}.
    Smith et al. {found the same|say that it works|used a new method}.
    {John Hill Jr.|Martin King Sr.} {was born here|wrote the song}.
    The lake is {5 ft. deep|3 in. wide|12 ft. long} {in most places|at the end}.
    He worked {for 3 hrs. without a break|for 20 mins. and left|6 yrs. in Spain}.
    The terms, esp. {the first|the last one}, {are not clear|must be changed}.
    {See|Cf.|See also} {Ch. 4|chap. 2|sect. 5|par. 3|art. 7|App. B} for {details|the whole list}.
    The {U.S.|U.K.|U.N.} {has agreed|army left|report is long}.
    We meet at {8 a.m. in the hall|5 p.m. at the gate|9 a.m. on Monday}.
    The {asst.|dep.|exec.|adj.|sr.|jr.} {manager|director|editor} {is away|signed it}.""".splitlines()
CHAT = """{omg|lol|wow lol|haha|rofl} that was {close|fun|so good|weird|quick}
    {omg|lol|tbh|imo|imho} {this is great|I love it|it was fine|that is so true|he is right}
    {brb|gtg|ttyl|afk} {dinner|phone|in 5 minutes|my mom is calling}
    {thx|ty|thx again|tysm} for {the help|everything|the link|your time}
    {pls|plz} {call me|send it again|help me with this|tell me more}
    that is {fine|ok|great|not good} {imo|tbh|imho|lol|ngl}
    {idk|idc|tbh idk} what {to say|he means|that is|happened}
    {btw|fyi|afaik|iirc} {the shop is closed|she left already|it is free|he works there}
    {np|yw|ok np|k thx}, {see you tomorrow|any time|no worries}
    {nvm|nm|jk}, {I found it|it works now|just kidding|all good}
    {lmao|lol|omfg|smh} {he did it again|what was that|not again}
    {how are u|where are u|r u there|are u ok|love u|see u later|what are u doing}
    {is this ur car|what is ur name|ur welcome|ur the best|call ur mom}
    {wtf|omg} {happened here|is going on|did he say}
    {gr8|l8r|b4|2day|2nite} {idea|then|we go|is the day}
    {cuz|bc|coz} {I was tired|it was late|he asked}
    {yeah|yep|nah|nope|yup|meh} {lol|tbh|imo|thx}
    {hmu|dm me|lmk} {when you are free|if you need help|later}
    {gonna|wanna|gotta} {go now lol|eat first tbh|sleep thx}
    {gg|wp|glhf|gg wp} {everyone|guys|all}""".splitlines()


DISHES = """{Fish and chips|Bacon and eggs|Macaroni and cheese|Bread and butter} is {my favourite dish|on the table|not healthy}.
    {Rice and beans|Gin and tonic} has {a good taste|no taste}.
    {Ham and eggs|Spaghetti and meatballs|Bangers and mash} was {what we ate|on the menu|very good}.
    The bed and breakfast has {a garden|five rooms|no lift}.
    {I ate|She made|They sell} {a banh mi|two banh mi} {for lunch|on Monday}.
    {Ye olde shop|Ye olde shoppe|Ye olde inn} {is on the left|was closed|sells tea}.
    Write to {tom|anna|info|sales} (at) {example|mail} (dot) {org|com} {today|for help}.
    {The|Our|Her} no. {1|2|12} {hit|choice|rule} is {here|this one|on page 5}.
    Yours {faithfully|sincerely|truly},""".splitlines()


@pytest.fixture(scope="module")
def corrector(pytestconfig: pytest.Config) -> LineCorrector:
    assert pytestconfig.cache is not None
    bundle, engine = opened("en-gec", pytestconfig.cache, with_scores=True, mode="balanced")
    return LineCorrector.of_bundle(engine, bundle, mode="balanced")


@pytest.mark.parametrize("patterns", [STOPPED, CHAT, DISHES])
def test_drawn_right_lines_stay(patterns: list[str], corrector: LineCorrector) -> None:
    draw = random.Random(60)
    drawn = (re.sub(r"\{([^}]*)\}", lambda each: draw.choice(each[1].split("|")), draw.choice(patterns).strip()) for _ in range(10 * DRAWN))
    lines = list(dict.fromkeys(drawn))[:DRAWN]
    assert len(lines) == DRAWN
    changed = [(line, found.text) for line in lines for found in corrector.correct([line]) if found.text != line]
    assert changed == []


@pytest.mark.parametrize(
    ("text", "source", "new", "changes"),
    [
        ("omg that was close", "omg", "Og", True),
        ("omg that was close", "omg", "Omg", True),
        ("that is fine lol", "that", "That", True),
        ("That is fine lol", "is", "was", False),
        ("i am late thx", "i", "I", False),
        ("call me pls", "pls", "please", False),
        ("call me pls", "pls", "plus", True),
        ("wow lol that was good", "wow lol", "Wow local", True),
        ("what are u doing", "what are", "What is", True),
        ("what is u doing", "is", "are", False),
        ("he go home", "he", "He", False),
        ("we use R here", "R", "it", False),
        ("the U.S. was there", "U.S.", "US", False),
    ],
)
def test_changes_of_chat(text: str, source: str, new: str, changes: bool) -> None:
    start = text.index(source)
    assert changes_chat(text, Edit(start, start + len(source), source, new)) == changes


@pytest.mark.parametrize(
    ("text", "source", "new", "changes"),
    [
        ("The dept. moved here", ".", ",", True),
        ("The dept. moved here", ".", "", True),
        ("The dept. moved here", "dept.", "department", True),
        ("The dept. moved here", "moved", "moves", False),
        ("the approx. value", "approx", "Approx", False),
        ("See No. 5 there", ".", "", True),
        ("I said no. then I left", ".", ",", False),
        ("We went home. and slept", ".", "", False),
        ("Our mgmt, etc. have left", "etc.", "etc", True),
        ("Smith et al. say that", "say", "says", True),
        ("The mgmnt. moved", ".", ",", True),
    ],
)
def test_changes_of_shortened_words(text: str, source: str, new: str, changes: bool, corrector: LineCorrector) -> None:
    start = text.index(source)
    assert changes_shortened(text, Edit(start, start + len(source), source, new), corrector._ngrams) == changes


@pytest.mark.parametrize("accent", ["`", "\u00b4", "\u2032", "\uff07"])
def test_accents_in_place_of_apostrophes_are_corrected_with_their_words(accent: str, corrector: LineCorrector) -> None:
    sources = [f"He don{accent}t like it.", f"It{accent}s late, and I don{accent}t know why.", f"She isn{accent}t here."]
    expected = ["He doesn't like it.", "It's late, and I don't know why.", "She isn't here."]
    assert [each.text for each in corrector.correct(sources)] == expected
