"""Confused words: homophones, words of similar spelling or meaning, verbs that learners confuse."""

from random import Random

from specdec_cli.corruption.context import verb_tag
from specdec_cli.corruption.tokens import Sentence, TokenEdit, replace_token
from specdec_cli.english.lexicon import inflected, readings
from specdec_cli.english.words import BE, MODALS, alternatives, confusable, word_set

_CONFUSABLE = confusable("""
their there they're
its it's
your you're
whose who's
to too
then than
affect effect
accept except
loose lose
quite quiet
weather whether
where were
know now
knew new
hear here
peace piece
brake break
whole hole
week weak
wait weight
waste waist
steal steel
see sea
some sum
through threw
though through
though thought
think thing
think thank
things thinks
since sense
sight site
sale sail
sell cell
role roll
right write
principle principal
plane plain
passed past
our are
our hour
of off
won one
meet meat
made maid
led lead
die dye
desert dessert
course coarse
complement compliment
choose chose
breath breathe
clothes cloths
board bored
been being
advice advise
practice practise
allowed aloud
council counsel
formally formerly
personal personnel
proceed precede
vary very
ever every
every very
economic economical
historic historical
life live
lives leaves
live leave
feel fell
feel fill
fell felt
full fool
want won't
this these
from form
least last
most almost
bit beat
bad bed
ship sheep
sit seat
man men
man men
woman women
woman women
price prize
adopt adapt
raise rise
wonder wander
sweet sweat
ensure insure
quit quite
tree three
used use
suppose supposed
close closed
advance advanced
died dead
death dead
belief believe
proof prove
safe save
choice choose
success succeed
analyse analysis
phenomenon phenomena
criterion criteria
later latter
moral morale
much many
much many
few little
fewer less
number amount
other another
other another
other others
another others
everyone every_one
every_day everyday
maybe may_be
some_time sometime
sometimes some_times
already all_ready
altogether all_together
during while
hard hardly
late lately
near nearly
good well
so such
so very
such so
yet already
also too
ago before
beside besides
between among
farther further
specially especially
sensitive sensible
respectful respective
beautiful beauty
different difference
difficult difficulty
healthy health
convenient convenience
famous fame
loss lost
sent send
build built
spend spent
lend borrow
""")
_SHARE_OF_HAVE = 0.5
# Words that are so frequent that they would otherwise make up almost all errors of this kind.
_FREQUENT = word_set("to of from this are our so as some one been other also during when where before between used after")
_SHARE_OF_FREQUENT = 0.06
# Homophones that native writers confuse too.
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


def homophone(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace a word by one of similar sound, spelling or meaning; `have` after a modal by `of`.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    word = sentence.words[i]
    if word == "have" and sentence.words[i - 1] in MODALS and random.random() < _SHARE_OF_HAVE:
        return replace_token(sentence, i, "of")
    others = _CONFUSABLE.get(word)
    if others is None or (word in _FREQUENT and random.random() >= _SHARE_OF_FREQUENT):
        return None
    return replace_token(sentence, i, random.choice(others))


# Verbs that learners confuse. The replacement is put in the same form (said: told).
_VERBS = alternatives("""
say: tell speak
tell: say say
speak: talk tell
learn: teach study
teach: learn
rise: raise
raise: rise
borrow: lend
lend: borrow
remind: remember
remember: remind
listen: hear
hear: listen
watch: see look
win: beat
beat: win
become: get
grow: grow_up
reach: arrive
arrive: reach
lie: lay
bring: take
""")
# Verbs whose right choice depends on the noun after them: make a mistake, do homework, take a break.
_LIGHT_VERBS = alternatives("""
make: do do give take
do: make make
take: make do have get
have: make do
give: make do
pay: give do
play: do take
gain: win get
""")
_LIGHT_OBJECTS = word_set(
    "decision decisions mistake mistakes choice choices effort efforts progress noise plan plans sense use money friends "
    "friend difference contribution appearance attempt debut speech homework research work job business exercise exercises "
    "damage harm best part place care advantage action steps photo photos picture pictures break look time attention visit "
    "role advice access experience control"
)
_MADE_FOR_DONE = {"do": "make", "does": "makes", "did": "made", "done": "made", "doing": "making"}
_DONE = word_set("homework exercise exercises work job business research shopping dishes laundry housework best damage harm favor favour")


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


def verb_choice(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace a verb by one that learners confuse it with (say and tell, make and do), in the same form.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    words = sentence.words
    if words[i] in _MADE_FOR_DONE and not _DONE.isdisjoint(words[i + 1 : i + 4]) and "not" not in words[i : i + 2]:
        return replace_token(sentence, i, _MADE_FOR_DONE[words[i]])
    tags = readings(words[i])
    for tag in ("VBG", "VBD", "VBZ", "VBN", "VB"):
        lemma = tags.get(tag, "")
        light = lemma in _LIGHT_VERBS and not _LIGHT_OBJECTS.isdisjoint(sentence.words[i + 1 : i + 4])
        others = _LIGHT_VERBS.get(lemma) if light else _VERBS.get(lemma)
        if others is None or (tag != "VBG" and not verb_tag(sentence, i) and not light):
            continue
        verb, *particle = random.choice(others).split()
        new = inflected(verb, verb_tag(sentence, i) or tag)
        edit = replace_token(sentence, i, " ".join([new, *particle])) if new else None
        return edit and edit.covering(i, i + 1)
    return None
