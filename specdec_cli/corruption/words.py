"""Errors of function words: pronouns, conjunctions, missing and doubled words."""

from random import Random

from specdec_cli.corruption.closed import AUXILIARIES, CLOSED, RELATIVES, SUBJECTS
from specdec_cli.corruption.edits import TokenEdit, delete_token, insert_word, replace_token
from specdec_cli.corruption.lexicon import readings
from specdec_cli.corruption.tables import alternatives, word_set
from specdec_cli.corruption.tokens import Sentence

_PRONOUNS = alternatives("""
i: me my
me: i my
my: me mine
he: him it they his
him: he his it
his: him he he's
she: her he
her: she hers
we: us our they
us: we our
our: us ours we
they: them it he their
them: they it their
their: them they its theirs
it: they them its he
its: their it it's
your: you yours
myself: me my_self
himself: him hisself
herself: her
themselves: them themself theirself
ourselves: us ourself our_selves
yourself: you your_self
who: which whom that
whom: who which
which: who what that
that: which what who
what: that which
whose: who which who's
this: these it that
these: this those
those: these that
each: every
every: each all
""")
_CONJUNCTIONS = alternatives("""
and: or with
or: and nor
but: and however
so: therefore because
because: so since because_of as
although: but despite however
though: but despite
while: when as during
when: while if where
if: when weather whether
whether: if that
unless: if
until: when while
whereas: but when
however: but although
therefore: so because
than: then that as
nor: or and
""")
_CONCESSIVE = word_set("although though")
_CAUSAL = frozenset({"because", "since"})
_SHARE_OF_AND = 0.15
_SHARE_OF_OTHERS = 0.03
# Function words whose absence is a recognisable error.
_DROPPABLE = word_set("to and or but because if when who which than as it they he she we i more there be so too what how")


def pronoun(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace a pronoun or demonstrative by a wrong one: of another case (they by them), number (they by it) or kind (who by which).

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    others = _PRONOUNS.get(sentence.words[i])
    return replace_token(sentence, i, random.choice(others)) if others else None


def conjunction(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace a conjunction by another, or add a second one (although ..., but; because ..., so).

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    words = sentence.words
    if words[i - 1] == "," and words[0] in _CONCESSIVE | _CAUSAL and words[i] in SUBJECTS | {"the", "this", "there"}:
        return insert_word(sentence, i, "but" if words[0] in _CONCESSIVE else "so").covering(i - 1, i)
    others = _CONJUNCTIONS.get(words[i])
    if words[i] == "and" and random.random() >= _SHARE_OF_AND:
        return None
    return replace_token(sentence, i, random.choice(others)) if others else None


def dropped_word(sentence: Sentence, i: int, _: Random) -> TokenEdit | None:
    """Remove a function word (to, and, if, he, there, too) whose absence is an error.

    Returns None if this error is impossible at token i.
    """
    words = sentence.words
    if words[i] not in _DROPPABLE or not sentence.is_wordlike(i + 1):
        return None
    # A relative pronoun as object may be left out ("the book he read").
    if words[i] in RELATIVES and words[i + 1] not in AUXILIARIES and "VBZ" not in readings(words[i + 1]):
        return None
    return delete_token(sentence, i)


def doubled_word(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Double a word, mostly a function word.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    words = sentence.words
    if not sentence.is_plain(i) or words[i] == words[i + 1] or words[i] == words[i - 1]:
        return None
    if words[i] not in CLOSED and random.random() >= _SHARE_OF_OTHERS:
        return None
    end = sentence.tokens[i].end
    return TokenEdit(end, end, f" {'I' if words[i] == 'i' else words[i]}", i, i)
