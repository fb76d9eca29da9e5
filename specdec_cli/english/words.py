"""Sets of English function words, parsers of word tables written as text, and words that are formed of others (fastballer, untucked)."""

import re
from collections.abc import Collection, Mapping


def word_list(text: str) -> tuple[str, ...]:
    """The words of `text`, separated by white space, in order; `_` in a word stands for a space."""
    return tuple(word.replace("_", " ") for word in text.split())


def word_set(text: str) -> frozenset[str]:
    """The set of the words of `text`, separated by white space; `_` in a word stands for a space."""
    return frozenset(word_list(text))


def pairs(text: str) -> tuple[tuple[str, str], ...]:
    """The pairs (old, new) in `text`, which are written `old>new` and separated by white space, in order."""
    return tuple((old, new) for old, _, new in (pair.partition(">") for pair in text.split()))


def alternatives(text: str) -> Mapping[str, tuple[str, ...]]:
    """Parse lines `word: replacement replacement ...`; return the replacements by word, in order and with repetitions.

    A replacement given twice is meant to be chosen twice as often. `_` in a replacement stands for a space.
    """
    table = {}
    for line in text.strip().splitlines():
        word, _, others = line.partition(":")
        table[word] = word_list(others)
    return table


def confusable(text: str) -> Mapping[str, tuple[str, ...]]:
    """Parse lines of words that are confused with each other; return, for each word, the other words of all its lines.

    `_` in a word stands for a space.
    """
    table: dict[str, tuple[str, ...]] = {}
    for line in text.strip().splitlines():
        words = word_list(line)
        for word in words:
            table[word] = table.get(word, ()) + tuple(other for other in words if other != word)
    return table


ARTICLES = frozenset({"a", "an", "the"})
POSSESSIVES = word_set("my your his her its our their whose")
SINGULAR_DETERMINERS = word_set("a an this each every another either neither")
PLURAL_DETERMINERS = word_set("these those many several few both various numerous two three four five six seven eight nine ten dozens")
DETERMINERS = ARTICLES | POSSESSIVES | SINGULAR_DETERMINERS | PLURAL_DETERMINERS | word_set("that all some any no such what which other")

PREPOSITIONS = word_set(
    "in on at of for to from with by about into onto during through between among since until without within against "
    "across behind beside besides near under over above below toward towards upon after before around along despite"
)
CONJUNCTIONS = word_set("and but or so because although though if when while unless whereas nor yet once as than whether")

SINGULAR_SUBJECTS = word_set("he she it")
SUBJECTS = SINGULAR_SUBJECTS | word_set("i you we they")
RELATIVES = word_set("who which that")
QUESTION_WORDS = word_set("what where when why how who which")
OBJECTS = word_set("me you him her it us them myself himself herself itself themselves ourselves yourself")
OTHER_PRONOUNS = word_set(
    "mine yours hers ours theirs whom everyone everybody everything someone somebody something anyone anybody anything "
    "nobody nothing none one ones other others each there here"
)

BE = word_set("am is are was were be been being isn't aren't wasn't weren't i'm you're we're they're he's she's it's")
HAVE = word_set("have has had having haven't hasn't hadn't i've you've we've they've")
PERFECT = frozenset({"has", "have", "had"})
DO = word_set("do does did don't doesn't didn't")
MODALS = word_set(
    "can could will would shall should may might must cannot can't couldn't won't wouldn't shouldn't mustn't needn't "
    "i'll you'll he'll she'll it'll we'll they'll i'd you'd he'd she'd we'd they'd"
)
AUXILIARIES = BE | HAVE | DO | MODALS
PAST_AUXILIARIES = word_set("was were had did wasn't weren't hadn't didn't")

MIDDLE_ADVERBS = word_set("always never often usually also already just still only really even ever probably sometimes")
ADVERBS = MIDDLE_ADVERBS | word_set("not then now soon later again very too quite rather almost perhaps maybe however therefore")

# Words that can begin an object, and follow a verb more often than a noun.
OBJECT_STARTS = ARTICLES | POSSESSIVES | OBJECTS | word_set("this these that those everyone everything something nothing")

UNCOUNTABLE = word_set(
    "information advice knowledge equipment furniture homework research evidence luggage traffic progress money music "
    "software news weather feedback training education pollution violence behaviour behavior health luck happiness help "
    "work accommodation vocabulary clothing food water staff scenery jewellery jewelry transportation hardware"
)

# Words that are hardly ever nouns or verbs, although a table of word forms may list them as such.
CLOSED = (
    DETERMINERS | PREPOSITIONS | CONJUNCTIONS | SUBJECTS | RELATIVES | QUESTION_WORDS | OBJECTS | OTHER_PRONOUNS | AUXILIARIES | ADVERBS
) | word_set("more most less least much little up out off down back own same first last next well else per via mr mrs dr st etc")

_PREFIXES = word_list(
    "un re de dis over under out non pre post anti counter inter super sub mis co multi micro semi self fore mid auto bio"
)
_SUFFIXES = word_list(
    "s es ed er ers ing ings ly ish ise ize ised ized ises izes able ible less ness ful ism ist ists ity ation ative ive ment"
)
_ENDS = ("", "e", "y")
"""What a suffix takes from the end of a stem."""
_DOUBLED = re.compile(r"(.)\1\Z")
_STEM = 4
"""The fewest letters of a stem, and of each part of a compound."""


def is_formed(word: str, known: Collection[str]) -> bool:
    """Whether a word in small letters is formed of `known` words: fastballer, untucked."""
    stems = {word, *(word.removeprefix(prefix) for prefix in _PREFIXES if word.startswith(prefix))}
    for suffix in _SUFFIXES:
        for stem in [stem.removesuffix(suffix) for stem in stems if stem.endswith(suffix)]:
            stems |= {stem + end for end in _ENDS} | {_DOUBLED.sub(r"\1", stem)}
    if any(len(stem) >= _STEM and stem in known for stem in stems):
        return True
    return any(stem[:index] in known and stem[index:] in known for stem in stems for index in range(_STEM, len(stem) - _STEM + 1))
