"""Confused words: homophones, words of similar spelling, and words of similar meaning."""

from random import Random

from specdec_cli.corruption.closed import MODALS
from specdec_cli.corruption.edits import TokenEdit, replace_token
from specdec_cli.corruption.tables import confusable, word_set
from specdec_cli.corruption.tokens import Sentence

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
