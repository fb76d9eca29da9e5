"""Errors of prepositions: wrong, missing and superfluous ones, those that other words require, and those of times."""

from random import Random

from specdec_cli.corruption.tokens import NAME, NUMBER, Sentence, TokenEdit, delete_token, insert_word, replace_token
from specdec_cli.english.lexicon import readings, verb_lemma
from specdec_cli.english.words import (
    ADVERBS,
    ARTICLES,
    DETERMINERS,
    HAVE,
    MODALS,
    OBJECTS,
    PREPOSITIONS,
    SUBJECTS,
    alternatives,
    word_set,
)

_REPLACEMENTS = alternatives("""
in: on on at at to of into during with for
on: in in in at at of about to for over
at: in in in on on to for with
of: for for from from in in about on by
for: to to to of of in since about from on
to: for for for in at at of into on
from: of of of by since in for at
with: by by of of to for in from
by: with with from from for in of
about: of of on for in over
into: in in in to to on
onto: on to in
during: in while while for since
through: by with over across
between: among among in from of
among: between between in of
since: from from for for in
until: to till by by since
within: in during inside
without: with_no with_out
against: with to for at
across: through over along
behind: after back
beside: besides near
besides: beside except
near: near_to next next_to
under: below down in
over: above on about
above: over on
below: under
toward: to at
towards: to at for
upon: on in at
after: behind since past
before: ago in_front_of until
around: about round near
along: across through
despite: despite_of in_spite although
like: as as
as: like like for
""")
# Verbs that take an object without preposition, with the prepositions that learners insert; below, adverbials likewise.
_INSERTED_AFTER = alternatives("""
discuss: about about on
enter: to into in
reach: to at
contact: with to
marry: with with to
answer: to on
call: to
tell: to
ask: to
visit: to in
approach: to
lack: of of in
emphasize: on on
mention: about about
explain: about
describe: about about
request: for of
resemble: to with
attend: to at in
join: to in
phone: to
face: with to
affect: to on on
influence: to on
improve: on
consider: about about
regret: for
obey: to
divorce: from
benefit: to
access: to
leave: from from
meet: with
support: to
""")
_INSERTED_BEFORE = alternatives("""
home: to to in at to_the at_the
there: to to in
here: to in
abroad: to to in
downtown: to in
upstairs: to
yesterday: on in
tomorrow: on in
today: on in
tonight: on in
last: in in on at
next: in in on at
every: in on at
""")
_TIMES = word_set("week month year night time day morning evening summer winter spring weekend century season")
_NEED_TIME = word_set("last next every")


def _is_infinitive(sentence: Sentence, i: int) -> bool:
    following = sentence.words[i + 1]
    return sentence.words[i] == "to" and (following in ("be", "have", "do") or following in ADVERBS or "VB" in readings(following))


def _precedes_noun_phrase(sentence: Sentence, i: int) -> bool:
    """Whether a word, name or number follows token i directly, without punctuation."""
    return sentence.is_wordlike(i + 1) or sentence.words[i + 1] == NUMBER


def preposition_swap(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace a preposition by another.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    others = _REPLACEMENTS.get(sentence.words[i])
    if others is None or not _precedes_noun_phrase(sentence, i) or _is_infinitive(sentence, i):
        return None
    if sentence.words[i] in ("as", "like") and sentence.words[i + 1] not in DETERMINERS:
        return None
    return replace_token(sentence, i, random.choice(others))


def preposition_drop(sentence: Sentence, i: int, _: Random) -> TokenEdit | None:
    """Remove a preposition inside the sentence.

    Returns None if this error is impossible at token i.
    """
    words = sentence.words
    if words[i] not in PREPOSITIONS or i in sentence.initials or not _precedes_noun_phrase(sentence, i) or _is_infinitive(sentence, i):
        return None
    return delete_token(sentence, i) if sentence.is_wordlike(i - 1) and words[i - 1] not in PREPOSITIONS else None


def preposition_insert(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Insert a preposition after a verb that takes none (discuss about), or before home, there, last week.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    words = sentence.words
    left = words[i - 1]
    if i in sentence.initials or not sentence.is_wordlike(i) or left in PREPOSITIONS:
        return None
    others = _INSERTED_BEFORE.get(words[i])
    if others is not None:
        if words[i] in _NEED_TIME and words[i + 1] not in _TIMES:
            return None
        tags = readings(left)
        return insert_word(sentence, i, random.choice(others)) if tags and "JJ" not in tags else None
    if not (words[i] in DETERMINERS or words[i] in OBJECTS or words[i] == NAME):
        return None
    tags = readings(left)
    others = _INSERTED_AFTER.get(verb_lemma(left))
    if others is None or words[i - 2] in ARTICLES or ("NN" in tags and words[i - 2] not in MODALS | SUBJECTS | {"to"}):
        return None
    return insert_word(sentence, i, random.choice(others)).covering(i - 1, i)


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
