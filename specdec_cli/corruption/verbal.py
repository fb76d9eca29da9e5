"""Errors of verbs: agreement, form, tense, missing and superfluous auxiliaries."""

from random import Random

from specdec_cli.corruption.context import determiner_of, is_about_past, is_singular, previous_word, verb_tag
from specdec_cli.corruption.tokens import Sentence, TokenEdit, delete_token, insert_word, replace_token
from specdec_cli.english.lexicon import form, inflected, readings, verb_lemma
from specdec_cli.english.words import DETERMINERS, DO, HAVE, MODALS, PERFECT, PREPOSITIONS, SUBJECTS, alternatives, word_set

_DISAGREEING = alternatives("""
is: are
are: is
was: were
were: was
has: have
have: has
does: do
do: does
isn't: aren't
aren't: isn't
wasn't: weren't
weren't: wasn't
hasn't: haven't
haven't: hasn't
doesn't: don't
don't: doesn't
""")
_PRESENT_FOR = {"was": "is", "were": "are", "had": "has", "did": "do", "could": "can", "would": "will", "didn't": "doesn't"}
_AMBIGUOUS = frozenset({"have", "do"})
_WRONG_FORMS = {
    ("VB", "to"): ("VBG", "VBG", "VBD", "VBZ"),
    ("VB", "modal"): ("VBZ", "VBG", "VBD", "VBN"),
    ("VB", "do"): ("VBD", "VBD", "VBZ", "VBG"),
    ("VBN", ""): ("VB", "VB", "VBD"),
    ("VBG", ""): ("VB",),
    ("VBZ", ""): ("VBG",),
    ("VBD", ""): ("VBG", "VB", "VB"),
}
# Verbs that take an infinitive or a form in -ing with about the same meaning.
_INFINITIVE_OR_ING = word_set("begin start continue like love hate prefer try remember forget stop cease intend attempt regret help")
_ENDING = word_set("don't didn't can't couldn't won't never please ago because since immediately suddenly soon wish must should")
_WITH_ING = word_set("enjoy avoid finish mind keep suggest consider imagine risk practise practice miss deny admit")


def agreement(sentence: Sentence, i: int, _: Random) -> TokenEdit | None:
    """Change the number of a finite verb: he go, people is, the results shows.

    Returns None if this error is impossible at token i.
    """
    word = sentence.words[i]
    others = _DISAGREEING.get(word)
    if others is not None:
        if (word in _AMBIGUOUS and _may_be_infinitive(sentence, i)) or (word in ("were", "was") and "if" in sentence.words):
            return None
        return replace_token(sentence, i, others[0])
    tag = verb_tag(sentence, i) or _after_modified_noun(sentence, i)
    if tag not in ("VBP", "VBZ"):
        return None
    return replace_token(sentence, i, form(word, tag, "VBZ" if tag == "VBP" else "VB"))


def _after_modified_noun(sentence: Sentence, i: int) -> str:
    """VBZ for `lives` in `one of my friends lives`, VBP for `live` in `my parents live in`; "" where neither is certain."""
    words, tags = sentence.words, readings(sentence.words[i])
    left = readings(words[i - 1])
    if "NNS" not in left or "NN" in left:
        return ""
    if "VBZ" in tags and "of" in words[max(i - 4, 0) : i - 1]:
        return "VBZ"
    return "VBP" if "VBP" in tags and "NN" not in tags and words[i + 1] in PREPOSITIONS and determiner_of(sentence, i - 1) >= 0 else ""


def _may_be_infinitive(sentence: Sentence, i: int) -> bool:
    """Whether `have` or `do` at i may be an infinitive: after an auxiliary, `to` or a preposition, or at the start of the line."""
    before = sentence.words[max(i - 4, 0) : i]
    return not before or any(word == "to" or word in MODALS or word in DO or word in PREPOSITIONS for word in before)


def verb_form(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace a verb form by one that is wrong in its context: can goes, to went, have went, he going, for go.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    tag = verb_tag(sentence, i)
    if not tag or tag == "VBP":
        return None
    word, position = sentence.words[i], previous_word(sentence, i)
    if tag == "VB":
        left = sentence.words[position]
        if left == "to" and random.random() < 0.3:
            return _without_to(sentence, i, position)
        if left != "to" and random.random() < 0.15:
            return _replace_because_of(sentence, i, f"to {word}", position)
        kind = "to" if left == "to" else "do" if left in DO else "modal"
    elif tag == "VBG" and sentence.words[position] == "for" and random.random() < 0.5:
        return _replace_because_of(sentence, i, f"to {form(word, tag, 'VB') or word}", position)
    elif tag in ("VBZ", "VBD") and not is_singular(sentence, i):
        return None
    else:
        kind = ""
    return _replace_because_of(sentence, i, form(word, tag, random.choice(_WRONG_FORMS[tag, kind])), position)


def _replace_because_of(sentence: Sentence, i: int, word: str, position: int) -> TokenEdit | None:
    """Replace token i by `word`, which is an error because of the token at `position`."""
    edit = replace_token(sentence, i, word)
    return edit and edit.covering(max(position, 0), i)


def _without_to(sentence: Sentence, i: int, position: int) -> TokenEdit | None:
    """Replace `decided to go` by `decided going`; None if both are right."""
    lemma = verb_lemma(sentence.words[position - 1])
    going = form(sentence.words[i], "VB", "VBG")
    if not lemma or lemma in _INFINITIVE_OR_ING or not going or position != i - 1:
        return None
    return TokenEdit(sentence.tokens[position].start, sentence.tokens[i].end, going, position - 1, i)


def infinitive(sentence: Sentence, i: int, _: Random) -> TokenEdit | None:
    """Replace a form in -ing by an infinitive after a verb that requires -ing: enjoy to read.

    Returns None if this error is impossible at token i.
    """
    word, lemma = sentence.words[i], verb_lemma(sentence.words[i - 1])
    ends = lemma == "stop" and not _ENDING.isdisjoint(sentence.words)  # else "stopped to smoke" may be right
    base = form(word, "VBG", "VB") if ends or lemma in _WITH_ING else ""
    return _replace_because_of(sentence, i, f"to {base}", i - 1) if base else None


def tense(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Change the tense of a verb where another word (ago, yesterday, was, since) shows that the original tense is right.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    word = sentence.words[i]
    if word in _PRESENT_FOR:
        return replace_token(sentence, i, _PRESENT_FOR[word]) if is_about_past(sentence, i) else None
    if word in ("has", "have") and "VBN" in readings(sentence.words[i + 1]):
        return _without_have(sentence, i, random)
    tag = verb_tag(sentence, i)
    if tag != "VBD" or not is_about_past(sentence, i):
        return None
    singular = is_singular(sentence, i)
    lemma = readings(word)[tag]
    if random.random() < 0.25 and any(time in sentence.words for time in ("ago", "yesterday", "last")):
        return replace_token(sentence, i, f"{'has' if singular else 'have'} {inflected(lemma, 'VBN') or word}")
    return replace_token(sentence, i, inflected(lemma, "VBZ") if singular else lemma)


def _without_have(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace `has lived here since 1990` by `lives here since 1990` or `lived here since 1990`."""
    if "since" not in sentence.words[i:] or i in sentence.initials or sentence.words[i - 1] in MODALS | HAVE:
        return None
    word = sentence.words[i + 1]
    lemma = readings(word)["VBN"]
    present = inflected(lemma, "VBZ" if sentence.words[i] == "has" else "VB")
    new = random.choice((present, inflected(lemma, "VBD")))
    return TokenEdit(sentence.tokens[i].start, sentence.tokens[i + 1].end, new, i, i + 1) if new else None


def irregular_form(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Use a regular ending for an irregular form, or ignore a spelling rule: goed, childs, citys, writeing, stoped.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    if not sentence.is_plain(i):
        return None
    word, tags = sentence.words[i], readings(sentence.words[i])
    for tag, ending in (("VBD", "ed"), ("VBN", "ed"), ("VBG", "ing"), ("NNS", "s"), ("VBZ", "s")):
        lemma = tags.get(tag, "")
        if not lemma or word in SUBJECTS or len(lemma) < 3 or lemma == word:
            continue
        plain = lemma + (ending[1:] if ending == "ed" and lemma.endswith("e") else ending)
        if plain != word and not readings(plain) and (tag != "VBG" or random.random() < 0.3):
            return replace_token(sentence, i, plain)
    return None


_BE = word_set("am is are was were been be")
_DO = frozenset({"do", "does", "did"})
_SINGULAR_MODALS = word_set("will would can could should must may might")
_BEFORE_PRESENT = {"i": "am", "he": "is", "she": "is", "it": "is", "you": "are", "we": "are", "they": "are"}
_SHARE_OF_BASE_FORMS = 0.6


def auxiliary_drop(sentence: Sentence, i: int, _: Random) -> TokenEdit | None:
    """Remove a form of be, have or do, or a modal, where the sentence is wrong without it.

    Returns None if this error is impossible at token i.
    """
    words = sentence.words
    word, following = words[i], words[i + 1]
    if i in sentence.initials or not sentence.is_wordlike(i - 1):
        return None
    tags = readings(following)
    if word in _BE:
        fits = bool(tags.keys() & {"VBG", "VBN", "JJ", "RB"}) or following in DETERMINERS
    elif word in PERFECT:
        fits = following == "been" or ("VBN" in tags and "VBD" not in tags)
    elif word in _DO:
        fits = following == "not"
    elif word in _SINGULAR_MODALS:
        fits = following in ("be", "not") or (is_singular(sentence, i) and verb_tag(sentence, i + 1) == "VB")
    else:
        return None
    edit = delete_token(sentence, i) if fits else None
    return edit and edit.covering(i, i + 1)


def auxiliary_insert(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Insert a form of be before a finite verb: I am agree, she is agree, they were went, it is depends.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    words = sentence.words
    left = words[i - 1]
    if left not in SUBJECTS or words[i] in MODALS or words[i] in HAVE:
        return None
    position = previous_word(sentence, i)
    tag = verb_tag(sentence, i) if position == i - 1 else ""
    if tag == "VBZ" and random.random() < _SHARE_OF_BASE_FORMS:
        edit = replace_token(sentence, i, f"is {form(words[i], tag, 'VB') or words[i]}")
        return edit and edit.covering(i - 1, i)
    if tag in ("VBP", "VBZ"):
        return insert_word(sentence, i, _BEFORE_PRESENT[left]).covering(i - 1, i)
    if tag == "VBD" and "VBN" not in readings(words[i]):
        return insert_word(sentence, i, "was" if left in ("i", "he", "she", "it") else "were").covering(i - 1, i)
    return None
