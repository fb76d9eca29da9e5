"""Frequent misspellings, drawn into right sentences, that the lexicon and n-grams of the shipped corrector mend."""

import random
import re

import pytest

from specdec_cli.text.edits import apply_edits
from specdec_cli.text.spelling.ngrams import FILE as NGRAMS
from specdec_cli.text.spelling.ngrams import NgramModel
from specdec_cli.text.spelling.speller import FILE, Lexicon, Speller
from tests.source import ROOT

MISSPELLINGS = """absense=absence accomodate=accommodate acheive=achieve accross=across adress=address agressive=aggressive allways=always
    apparantly=apparently appearence=appearance arguement=argument awfull=awful beautifull=beautiful becuase=because becomming=becoming
    begining=beginning beleive=believe buisness=business calender=calendar catagory=category cheif=chief collegue=colleague
    comming=coming commitee=committee completly=completely concious=conscious definately=definitely definatly=definitely diffrent=different
    dissapointed=disappointed enviroment=environment excelent=excellent existance=existence experiance=experience familar=familiar
    finaly=finally foriegn=foreign freind=friend goverment=government garantee=guarantee happend=happened immediatly=immediately
    independant=independent intresting=interesting interupt=interrupt knowlege=knowledge libary=library neccesary=necessary
    necesary=necessary noticable=noticeable occured=occurred ocurred=occurred occassionaly=occasionally oportunity=opportunity
    peice=piece persistant=persistent posible=possible prefered=preferred proffesional=professional probaly=probably realy=really
    reccomend=recommend recieved=received relevent=relevant religous=religious remeber=remember restaraunt=restaurant seperate=separate
    similiar=similar speach=speech succesful=successful suprised=surprised tommorow=tomorrow tommorrow=tomorrow tounge=tongue
    truely=truly unfortunatly=unfortunately untill=until usefull=useful usualy=usually wich=which wierd=weird writting=writing"""
SENTENCES = """I really believe that the government will probably separate these two questions.
    We were surprised when our friend finally received the letter from the library.
    The committee will definitely recommend a different building for the business.
    Unfortunately, it is not possible to guarantee an excellent experience in every restaurant.
    She usually writes down the address until she can remember it.
    My colleague is always coming to the meeting with interesting questions about the environment.
    It is necessary to know the beginning of the argument before you interrupt a professional speech.
    He was completely disappointed because nothing had occurred across the border.
    The chief said that foreign companies have a similar opportunity to become independent.
    Tomorrow I will put the calendar in a separate piece of the room.
    This useful knowledge is relevant to people who want to achieve a successful business.
    A weird thing happened immediately after the appearance of the religious man.
    It was an awful day, and the beautiful garden was truly different.
    I am writing to recommend the library, which is always open until eight.
    The absence of a noticeable change was really interesting.
    She preferred the restaurant that was familiar to my friend.
    Apparently the government is becoming more aggressive and persistent.
    We occasionally accommodate foreign friends in our beautiful house.
    He was probably conscious when it finally happened.
    Their existence is definitely an interesting category of argument.""".splitlines()
ASKED = 60


@pytest.fixture(scope="module")
def speller() -> Speller:
    folder = ROOT / "specdec_cli" / "bundles" / "en-gec"
    return Speller(Lexicon.of_file(folder / FILE), NgramModel.read(folder / NGRAMS))


@pytest.mark.parametrize(("errors", "least"), [(1, 58), (2, 57), (3, 54)])
def test_most_drawn_misspellings_are_corrected(speller: Speller, errors: int, least: int) -> None:
    draw = random.Random(errors)
    wrong: dict[str, list[str]] = {}
    for pair in MISSPELLINGS.split():
        misspelt, right = pair.split("=")
        wrong.setdefault(right, []).append(misspelt)
    known = re.compile(rf"\b(?:{'|'.join(wrong)})\b")
    mended = 0
    for _ in range(ASKED):
        sentence = draw.choice([each.strip() for each in SENTENCES if len(known.findall(each)) >= errors])
        places = sorted(draw.sample(list(known.finditer(sentence)), errors), key=re.Match.start, reverse=True)
        text = sentence
        for place in places:
            text = text[: place.start()] + draw.choice(wrong[place[0]]) + text[place.end() :]
        found = apply_edits(text, [edit for edit in speller.edits(text) if edit.score is not None and edit.score > 0])
        mended += found == sentence
    assert mended >= least
