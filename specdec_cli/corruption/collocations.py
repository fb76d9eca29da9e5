"""Errors of collocation: prepositions after certain words and with times, the most frequent homophones."""

from random import Random

from specdec_cli.corruption.closed import ARTICLES, BE, HAVE, MODALS, OBJECTS, PREPOSITIONS
from specdec_cli.corruption.edits import TokenEdit, delete_token, replace_token
from specdec_cli.corruption.lexicon import readings
from specdec_cli.corruption.tables import alternatives, word_set
from specdec_cli.corruption.tokens import NUMBER, Sentence

# A word (lemma or form) and its preposition, with the prepositions that learners use instead; `-` stands for none.
_PREPOSITIONS_OF = {
    tuple(key.split("_")): others
    for key, others in alternatives("""
interested_in: on on about for at by
good_at: in in on
bad_at: in in on
arrive_at: to to in on
arrive_in: to to at on
depend_on: of of from in
listen_to: - - at
wait_for: - - on to
look_at: - to on
look_for: - after
look_after: for
ask_for: - about
pay_for: - about to
search_for: - after
married_to: with with
afraid_of: from from by about
scared_of: from from by
proud_of: for from about with
tired_of: from from with by
different_from: of of to than with
responsible_for: of of to about
famous_for: by of with because
similar_to: with with as like
full_of: with with by
angry_with: on to at
worried_about: for of with
worry_about: for of with
think_about: in on at
think_of: in on to
dream_of: with in to
dream_about: with of to
consist_of: in in from on
belong_to: - of in at
believe_in: on on to
succeed_in: on at to
participate_in: at to on -
spend_on: for in in
laugh_at: about of from
talk_to: - at
speak_to: - at
agree_with: to - on
apologize_for: about of
remind_of: about to
thank_for: about of
reason_for: of of to
solution_to: for for of
example_of: for about
influence_on: in in to over
increase_in: of of on
effect_on: in in to
capable_of: to for
aware_of: about -
keen_on: about in
used_to: at with
accustomed_to: with at
prefer_to: than than that
explain_to: - for
happen_to: with - in
invite_to: in at for
go_to: in in at
come_to: in in at
travel_to: in in at
return_to: in in at
move_to: in
fly_to: in in at
drive_to: in in at
insist_on: in at to
suffer_from: of by with
translate_into: in to
divide_into: in to on
concentrate_on: in at
rely_on: in of at
complain_about: for of on
compete_with: against to
connect_to: in at
focus_on: in at
help_with: in on to
""").items()
}
_NONE = "-"
_DAYS = word_set("monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays")
_MONTHS = word_set("january february march april may june july august september october november december")
_SEASONS = word_set("spring summer autumn winter")
_UNITS = word_set("years months weeks days hours minutes year month week hour")
_COUNTS = word_set("two three four five six seven eight nine ten many several some few a")
# Homophones that native writers confuse too; the module `confusions` has more.
_COMMON_HOMOPHONES = alternatives("""
you're: your
your: you're
it's: its
its: it's
they're: their there
their: there they're
there: their they're
we're: were
who's: whose
whose: who's
whether: weather
weather: whether
know: no now
knew: new
than: then
then: than
too: to
lose: loose
affect: effect
hear: here
passed: past
quiet: quite
except: accept
advice: advise
believe: belief
""")


def collocation(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace or remove the preposition that token i requires: interested on, depends of, listen music.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    words = sentence.words
    if words[i + 1] not in PREPOSITIONS and words[i + 1] != "to":
        # "thank you for", "remind her of", "spend money on"
        return _after_object(sentence, i, random)
    return _change_preposition(sentence, i, i + 1, random)


def _after_object(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    words = sentence.words
    if words[i + 2] in PREPOSITIONS and (words[i + 1] in OBJECTS or "NN" in readings(words[i + 1])):
        return _change_preposition(sentence, i, i + 2, random)
    return None


def _change_preposition(sentence: Sentence, i: int, position: int, random: Random) -> TokenEdit | None:
    """Replace or remove the preposition at `position`, if it is the one that token i requires."""
    words = sentence.words
    heads = {words[i], *readings(words[i]).values()}
    others = next((_PREPOSITIONS_OF[head, words[position]] for head in sorted(heads) if (head, words[position]) in _PREPOSITIONS_OF), None)
    if others is None or (words[position] == "to" and "VB" in readings(words[position + 1]) and words[position + 1] not in ARTICLES):
        return None
    if words[position] == "for" and (words[position + 1] in _COUNTS or words[position + 1] == NUMBER):
        return None  # "for" with a duration does not depend on the verb
    new = random.choice(others)
    if new == _NONE and not sentence.is_wordlike(position + 1):
        return None
    edit = delete_token(sentence, position) if new == _NONE else replace_token(sentence, position, new)
    return edit and edit.covering(i, position)


def time_preposition(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace the preposition of a time: in Monday, at 1995, on the morning, since five years.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    words = sentence.words
    word, following = words[i], words[i + 1]
    text = sentence.tokens[i + 1].text.lower() if i + 1 < len(sentence.tokens) else ""
    others: tuple[str, ...] = ()
    if word == "on" and text in _DAYS:
        others = ("in", "in", "at")
    elif word == "in" and ((following == NUMBER and len(text) == 4) or text in _MONTHS | _SEASONS):
        others = ("at", "on", "on")
    elif word == "in" and following == "the" and words[i + 2] in ("morning", "afternoon", "evening"):
        others = ("at", "on")
    elif word == "at" and (text in ("night", "noon", "midnight") or following == NUMBER):
        others = ("in", "on")
    elif word == "for" and (following in _COUNTS or following == NUMBER) and {words[i + 2], words[i + 3]} & _UNITS:
        others = ("since", "since", "from") if set(words) & (HAVE | {"been"}) else ("since", "during", "during")
    edit = replace_token(sentence, i, random.choice(others)) if others else None
    return edit and edit.covering(i, i + 1)


def common_homophone(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace a word by a homophone, of those that are confused most often: your going, its late, should of.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    words = sentence.words
    if words[i] == "have" and words[i - 1] in MODALS and "VBN" in readings(words[i + 1]):
        return replace_token(sentence, i, "of")
    if words[i] == "there" and words[i + 1] not in BE | MODALS and random.random() < 0.5:
        return None
    others = _COMMON_HOMOPHONES.get(words[i])
    return replace_token(sentence, i, random.choice(others)) if others else None
