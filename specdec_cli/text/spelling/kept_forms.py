"""Forms that are right in some styles and varieties of English, which corrections leave as they are: headlines without articles, chats
in small letters, commands, British collective nouns and verbs.
"""

import re

from specdec_cli.english.words import ARTICLES, PLURAL_DETERMINERS, POSSESSIVES, SUBJECTS, word_set
from specdec_cli.text.edits import Edit, count_words
from specdec_cli.text.marks import STOPS
from specdec_cli.text.protect.spans import protected_spans
from specdec_cli.text.spelling.kept_words import technical_names

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_MARKS = str.maketrans("", "", " ,.;:!?")
_LONGEST_OF_CHAT = 12
"""The most words of a line of a chat in small letters."""
_SENTENCE_WORDS = ARTICLES | POSSESSIVES | SUBJECTS | {"there", "this", "that", "these", "those"}
_VERBS = {("is", "are"), ("are", "is"), ("was", "were"), ("were", "was"), ("has", "have"), ("have", "has")}
_AMOUNT = re.compile(
    r"\b(?:[\d,.]+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|[a-z]+ty|hundred|thousand|million|few|several|many) "
    r"(?:pounds|dollars|euros|cents|pence|yen|francs|kilometres|kilometers|metres|meters|miles|feet|inches|kilos|grams|litres|liters|gallons"
    r"|degrees|percent|seconds|minutes|hours|days|nights|weeks|months|years) $",
    re.IGNORECASE,
)
"""A number of units before a verb."""
_GROUP = re.compile(
    r"\b(?:the|this|that|our|my|your|his|her|their|its) (?:[a-z]+ )?(?:team|family|group|public|staff|band|crew|class|club|committee"
    r"|company|council|audience|crowd|army|jury|government|ministry|department|board|party|press|majority|minority|couple|pair|side) $",
    re.IGNORECASE,
)
"""A collective noun before a verb."""
_DEMANDED = re.compile(
    r"\b(?:demand|insist|suggest|recommend|propose|require|request|ask|advise|urge|important|essential|vital|crucial|necessary|imperative)"
    r"(?:s|ed|d|ing)? that (?:[\w'\u2019]+ ){1,4}$",
    re.IGNORECASE,
)
"""What is before the verb of a demand: that he leave."""
_VARIABLE, _OF_FORMULA = (
    re.compile(
        r"\b(?:variable|index|counter|letter|integer|int|parameter|element|value|number|for|node|row|column|step|item) $", re.IGNORECASE
    ),
    re.compile(r"\s?(?:[=<>+*/^-]|is (?:an? )?(?:int|integer|index|counter|variable|number|zero|even|odd)\b|(?:and|,) [jk]\b)"),
)
"""What is before or after a variable i."""
_COMMAND = re.compile(
    r"(?:(?:^|[.:;!?] )|\b(?:run|running|use|using|type|execute|enter|try|via|with|then|and|or|do|call)) (?P<name>[a-z][a-z0-9-]*) $",
    re.IGNORECASE,
)
"""The name of a program after a word such as "run"."""
_SUBCOMMANDS = word_set("install update upgrade init build run start stop test commit push pull clone add get compose exec deploy list")
_BEFORE_SIGN = re.compile(r"\s?\w*\s?(?:[=<>!]=?|:=)\s")
_PARENT_FOLDER = re.compile(r"\b(?:cd|ls|cp|mv|dir) \.\.(?!\.)")
_OBJECT = re.compile(r"[.,;:!?]|$| (?:to|and|not|with|for|in|so|more)\b")
"""What follows "thee", an object."""
_ARTICLE_AT_END = re.compile(r"(?:^|\s)(?:an?|the)\s?$", re.IGNORECASE)
_VARIANTS = re.compile(r"(practi|licen)([sc])(e[sd]?|ing)$")
_NO_PLURAL = re.compile(
    r" ?(?:[a-z]+ )?(?:information|advice|furniture|luggage|baggage|homework|housework|equipment)\b(?! [a-z]+s?\b(?<!for)(?<!in))"
)
"""A noun without a plural, which gets no article, unless it is a part of a compound."""
_HOSPITAL, _LONGEST_PLACE = re.compile(r"\b(?:to|in|into|from|at) (?:hospital|university)"), 10
_OF_NOUN = re.compile(r"\b(?:an?|the|in|of|with|into|good|best|common|my|your|his|her|our|their|this|more|much|some|and) $", re.IGNORECASE)


def changes_form(text: str, edit: Edit, *, latin: bool = False) -> bool:
    """Whether an edit of a sentence `text` changes one of these forms, but those of `keeps_small_letters`."""
    return (
        changes_verb(text, edit)
        or changes_variant(text, edit)
        or changes_code(text, edit)
        or (edit.text.strip() in ("a", "an") and not edit.source and _NO_PLURAL.match(text, edit.end) is not None)
        or (edit.source.lower() == "thee" and _OBJECT.match(text, edit.end) is not None)
        or (is_telegraphic(text) and _completes(text, edit))
        or (_ARTICLE_AT_END.search(edit.text) is not None and _is_before_span(text, edit, latin=latin))
    )


def changes_verb(text: str, edit: Edit) -> bool:
    """Whether an edit only changes the form of a verb that may be right: behind an amount (ten pounds is too much), a collective noun (the
    team are), or in a demand (that he leave).
    """
    if (edit.source, edit.text) in _VERBS:
        before = text[: edit.start]
        return _AMOUNT.search(before) is not None or (edit.source in ("are", "were", "have") and _GROUP.search(before) is not None)
    base, new = edit.source, edit.text
    is_finite = base.isalpha() and (
        new in (f"{base}s", f"{base}es", f"{base}d", f"{base}ed") or (base == "be" and new in ("is", "was", "are"))
    )
    return is_finite and _DEMANDED.search(text, 0, edit.start) is not None


def changes_variant(text: str, edit: Edit) -> bool:
    """Whether an edit writes a verb such as the British "practise" in the American way, or adds the article of "to hospital"."""
    if edit.text in ("the ", " the") and _HOSPITAL.search(f"{text[: edit.start].rstrip()} {text[edit.end :].lstrip()[:_LONGEST_PLACE]}"):
        return True
    old, new = _VARIANTS.search(edit.source.lower()), _VARIANTS.search(edit.text.lower())
    return old is not None and new is not None and old[1] == new[1] and old[2] == "s" and _OF_NOUN.search(text, 0, edit.start) is None


def changes_code(text: str, edit: Edit) -> bool:
    """Whether an edit makes the pronoun "I" of a variable or a plural of a word of a command (run npm install), or is beside a sign such as
    = or the name of the parent folder (cd ..).
    """
    if _BEFORE_SIGN.match(text, edit.end) or any(
        edit.start < each.end() and each.start() < edit.end for each in _PARENT_FOLDER.finditer(text)
    ):
        return True
    if (edit.source, edit.text) == ("i", "I"):
        return _VARIABLE.search(text, 0, edit.start) is not None or _OF_FORMULA.match(text, edit.end) is not None
    if edit.text.removesuffix("s") != edit.source.removesuffix("s"):
        return False
    found = _COMMAND.search(text, 0, edit.start)
    return found is not None and (edit.source in _SUBCOMMANDS or found["name"] in technical_names())


def is_telegraphic(text: str) -> bool:
    """Whether a text has the style of headlines and notes: no stop at its end, and no articles, possessives, or pronouns as subjects."""
    words = [word.lower() for word in _WORD.findall(text)]
    return text.rstrip()[-1:] not in tuple(STOPS) and len(words) > 1 and _SENTENCE_WORDS.isdisjoint(words)


def _completes(text: str, edit: Edit) -> bool:
    """Whether an edit only adds articles, or a plural that no word before it needs."""
    old, new = ([word.lower() for word in _WORD.findall(part)] for part in (edit.source, edit.text))
    if len(new) > len(old) == sum(word not in ARTICLES for word in new):
        return True
    before = _WORD.findall(text[: edit.start].lower())[-1:]
    return edit.text == f"{edit.source}s" and not any(word in PLURAL_DETERMINERS or word.isdecimal() for word in before)


def _is_before_span(text: str, edit: Edit, *, latin: bool) -> bool:
    """Whether a protected span is directly after an edit: a file name or a placeholder needs no article."""
    place = len(text) - len(text[edit.end :].lstrip())
    return not _ARTICLE_AT_END.search(edit.source) and any(start == place for start, _ in protected_spans(text, latin=latin))


def is_in_small_letters(line: str) -> bool:
    """Whether a line is short, in small letters throughout, and ends without a full stop, as those of chats do."""
    return line.islower() and line[0].isalpha() and line.rstrip()[-1:] != "." and count_words(line) <= _LONGEST_OF_CHAT


def is_of_case(edit: Edit) -> bool:
    """Whether an edit changes only capitals and marks."""
    return edit.source.lower().translate(_MARKS) == edit.text.lower().translate(_MARKS)
