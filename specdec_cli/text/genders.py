"""Genders of German nouns by their endings, whether the article before a noun fits its gender, and words for people of all genders.

Endings are those of word formation (-ung, -chen) and the last parts of frequent compounds (-vertrag, -karte). The longest ending that is
listed decides; a noun without one has no known gender.
"""

import re
from functools import cache
from typing import NamedTuple

from specdec_cli.text.locale.languages import short_code
from specdec_cli.text.protect.spans import protected_spans, split_at

_SMALL = "[a-z\u00e4\u00f6\u00fc\u00df]"
_SIGN = re.compile(rf"(?<={_SMALL})(?:(?:[*:_\u00b7]|/-?)(?=in(?:nen)?\b)|(?P<capital>I)(?=nnen\b))")
"""The sign in Kolleg*innen, Sch\u00fcler:in and Lehrer/-innen, and the capital in LehrerInnen."""
_UNDERLINE = re.compile(r"(?<![\w/.-])([A-Z\u00c4\u00d6\u00dc][a-z\u00e4\u00f6\u00fc\u00df]+)_(in(?:nen)?)\b")
"""The sign in Leser_innen, which would be a name of a program otherwise."""
_SIGN_OF_ENDING = re.compile(r"\b(?P<word>(?:[km]?ein|jed|dein|sein|welch|lieb)e?)[*:_](?P<ending>e[rnms]?|[rnms])\b", re.IGNORECASE)
"""The sign in jede*r and ein:e."""
_MASCULINE = """
ling ismus ator ktor utor sor itor motor eur skorpion spion champion streik katholik kuchen knochen rachen drachen rochen schaum saum
zement konsument export kadett vorwand mittag vertrag plan tag preis brief bericht betrag antrag auftrag beitrag tisch schlüssel raum baum
traum platz satz schatz punkt kurs weg schrank zug wagen garten laden stuhl schein dienst text titel artikel monat schutz wert fall grund
markt betrieb apparat automat hund film rechner drucker schalter ordner kalender computer browser server treiber fehler knopf kopf topf
zopf stoff ruf beruf wunsch gang sprung schwung druck ausdruck fluss schluss hafen hof bahnhof fuß berg sport ort rand wind strom sturm
turm wurm finger teller keller koffer käse kaffee bus kreis hinweis nachweis ausweis beweis block stock rock arzt gast geist wald staat
zustand stand abstand gegenstand verband einwand aufwand strand brand irrtum reichtum konsum pullover nagel vogel spiegel ziegel
"""
_FEMININE = """
ung heit keit schaft ion tät ik tur enz erei elei atei rtei zei rie tie gie mie phie sie ilie couleur farm leinwand reling zeit stadt bank
karte seite straße liste tasche adresse nummer frage reise woche stunde minute sekunde schule firma tür hand wand kraft macht zahl post
sicht arbeit anlage aufgabe gabe sache sprache tasse flasche kasse klasse masse küche kirche farbe größe höhe länge breite tiefe fläche
stelle quelle antwort pflicht schrift nacht fracht gefahr fahrt uhr spur milch luft kunst brust angst wurst marke maschine taste kiste
lampe treppe gruppe suppe pumpe schraube scheibe wolke brücke decke ecke lücke strecke jacke hose mütze rolle schale spule schleife pfanne
kanne tonne sonne kamera batterie
"""
_NEUTER = """
chen lein ment um ieren ett cycling bowling curling handling peeling controlling mailing komitee gewand ressort resort schwert abitur
futur scheit malheur haus buch bild geld land werk zeug gerät system programm projekt problem auto konto büro jahr wort kind spiel recht
amt netz licht fenster zimmer wasser feuer bett brett blatt dorf schloss bier papier bein herz formular dokument fest ziel glas gras fass
schiff gesicht angebot verbot gebot brot boot foto video radio kino archiv motiv labor leder muster pflaster kloster schreiben leben essen
treffen vorhaben guthaben vertrauen vergnügen vermögen unternehmen verfahren verhalten wesen kabel möbel mittel viertel kapitel hotel menü
modell paket ticket budget internet tablet modul signal material ventil profil protokoll passwort kennwort stichwort gesetz gespräch
geschäft gebäude getriebe gehäuse gewicht gericht gedicht gebiet gefühl geräusch geschenk geschirr gewebe gewinde fahrrad bad hemd kleid
lied feld kilo öl tier
"""
_UNKNOWN = "moment anion kation stadion plastik dung lenz partikel scherz kompost quartier portier regel filter schild teil band"
"""Endings of nouns that have several genders, or another one than the shorter ending that is listed for others."""
_ARTICLES = (
    {"der": "mf", "die": "f", "das": "n", "den": "m", "dem": "mn", "des": "mn"},
    {"zum": "mn", "zur": "f"},
    *(
        {contracted: "mn", f"{preposition} der": "f"}
        for contracted, preposition in (("im", "in"), ("am", "an"), ("vom", "von"), ("beim", "bei"))
    ),
    *({f"{preposition}s": "n", f"{preposition} den": "m", f"{preposition} die": "f"} for preposition in ("in", "an", "auf")),
    *(
        {
            stem: "mn",
            f"{stem}e": "f",
            f"{stem}en": "m",
            f"{stem}em": "mn",
            f"{stem}er": "f",
            f"{stem}es": "mn",
        }
        for stem in ("ein", "mein", "dein", "sein", "kein", "ihr", "unser", "eur")
    ),
    *(
        {f"{stem}er": "mf", f"{stem}e": "f", f"{stem}es": "n", f"{stem}en": "m", f"{stem}em": "mn"}
        for stem in ("dies", "jed", "jen", "welch", "manch")
    ),
)
"""Articles and other determiners, by the genders of the nouns in the singular that they stand before."""
_AMBIGUOUS = ("sein", "ihr")
"""Words that are determiners if they fit a noun, and else probably a verb or a pronoun."""
_WORD = re.compile(r"(?<![^\W\d_])(?P<word>[^\W\d_]++)\s++\Z")
_ADJECTIVE = re.compile(r"[^\W\d_]+e[nmrs]?")
_MOST_ADJECTIVES = 2
_RELATIVE = re.compile(r",\s*\Z")
"""What stands before a relative pronoun, which looks like an article."""


@cache
def _endings() -> dict[str, str]:
    lists = (("m", _MASCULINE), ("f", _FEMININE), ("n", _NEUTER), ("", _UNKNOWN))
    return {ending: gender for gender, endings in lists for ending in endings.split()}


@cache
def _articles() -> dict[str, dict[str, str]]:
    return {article: forms for forms in _ARTICLES for article in forms if " " not in article}


def gender(noun: str) -> str:
    """The gender of a German noun in the singular: m, f or n; "" if its ending does not tell it."""
    endings, word = _endings(), noun.lower()
    return next((endings[word[start:]] for start in range(len(word)) if word[start:] in endings), "")


class Article(NamedTuple):
    """The article of a noun, from the offset `start` up to `end` of its text: whether it `fits` the gender of the noun, and its forms
    that do.
    """

    start: int
    end: int
    fits: bool
    forms: tuple[str, ...]


def article_of(text: str, start: int, end: int) -> Article | None:
    """The article of the German noun in the singular from `start` to `end` of `text`; adjectives may be between them. None without an
    article, or if the gender is not known.
    """
    known, place = gender(text[start:end]), start
    if not known or not text[start].isupper():
        return None
    for _ in range(_MOST_ADJECTIVES + 1):
        found = _WORD.search(text, 0, place)
        if found is None:
            return None
        written, place = found["word"], found.start()
        forms = _articles().get(written.lower(), {})
        if forms and not _RELATIVE.search(text, 0, place):
            fitting = [form for form, genders in forms.items() if known in genders]
            if written.lower() in _AMBIGUOUS and written.lower() not in fitting:
                return None
            cased = tuple(form[0].upper() + form[1:] for form in fitting) if written[0].isupper() else tuple(fitting)
            return Article(*found.span("word"), written.lower() in fitting, cased)
        if not _ADJECTIVE.fullmatch(written):
            return None
    return None


def without_gender_signs(text: str, language: str) -> str:
    """Return a German `text` with the words for women in place of those for people of all genders (Kolleg*innen, LehrerInnen): models know
    these, and most other languages have one word for both.
    """
    if short_code(language) != "de" or not (_SIGN.search(text) or _SIGN_OF_ENDING.search(text)):
        return text
    text = _UNDERLINE.sub(r"\1\2", text)
    parts = split_at(text, protected_spans(text))
    parts[::2] = [_SIGN_OF_ENDING.sub(_joined, _SIGN.sub(lambda sign: "i" if sign["capital"] else "", part)) for part in parts[::2]]
    return "".join(parts)


def _joined(found: re.Match[str]) -> str:
    """A word and its ending, with one "e" between them."""
    return found["word"] + found["ending"].removeprefix("e" if found["word"].endswith("e") else "")
