"""Errors of prepositions: wrong, missing, superfluous."""

from random import Random

from specdec_cli.corruption.closed import ADVERBS, ARTICLES, DETERMINERS, MODALS, OBJECTS, PREPOSITIONS, SUBJECTS
from specdec_cli.corruption.edits import TokenEdit, delete_token, insert_word, replace_token
from specdec_cli.corruption.lexicon import readings, verb_lemma
from specdec_cli.corruption.tables import alternatives, word_set
from specdec_cli.corruption.tokens import NAME, NUMBER, Sentence

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
