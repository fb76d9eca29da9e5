"""Errors of noun phrases: articles, number, possessives, adjectives and words with the same stem."""

from random import Random

from specdec_cli.corruption.context import determiner_of, is_noun, requires_plural, requires_singular
from specdec_cli.corruption.tokens import (
    NAME,
    Sentence,
    TokenEdit,
    delete_token,
    insert_word,
    match_case,
    replace_token,
    set_text,
    straight,
)
from specdec_cli.english.lexicon import as_adjective, as_adverb, form, readings, relatives
from specdec_cli.english.words import ARTICLES, BE, DETERMINERS, PERFECT, PREPOSITIONS, UNCOUNTABLE, alternatives, pairs, word_set

_SILENT_H = ("hour", "honest", "honour", "honor", "heir")
_SPOKEN_WITH_Y_OR_W = ("uni", "use", "usa", "usu", "uti", "eu", "ubi", "one", "once")
_SPOKEN_WITH_VOWEL = ("unin", "unim", "unid", "unir")
_DEFINITE = word_set("same first second third last only next best most worst least former latter whole rest")
_INDEFINITE = word_set("lot few little bit couple number variety kind huge long great good new small young")
# Probability where the sentence does not show which article is right; often both are.
_SHARE_OF_UNCLEAR_ARTICLES = 0.15
_SHARE_OF_NAMES = 0.25
_SHARE_OF_THE = 0.75
_SHARE_OF_THE_BEFORE_UNCOUNTABLE = 0.3
_SHARE_BEFORE_CONSONANTS = 0.15


def article_for(text: str) -> str:
    """The right article, `a` or `an`, before the word `text`, by its pronunciation; a word in capitals is read letter by letter."""
    lower = text.lower()
    if len(text) > 1 and text.isupper():
        return "an" if text[0] in "AEFHILMNORSX" else "a"
    if lower.startswith(_SILENT_H):
        return "an"
    if lower.startswith(_SPOKEN_WITH_Y_OR_W) and not lower.startswith(_SPOKEN_WITH_VOWEL):
        return "a"
    return "an" if lower[0] in "aeiou" else "a"


def article_drop(sentence: Sentence, i: int, _: Random) -> TokenEdit | None:
    """Remove an article.

    Returns None if this error is impossible at token i.
    """
    return delete_token(sentence, i) if sentence.words[i] in ARTICLES and sentence.is_wordlike(i + 1) else None


def article_insert(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Insert an article before a noun without one, a predicate adjective or a name.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    words = sentence.words
    left = words[i - 1]
    if words[i] == NAME:
        return insert_word(sentence, i, "the") if left in PREPOSITIONS and random.random() < _SHARE_OF_NAMES else None
    if not sentence.is_plain(i) or not (i in sentence.initials or _opens_noun_phrase(left)):
        return None
    tags = readings(words[i])
    if "VBG" in tags or (left in PERFECT and "VBN" in tags) or (left == "to" and "VB" in tags):
        return None
    if "JJ" in tags and left in BE and not sentence.is_wordlike(i + 1):
        return insert_word(sentence, i, article_for(words[i]))
    if not ("NNS" in tags or ("NN" in tags and not tags.keys() & {"VBD", "RB"}) or _precedes_noun(sentence, i)):
        return None
    uncountable = not {words[i], words[i + 1]}.isdisjoint(UNCOUNTABLE)  # "a good news"
    share = _SHARE_OF_THE_BEFORE_UNCOUNTABLE if uncountable else _SHARE_OF_THE
    article = "the" if random.random() < share or i in sentence.initials else article_for(words[i])
    return insert_word(sentence, i, article)


def _opens_noun_phrase(left: str) -> bool:
    """Whether a noun phrase without article can follow the word `left`: a preposition, be, have, or a word that is only a verb."""
    if left in PREPOSITIONS or left in BE or left in PERFECT:
        return True
    tags = readings(left)
    return bool(tags.keys() & {"VB", "VBZ", "VBD", "VBG"}) and not tags.keys() & {"NN", "NNS", "JJ"}


def _precedes_noun(sentence: Sentence, i: int) -> bool:
    tags = readings(sentence.words[i])
    return "JJ" in tags and bool(readings(sentence.words[i + 1]).keys() & {"NN", "NNS"})


def article_swap(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace `a` or `an` by `the` or vice versa, mostly where the next word shows which article is right (the first, a lot).

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    words = sentence.words
    if words[i] not in ARTICLES or not sentence.is_wordlike(i + 1) or words[i + 1] in DETERMINERS:
        return None
    tags = readings(words[i + 1])
    if words[i] == "the":
        clear = words[i + 1] in _DEFINITE or "JJS" in tags or ("NNS" in tags and "NN" not in tags)
        other = article_for(sentence.tokens[i + 1].text)
    else:
        clear = words[i + 1] in _INDEFINITE
        other = "the"
    if not clear and random.random() >= _SHARE_OF_UNCLEAR_ARTICLES:
        return None
    edit = replace_token(sentence, i, other)
    return edit and edit.covering(i, i + 1)


def article_sound(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Put the wrong one of `a` and `an`: replace `an` by `a` before a vowel, `a` by `an` before a consonant.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    other = {"a": "an", "an": "a"}.get(sentence.words[i])
    if other is None or not sentence.is_wordlike(i + 1) or article_for(sentence.tokens[i + 1].text) == other:
        return None
    # "an" before a consonant is rarer than "a" before a vowel, unless the spelling suggests a vowel.
    if other == "an" and sentence.words[i + 1][:1] not in ("h", "u", "e", "o") and random.random() >= _SHARE_BEFORE_CONSONANTS:
        return None
    edit = replace_token(sentence, i, other)
    return edit and edit.covering(i, i + 1)


_WRONG_PLURALS = alternatives("""
children: childrens childrens childs
men: mens mans
women: womens womans womans
people: peoples peoples
feet: feets foots
teeth: teeths tooths
mice: mices mouses
police: polices
sheep: sheeps
fish: fishes
information: informations
advice: advices
homework: homeworks
furniture: furnitures
equipment: equipments
luggage: luggages
knowledge: knowledges
news: new
evidence: evidences
vocabulary: vocabularies
staff: staffs
software: softwares
""")
_AGREEING = word_set("is was has does isn't wasn't")
_AGREEING_PLURAL = word_set("are were have do aren't weren't")
_NOT_POSSESSIVE = word_set("it he she that what who there here where how let when why this everyone everything")
_SHARE_OF_UNCLEAR_NUMBERS = 0.2
_SHARE_OF_MANY = 0.5
_OPENING_QUOTE = "\u2018"


def noun_number(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace a plural by the singular (many reason, three car) or vice versa (a cars, the reasons is, advices).

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    if not sentence.is_plain(i):
        return None
    word = sentence.words[i]
    tags = readings(word)
    if word in UNCOUNTABLE:
        return replace_token(sentence, i, f"{word}s") if "NN" in tags and word != "news" and is_noun(sentence, i) else None
    if ("NN" in tags) == ("NNS" in tags) or not is_noun(sentence, i):
        return None
    position = determiner_of(sentence, i)
    determiner = sentence.words[position]
    if "NNS" in tags:
        clear = requires_plural(determiner) or sentence.words[i + 1] in _AGREEING_PLURAL or _is_one_of(sentence, position)
        other = form(word, "NNS", "NN")
    else:
        clear = requires_singular(determiner) or sentence.words[i + 1] in _AGREEING
        other = form(word, "NN", "NNS")
    # A singular without a determiner is an error already, and its plural often would be right.
    if not clear and (("NN" in tags and position < 0) or random.random() >= _SHARE_OF_UNCLEAR_NUMBERS):
        return None
    edit = replace_token(sentence, i, other)
    return edit and edit.covering(max(position, 0) if position >= 0 else i, i + (sentence.words[i + 1] in _AGREEING | _AGREEING_PLURAL))


def _is_one_of(sentence: Sentence, position: int) -> bool:
    return position >= 2 and sentence.words[position - 1] == "of" and sentence.words[position - 2] in ("one", "some", "many", "most", "all")


def double_plural(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Add a plural ending to an irregular plural or an uncountable noun: childrens, informations, many good advices.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    others = _WRONG_PLURALS.get(sentence.words[i])
    if others is None or sentence.words[i + 1] == NAME or not sentence.is_plain(i):
        return None
    plural = random.choice(others)
    counted = sentence.words[i] in UNCOUNTABLE and plural.endswith("s") and random.random() < _SHARE_OF_MANY
    first = _amount_before(sentence, i) if counted else i
    if first == i:
        return replace_token(sentence, i, plural)
    described = f"{sentence.words[i - 1]} " if sentence.words[i - 1] not in ("of", "much", "some") else ""
    many = match_case("many", sentence.tokens[first].text, first in sentence.initials)
    return TokenEdit(sentence.tokens[first].start, sentence.tokens[i].end, f"{many} {described}{plural}", first, i)


def _amount_before(sentence: Sentence, i: int) -> int:
    """The index of the first word of `a lot of`, `much` or `some` before token i and at most one adjective; i if there is none."""
    words = sentence.words
    last = i - 1 if words[i - 1] in ("of", "much", "some") else i - 2 if "JJ" in readings(words[i - 1]) else -1
    if last < 0:
        return i
    if words[last] in ("much", "some"):
        return last
    return last - 2 if last >= 2 and words[last - 2 : last + 1] == ["a", "lot", "of"] else i


def possessive(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace `John's book` by `John book`, `Johns book` or `Johns' book`; `the boys' room` by `the boys room` or `boy's`.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    tokens = sentence.tokens
    text = tokens[i].text
    if straight(text[-2:]) == "'s" and text[:-2].lower() not in _NOT_POSSESSIVE and sentence.is_wordlike(i + 1):
        stem = text[:-2]
        return set_text(sentence, i, random.choice((stem, f"{stem}s", f"{stem}s", f"{stem}s{text[-2]}")))
    following = sentence.words[i + 1]
    if straight(following) != "'" or sentence.gap(i) or not text.endswith("s") or not sentence.gap(i + 1):
        return None
    # The apostrophe may be a closing quotation mark.
    if any(token.text in ("'", _OPENING_QUOTE) for token in tokens[:i]):
        return None
    new = random.choice((text, f"{text[:-1]}{following}s"))
    return TokenEdit(tokens[i].start, tokens[i + 1].end, new, i, i + 1)


_ING_AND_ED = pairs(
    "interesting>interested boring>bored exciting>excited surprising>surprised tiring>tired confusing>confused "
    "disappointing>disappointed amazing>amazed annoying>annoyed frightening>frightened shocking>shocked relaxing>relaxed "
    "embarrassing>embarrassed satisfying>satisfied fascinating>fascinated worrying>worried frustrating>frustrated "
    "depressing>depressed exhausting>exhausted inspiring>inspired convincing>convinced terrifying>terrified"
)
_PARTICIPLES = dict(_ING_AND_ED) | {ed: ing for ing, ed in _ING_AND_ED}
_NOT_COMPARED = word_set("more most less least other number former latter upper lower outer inner further later elder")
_SHARE_AFTER_BE = 0.3
# If one of these words stands shortly before "well", it may be an adjective ("she looks well") or part of a phrase ("as well").
_NOT_BEFORE_WELL = BE | word_set(
    "as be feel feels feeling felt look looks looking looked get gets getting got sound sounds oh mean means meant"
)
# Words that only look as if they were derived from another one.
_UNRELATED = word_set(
    "several later property department station mission portion passion section version million billion question champion "
    "position charity apartment according"
)


def adjective_form(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace an adverb by the adjective or vice versa (well by good), boring by bored, a comparative by a wrong one (more bigger).

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    words = sentence.words
    word, following = words[i], readings(words[i + 1])
    if word == "well" and i and not sentence.is_wordlike(i + 1):
        return replace_token(sentence, i, "good") if _NOT_BEFORE_WELL.isdisjoint(words[max(i - 3, 0) : i]) else None
    if not sentence.is_plain(i):
        return None
    if word in _PARTICIPLES:
        return replace_token(sentence, i, _PARTICIPLES[word])
    if word in ("more", "most") and "JJ" in following and "NN" not in following:
        return delete_token(sentence, i) if "than" in words[i:] else None
    tags = readings(word)
    for tag, sign in (("JJR", "more"), ("JJS", "most")):
        lemma = tags.get(tag)
        if lemma and word not in _NOT_COMPARED and words[i - 1] not in ("more", "most"):
            return replace_token(sentence, i, f"{sign} {random.choice((word, word, lemma))}")
    if "NN" in tags or "VB" in tags:
        return None
    if as_adjective(word) and not (words[i + 1] == "," and i in sentence.initials):
        return replace_token(sentence, i, as_adjective(word))
    adverb = as_adverb(word)
    fits = len(word) > 4 and ("NN" in following or "NNS" in following or (words[i - 1] in BE and random.random() < _SHARE_AFTER_BE))
    return replace_token(sentence, i, adverb) if adverb and fits else None


def derivation(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace a word by one with the same stem but another part of speech (important > importance).

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    if len(sentence.words[i]) < 5 or sentence.words[i] in _UNRELATED or not sentence.is_plain(i):
        return None
    others = relatives(sentence.words[i])
    return replace_token(sentence, i, random.choice(others)) if others else None
