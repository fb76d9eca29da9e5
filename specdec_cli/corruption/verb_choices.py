"""Errors in the choice of a verb: say for tell, make for do, borrow for lend."""

from random import Random

from specdec_cli.corruption.context import verb_tag
from specdec_cli.corruption.edits import TokenEdit, replace_token
from specdec_cli.corruption.lexicon import inflected, readings
from specdec_cli.corruption.tables import alternatives, word_set
from specdec_cli.corruption.tokens import Sentence

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
