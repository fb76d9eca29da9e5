"""Errors of clauses: function words, word order, and constructions transferred from other languages (I want that you come)."""

from random import Random

from specdec_cli.corruption.context import verb_tag
from specdec_cli.corruption.tokens import NUMBER, Sentence, TokenEdit, delete_token, insert_word, match_case, replace_token, swap_tokens
from specdec_cli.english.lexicon import form, inflected, readings, verb_lemma
from specdec_cli.english.words import (
    ARTICLES,
    AUXILIARIES,
    BE,
    CLOSED,
    DO,
    MIDDLE_ADVERBS,
    MODALS,
    OBJECTS,
    POSSESSIVES,
    QUESTION_WORDS,
    RELATIVES,
    SUBJECTS,
    alternatives,
    pairs,
    word_set,
)

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
_SHARE_OF_DOUBLED_WORDS = 0.03
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
    if words[i] not in CLOSED and random.random() >= _SHARE_OF_DOUBLED_WORDS:
        return None
    end = sentence.tokens[i].end
    return TokenEdit(end, end, f" {'I' if words[i] == 'i' else words[i]}", i, i)


_OFTEN_SWAPPED = word_set("such enough so very too not all both just")
_SHARE_OF_SWAPPED_NOUNS = 0.15
_SHARE_OF_OTHER_SWAPS = 0.01


def word_order(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Swap two adjacent words: adverb and verb, adjective and noun, or subject and auxiliary of a question; rarely any two words.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    words = sentence.words
    word, following = words[i], words[i + 1]
    if not following.isalpha() or word == following:
        return None
    adverb = (word in MIDDLE_ADVERBS and (following in AUXILIARIES or verb_tag(sentence, i + 1) != "")) or (
        following in MIDDLE_ADVERBS and (word in AUXILIARIES or verb_tag(sentence, i) != "")
    )
    left = words[i - 1]
    question = left in QUESTION_WORDS and (
        (word in AUXILIARIES and following in SUBJECTS)
        or (word in SUBJECTS and following in AUXILIARIES and i - 1 not in sentence.initials)
    )
    if adverb or question or (word in _OFTEN_SWAPPED and random.random() < _SHARE_OF_SWAPPED_NOUNS):
        edit = swap_tokens(sentence, i)
        return edit and edit.covering(i - 1, i + 1) if question else edit
    if not (sentence.is_plain(i) and sentence.is_plain(i + 1)):
        return None
    described = "JJ" in readings(word) and "NN" not in readings(word) and readings(following).keys() & {"NN", "NNS"}
    open_class = bool(readings(word)) and bool(readings(following))
    share = _SHARE_OF_SWAPPED_NOUNS if described else _SHARE_OF_OTHER_SWAPS if open_class else 0.0
    return swap_tokens(sentence, i) if random.random() < share else None


_SUBJECT_OF = dict(pairs("me>i him>he her>she it>it us>we them>they you>you"))
_OBJECT_OF = {subject: object_ for object_, subject in _SUBJECT_OF.items()}
_EXPLAINING = word_set("explain describe introduce mention")
_SUGGESTING = word_set("suggest recommend propose")
_CONDITIONS = word_set("when if before after until unless while once")
_TO_BEFORE_NOUNS = word_set("forward accustomed committed devoted addicted opposed")
_WILL = word_set("will won't i'll you'll he'll she'll it'll we'll they'll can shall")
_WOULD = word_set("would wouldn't could couldn't i'd you'd he'd she'd we'd they'd might")
_HAVE_FOR = {"am": "have", "are": "have", "is": "has", "was": "had", "were": "had", "be": "have", "been": "had"}
_HAVE_FOR_CONTRACTED = {
    "i'm": "i have",
    "he's": "he has",
    "she's": "she has",
    "you're": "you have",
    "we're": "we have",
    "they're": "they have",
}
_FEELINGS = dict(
    pairs("hungry>hungry thirsty>thirsty cold>cold hot>hot afraid>fear scared>fear sleepy>sleep lucky>luck right>right wrong>wrong")
)
_AGES = word_set("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty")
_BE_FOR = {"i": "am", "you": "are", "we": "are", "they": "are"}
_PRESENT_PERFECT = frozenset({"has", "have"})
_PHRASE_STARTS = ARTICLES | POSSESSIVES | {"this", "that", "these", "those"}
_FINAL_ADVERBS = ("very much", "a lot", "very well")


def complement(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Change the complement of a verb: look forward to meet, made me to wait, want that you come, explain me the rules.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    words = sentence.words
    lemma, following = verb_lemma(words[i]), words[i + 1]
    if words[i] == "to" and (words[i - 1] in _TO_BEFORE_NOUNS or (words[i - 1] == "used" and words[i - 2] in BE | {"get", "got"})):
        edit = replace_token(sentence, i + 1, form(following, "VBG", "VB"))
        return edit and edit.covering(i - 1, i + 1)
    if lemma in ("make", "let") and following in _SUBJECT_OF and words[i + 2].isalpha():
        others = {"JJ", "NN"} if following == "her" else {"JJ"}  # "made her wait", but "made her coffee"
        bare = readings(words[i + 2]).keys() & ({"VB"} | others) == {"VB"}
        return insert_word(sentence, i + 2, "to").covering(i, i + 2) if bare else None
    if lemma == "want" and following in _SUBJECT_OF and words[i + 2] == "to" and "VB" in readings(words[i + 3]):
        subject = _SUBJECT_OF[following]
        verb = words[i + 3]
        if subject in ("he", "she", "it") and random.random() < 0.5:
            verb = inflected(verb, "VBZ") or verb
        return _rewrite(sentence, i + 1, i + 3, f"that {'I' if subject == 'i' else subject} {verb}").covering(i, i + 3)
    if lemma in _SUGGESTING and following == "that" and words[i + 2] in _OBJECT_OF:
        return _suggested(sentence, i)
    if lemma in _EXPLAINING | _SUGGESTING:
        return _object_first(sentence, i)
    if lemma == "tell" and following in OBJECTS:
        edit = replace_token(sentence, i, inflected("say", verb_tag(sentence, i) or next(iter(readings(words[i])))))
        return edit and edit.covering(i, i + 1)
    return None


def _suggested(sentence: Sentence, i: int) -> TokenEdit | None:
    """Replace `suggested that I (should) take` by `suggested me to take`."""
    words = sentence.words
    verb = i + 3 + (words[i + 3] == "should")
    lemma = words[verb] if words[verb] in ("be", "have", "do") else readings(words[verb]).get("VB", "")
    if not lemma:
        return None
    edit = _rewrite(sentence, i + 1, verb, f"{_OBJECT_OF[words[i + 2]]} to {lemma}")
    return edit.covering(i, verb)


def _object_first(sentence: Sentence, i: int) -> TokenEdit | None:
    """Replace `explain the rules to me` by `explain me the rules`."""
    words = sentence.words
    for position in range(i + 2, min(i + 5, len(sentence.tokens) - 1)):
        if words[position] == "to" and words[position + 1] in OBJECTS and words[i + 1] in _PHRASE_STARTS:
            middle = sentence.text[sentence.tokens[i + 1].start : sentence.tokens[position - 1].end]
            return _rewrite(sentence, i + 1, position + 1, f"{words[position + 1]} {middle}").covering(i, position + 1)
    return None


def clause_tense(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Change the tense of a clause: when I will arrive, if I would have time, she is living here since 2010.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    words = sentence.words
    if words[i] in _CONDITIONS and words[i + 1] in SUBJECTS:
        return _condition(sentence, i)
    if words[i] not in _PRESENT_PERFECT or i == 0 or not {"since", "for"} & set(words[i + 2 :]):
        return None
    subject = words[i - 1]
    if subject not in SUBJECTS:
        return None
    singular = words[i] == "has"
    if words[i + 1] == "been" and "VBG" in readings(words[i + 2]):
        progressive = f"{'is' if singular else _BE_FOR[subject]} {words[i + 2]}"
        new = progressive if random.random() < 0.7 else form(words[i + 2], "VBG", "VBZ" if singular else "VB")
        return _rewrite(sentence, i, i + 2, new).covering(i - 1, i + 2) if new else None
    if "VBN" in readings(words[i + 1]):
        new = form(words[i + 1], "VBN", "VBZ" if singular else "VB")
        return _since(sentence, i, new, random).covering(i - 1, i + 1) if new else None
    return None


def _since(sentence: Sentence, i: int, verb: str, random: Random) -> TokenEdit:
    """Replace `have known him for ten years` by `know him for ten years`, or by `know him since ten years`; `verb` is `know`."""
    words, tokens = sentence.words, sentence.tokens
    for position in range(i + 2, min(i + 6, len(tokens))):
        if words[position] == "for" and random.random() < 0.5:
            middle = sentence.text[tokens[i + 1].end : tokens[position].start]
            return _rewrite(sentence, i, position, f"{verb}{middle}since")
    return _rewrite(sentence, i, i + 1, verb)


def _condition(sentence: Sentence, i: int) -> TokenEdit | None:
    """Replace `when I arrive, I will` by `when I will arrive, I will`; `if I had time, I would` by `if I would have time`."""
    words = sentence.words
    verb, subject = words[i + 2], words[i + 1]
    tags = readings(verb)
    others = set(words[:i] + words[i + 3 :])
    if others & _WILL and words[i] != "while":
        if verb in ("am", "is", "are"):
            return _rewrite(sentence, i + 2, i + 2, "will be").covering(i, i + 2)
        singular = subject in ("he", "she", "it")
        lemma = tags.get("VBZ" if singular else "VB", "have" if verb in ("has", "have") else "")
        return _rewrite(sentence, i + 2, i + 2, f"will {lemma}").covering(i, i + 2) if lemma else None
    if words[i] == "if" and others & _WOULD:
        if verb in ("were", "was"):
            return _rewrite(sentence, i + 2, i + 2, "would be").covering(i, i + 2)
        lemma = "have" if verb == "had" else tags.get("VBD", "")
        following = readings(words[i + 3])
        if not lemma or (verb == "had" and "VBN" in following):
            return None
        return _rewrite(sentence, i + 2, i + 2, f"would {lemma}").covering(i, i + 2)
    return None


def state_of_having(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace `be` by `have`: I have 25 years old, she has ten years, I have cold.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    words = sentence.words
    have = _HAVE_FOR.get(words[i]) or _HAVE_FOR_CONTRACTED.get(words[i])
    if have is None:
        return None
    if (words[i + 1] == NUMBER or words[i + 1] in _AGES) and words[i + 2] in ("years", "year") and words[i + 3] == "old":
        number = sentence.text[sentence.tokens[i + 1].start : sentence.tokens[i + 2].end]
        tail = " old" if random.random() < 0.5 else ""
        return _rewrite(sentence, i, i + 3, f"{have} {number}{tail}")
    felt = _FEELINGS.get(words[i + 1])
    if felt is not None and not sentence.is_wordlike(i + 2):
        return _rewrite(sentence, i, i + 1, f"{have} {felt}")
    return None


def clause_order(sentence: Sentence, i: int, _: Random) -> TokenEdit | None:
    """Change the order of a clause: I like very much this song, tell me where is the station, I don't know what does it mean.

    Returns None if this error is impossible at token i.
    """
    words = sentence.words
    if words[i] in QUESTION_WORDS and i not in sentence.initials and words[i - 1] not in (",", "-"):
        return _indirect_question(sentence, i)
    if verb_tag(sentence, i) and words[i + 1] in _PHRASE_STARTS | OBJECTS:
        for position in range(i + 2, min(i + 6, len(sentence.tokens) - 1)):
            adverb = f"{words[position]} {words[position + 1]}"
            if adverb in _FINAL_ADVERBS and not sentence.is_wordlike(position + 2):
                middle = sentence.text[sentence.tokens[i + 1].start : sentence.tokens[position - 1].end]
                return _rewrite(sentence, i + 1, position + 1, f"{adverb} {middle}").covering(i, position + 1)
    return None


def _indirect_question(sentence: Sentence, i: int) -> TokenEdit | None:
    """Put an indirect question in the order of a direct one."""
    words = sentence.words
    if words[i + 1] in _PHRASE_STARTS:
        for position in range(i + 3, min(i + 5, len(sentence.tokens))):
            if words[position] in ("is", "are", "was", "were") and not sentence.is_wordlike(position + 1):
                subject = sentence.text[sentence.tokens[i + 1].start : sentence.tokens[position - 1].end]
                return _rewrite(sentence, i + 1, position, f"{words[position]} {subject}").covering(i, position)
        return None
    subject, verb = words[i + 1], words[i + 2]
    if subject not in SUBJECTS or verb in MODALS | BE | DO:
        return None
    tags = readings(verb)
    if subject in ("he", "she", "it"):
        do, lemma = ("does", tags["VBZ"]) if "VBZ" in tags else ("did", tags.get("VBD", ""))
    else:
        do, lemma = ("do", tags["VB"]) if "VB" in tags else ("did", tags.get("VBD", ""))
    shown = sentence.tokens[i + 1].text
    return _rewrite(sentence, i + 1, i + 2, f"{do} {shown} {lemma}").covering(i, i + 2) if lemma else None


def _rewrite(sentence: Sentence, first: int, last: int, text: str) -> TokenEdit:
    """Replace tokens `first` to `last` by `text`, capitalised like the first token."""
    tokens = sentence.tokens
    head, space, rest = text.partition(" ")
    head = match_case(head, tokens[first].text, first in sentence.initials) if head.islower() else head
    return TokenEdit(tokens[first].start, tokens[last].end, head + space + rest, first, last)
