"""Correction of misspelt and confused words, and the words by which they are found: a lexicon, and those with similar consonants."""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path

from specdec_cli.english.words import is_formed
from specdec_cli.errors import InputError, ModelError
from specdec_cli.files import check_regular, write_text
from specdec_cli.language_codes import short_code
from specdec_cli.text.edits import Edit
from specdec_cli.text.io.lines import read_text_lines
from specdec_cli.text.locale.languages import DETECTED, guess_language, is_function_word
from specdec_cli.text.protect.spans import without_protected
from specdec_cli.text.spelling.constructions import construction_edits, named_edits, phrase_edits, rule_names
from specdec_cli.text.spelling.kept_words import LENGTHENED, PREFIXED, WITHOUT_VOWELS, WORD, chat_words, technical_names
from specdec_cli.text.spelling.ngrams import SCORE_WEIGHT, NgramModel

_SOUNDS = ((b"ph", b"f"), (b"ck", b"k"), (b"q", b"k"), (b"z", b"s"), (b"tion", b"sn"), (b"sion", b"sn"), (b"wr", b"r"), (b"kn", b"n"))
"""Letters that sound like others."""
_VOWELS = "aeiouy"
_BEGINNINGS = (*((b"\n%c" % vowel, b"\n\x01") for vowel in _VOWELS.encode()), (b"\nh", b"\n\x02"), (b"\n'", b"\n\x03"))
"""First letters that are kept, and what stands for them while such letters are deleted."""
_KEPT, _DELETED = bytes.maketrans(b"\x01\x02\x03", b"ah'"), b"aeiouyh'"
_DOUBLED = re.compile(rb"(.)(?=\1)")
_CONSONANTS = "bcdfgjklmnprstvwx"
_FEWEST = 3
"""Consonants of the shortest skeleton that is compared: shorter ones stand for too many words."""


def skeletons(words: Iterable[str]) -> list[str]:
    """The first letter of each word in small letters (all vowels are one) and its consonants, each written once and some as others.

    All words are one text of bytes while they are changed: that takes a fraction of the time of one after the other.
    """
    text = "\n".join(["", *words]).encode()
    for old, new in (*_SOUNDS, *_BEGINNINGS):
        text = text.replace(old, new)
    return _DOUBLED.sub(b"", text.translate(_KEPT, _DELETED)).decode().split("\n")[1:]


def skeleton(word: str) -> str:
    """The skeleton of one word (see `skeletons`)."""
    return skeletons([word])[0]


def is_like(word: str, other: str) -> bool:
    """Whether two words have the same skeleton."""
    return skeleton(word) == skeleton(other)


class Skeletons:
    """The words that `read` returns, which are sorted, by their skeletons. Those with one first letter are prepared when a word that begins
    so is looked up.
    """

    def __init__(self, read: Callable[[], Sequence[str]]) -> None:
        self._read = read
        self._of_letter = cache(self._prepared)

    def _prepared(self, letter: str) -> dict[str, list[str]]:
        words, found = self._read(), defaultdict(list)
        for first in _VOWELS if letter == "a" else letter:
            same = words[bisect_left(words, first) : bisect_left(words, chr(ord(first) + 1))]
            for own, word in zip(skeletons(same), same, strict=True):
                found[own].append(word)
        return found

    def similar(self, word: str) -> Iterator[tuple[str, int]]:
        """Yield the words with the skeleton of `word`, or one that differs from it by one consonant or by the order of two, each with the
        number of letters in which it differs from `word`, if that is at most a third of them.
        """
        own = skeleton(word)
        if len(own) < _FEWEST:
            return
        known, most = self._of_letter(own[0]), len(word) // 3
        letters = Counter(word).items()
        for other in {own, *_near(own)}.intersection(known):
            for candidate in known[other]:
                longer = len(candidate) - len(word)
                if abs(longer) > most:
                    continue
                missing = sum(count - present for letter, count in letters if (present := candidate.count(letter)) < count)
                if max(missing, missing + longer) <= most and (slips := distance(word, candidate)) <= most:
                    yield candidate, slips


def _near(own: str) -> set[str]:
    parts = [(own[:index], own[index:]) for index in range(1, len(own) + 1)]
    found = {before + after[1] + after[0] + after[2:] for before, after in parts if len(after) > 1}
    found |= {before + after[1:] for before, after in parts if after}
    found |= {before + letter + after for before, after in parts for letter in _CONSONANTS}
    return found | {before + letter + after[1:] for before, after in parts if after for letter in _CONSONANTS}


def distance(first: str, second: str) -> int:
    """The least number of letters that are inserted, removed, replaced, or exchanged with the next one, to make one word of the other."""
    before, row = [0] * (len(second) + 1), list(range(len(second) + 1))
    for number, letter in enumerate(first, start=1):
        earlier, before, row = before, row, [number]
        for place, other in enumerate(second, start=1):
            least = min(before[place] + 1, row[-1] + 1, before[place - 1] + (letter != other))
            if number > 1 and place > 1 and letter == second[place - 2] and first[number - 2] == other:
                least = min(least, earlier[place - 2] + 1)
            row.append(least)
    return row[-1]


FILE = "lexicon.txt"
"""The name of the lexicon's file in a bundle. Each line has one word, in lower case unless it is a name."""


@cache
def usual_misspellings() -> dict[str, str]:
    """What is meant by misspellings that are frequent, but differ too much from the right word, or too little from another one, to be
    corrected without this list (misspellings.txt: in each line a misspelling, TAB, and the right word or words). Small letters.
    """
    lines = Path(__file__).with_name("misspellings.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


class Lexicon:
    """A set of known words. `read` returns the words; it is called when the attribute `words` is used for the first time."""

    def __init__(self, read: Callable[[], Iterable[str]]) -> None:
        self._read = read

    @cached_property
    def sorted_words(self) -> list[str]:
        """The words, sorted. Raises ModelError if their file cannot be read."""
        return sorted(self._read())

    @cached_property
    def words(self) -> frozenset[str]:
        """The words. Raises ModelError if their file cannot be read."""
        return frozenset(self.sorted_words)

    @classmethod
    def of_file(cls, path: Path) -> "Lexicon":
        """Make a lexicon of the words in the file `path`, which is read later. Raises ModelError if there is no such file."""
        check_regular(path, ModelError)
        if not path.exists():
            raise ModelError(f"{path}: no such file")
        return cls(lambda: _words(path))

    @classmethod
    def of_lists(cls, paths: Iterable[Path]) -> "Lexicon":
        """Make a lexicon from word lists: text files with one word per line. Words that end with "'s" are left out.

        Raises InputError for a file that cannot be read, for a line with more than one word, and for lists without any word.
        """
        words = set()
        for path in paths:
            for number, line in enumerate(read_text_lines(path), start=1):
                if len(line.split()) > 1:
                    raise InputError(f"{path}, line {number}: more than one word: {line[:40]!r}")
                word = line.strip()
                if word and not word.endswith("'s"):
                    words.add(word)
        if not words:
            raise InputError("the word lists have no words")
        return cls(lambda: words)

    def save(self, path: Path) -> None:
        """Write the words to a file, atomically."""
        content = "".join(f"{word}\n" for word in self.sorted_words)
        write_text(path, content)


def _words(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").split()
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: {error}") from error


_SENTENCE_START = re.compile(r"(?:^|[a-z]{3}[.!?][\"')]*\s)\W*$")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz'"
_SHORTEST = 4
"""Number of letters of the shortest word that is corrected: most shorter unknown words are abbreviations."""
_LEAST = 5
"""A word that is not in the lexicon is known if its count is at least this. A word, or a pair of words, that replaces another one must have
this count too.
"""
_FOREIGN, _MOSTLY_FOREIGN = 1 / 2, 3 / 4
"""If more than the first share of the words are unknown and no misspellings, or more than the second one unknown, the text is not
corrected: it is probably in another language. Nor is it if two or more are unknown and most of its function words are those of another
language.
"""
_LEAST_OWN = 2
"""If more than the first share of the words are unknown, the text must have this many function words of the language."""
_COST, _COST_OF_LETTER, _MOST_LETTERS = 21.5, 1.5, 11
"""The cost of a misspelling (its negative log probability) is _COST minus _COST_OF_LETTER for each letter of the word, of which at most
_MOST_LETTERS count. It decreases with the length, because a long unknown word seldom differs by chance in only one letter from a known one.
"""
_USUAL, _FIRST_LETTER, _NAME, _SECOND = -3.0, 3.0, 5.0, 6.0
"""These are added to the cost. _USUAL: of the most frequent misspellings, which are a letter written once instead of twice, or the
reverse, two exchanged letters, and another vowel. _FIRST_LETTER: if the first letter changes. _NAME: for a word with a capital letter,
which may be a name. _SECOND: for two such misspellings in a word.
"""
_SHORTEST_TWICE = 7
"""Number of letters of the shortest word in which two misspellings are corrected."""
_SHORTEST_LIKE = 6
"""Number of letters of the shortest word for which one with similar consonants is put, if none differs by less."""
_LIKE, _SAME, _MORE_SLIPS = 9.0, 9.0, 4.0
"""These are added to the cost of such a word, or subtracted if the consonants are the same, or added for each letter more than two that is
wrong.
"""
_LISTED_COST = 2.0
"""The cost of a misspelling that is listed (see `usual_misspellings`)."""
_CONFUSED = (
    *(("a", "an"), ("its", "it's"), ("your", "you're"), ("their", "there", "they're"), ("then", "than"), ("whose", "who's")),
    *(("affect", "effect"), ("affects", "effects"), ("lose", "loose"), ("loses", "looses"), ("losing", "loosing")),
)
"""English words that are often written in place of each other, because they sound alike. Others that were tried ("to" and "too", "of" and
"off", "were" and "where") were changed wrongly too often on the dev sets.
"""
_OTHERS = {word: tuple(other for other in group if other != word) for group in _CONFUSED for word in group}
_CONFUSABLE = re.compile(rf"(?<![\w'@#&/\\.-])(?:{'|'.join(_OTHERS)})(?![\w'@&/\\-]|\.\w)", re.IGNORECASE)
_CONFUSION = 13.0
"""The cost of a confusion."""


MISSPELT, CONFUSED, PHRASE = "misspelt-word", "confused-word", "phrase"


def spelling_rules() -> list[str]:
    """The names of all rules that make edits before the model reads a text."""
    return [MISSPELT, CONFUSED, PHRASE, *rule_names()]


class Speller:
    """Corrects unknown words, which are not in `lexicon` and are rare in `ngrams`, and words that are confused with others.

    `language` is that of the texts. An unknown word is replaced by a known word that differs from it by one letter or by the order of two,
    by two known words with a space between them, or by a known word of which two frequent misspellings make it. A confused word is replaced
    by another one of its group in _CONFUSED, if that makes the text much more probable. `without` are the names of rules that are off.
    """

    def __init__(self, lexicon: Lexicon, ngrams: NgramModel, language: str = "en", without: Collection[str] = ()) -> None:
        self._without = without
        self._lexicon, self._ngrams, self._language = lexicon, ngrams, short_code(language)
        self._knows = lru_cache(2**16)(self._is_known)
        self._likely = lru_cache(2**10)(self._corrections)
        self._skeletons = Skeletons(lambda: lexicon.sorted_words)

    def edits(self, text: str) -> list[Edit]:
        """Corrections of misspelt and confused words of `text`, in order, with their scores.

        The score is a twentieth of the logarithm of the ratio by which the correction makes the text more probable: the words by the
        n-grams, and the misspelling or confusion by the constants of this module. It can be compared with those of `score_edits`.
        """
        plain = text.replace("’", "'")  # noqa: RUF001
        found = [edit for name, edits in self._searches(plain) if name not in self._without for edit in edits]
        if self._language == "en":
            found += [edit for edit in construction_edits(plain, self._without) if not any(_touch(edit, other) for other in found)]
        apostrophe = "’" if "’" in text and "'" not in text else "'"  # noqa: RUF001
        edits = (edit._replace(source=text[edit.start : edit.end], text=edit.text.replace("'", apostrophe)) for edit in found)
        return sorted(edits, key=lambda edit: edit.start)

    def _searches(self, text: str) -> Iterator[tuple[str, Iterable[Edit]]]:
        """The names of the searches by n-grams and words, with what they find."""
        yield MISSPELT, self._misspelt(text) if MISSPELT not in self._without else ()
        yield CONFUSED, (edit for word in _CONFUSABLE.finditer(text) if (edit := self._unconfused(word)) is not None)
        yield PHRASE, phrase_edits(text, self._ngrams, self._knows)

    def name_of(self, text: str, edit: Edit) -> str:
        """The name of the rule that makes an edit of `text`; "" for one that is not made here."""
        plain = text.replace("’", "'")  # noqa: RUF001
        found = [*((name, each) for name, edits in self._searches(plain) for each in edits), *named_edits(plain)]
        return next((name for name, each in found if (each.start, each.end) == (edit.start, edit.end)), "")

    def _misspelt(self, text: str) -> list[Edit]:
        """The most probable correction of each misspelt word of a text that has one."""
        words = WORD.findall(without_protected(text))
        unknown = [word for word in words if not self._knows(word)]
        if not 0 < len(unknown) <= max(_MOSTLY_FOREIGN * len(words), 1):
            return []
        most = max(int(_FOREIGN * len(words)), 1)
        own = sum(is_function_word(word, self._language) for word in words)
        if len(unknown) > 1 and guess_language(text, {self._language, *DETECTED})[0] not in (self._language, None):
            return []
        if len(unknown) > most and own < _LEAST_OWN:
            return []
        misspelt = [word for word in WORD.finditer(text) if not self._knows(word.group()) and _may_be_misspelt(word)]
        edits = [edit for word in misspelt if (edit := self._best(word.group(), word.start(), text)) is not None]
        corrected = sum(edit.score is not None and edit.score > 0 for edit in edits)
        return edits if len(unknown) - corrected <= most else []

    def _unconfused(self, word: re.Match[str]) -> Edit | None:
        """The edit that puts another word of its group in _CONFUSED in the place of `word`; None if none is so much more probable."""
        source = word.group()
        if source not in (source.lower(), source.capitalize()):
            return None
        # The counted sentences begin with capitals.
        text, begins = word.string[:1].upper() + word.string[1:], word.start() == 0 or source != source.lower()
        others = [other.capitalize() if begins else other for other in _OTHERS[source.lower()]]
        edits = [Edit(word.start(), word.end(), source, other) for other in others]
        ratio, best = max(((self._ngrams.log_ratio(text, edit), edit) for edit in edits), key=lambda each: each[0])
        if ratio <= _CONFUSION:
            return None
        return best._replace(text=best.text.lower() if source.islower() else best.text, score=SCORE_WEIGHT * (ratio - _CONFUSION))

    def _is_known(self, word: str) -> bool:
        """Whether a word is in the lexicon, also as a name or without a plural s, is frequent in the n-grams, or is a technical name or an
        abbreviation of chats.
        """
        lower = word.lower()
        if lower in usual_misspellings():
            return False
        if lower in chat_words() or lower in technical_names() or lower.removesuffix("s") in technical_names():
            return True
        forms = {lower, lower.removesuffix("s"), word.capitalize()}
        return not self._lexicon.words.isdisjoint(forms) or max(self._ngrams.count(word), self._ngrams.count(lower)) >= _LEAST

    def _best(self, source: str, start: int, text: str) -> Edit | None:
        """The most probable correction of the unknown word `source` at `start` in `text`; None if no known word is similar enough."""
        found = list[tuple[float, Edit]]()
        for correction, cost in self._likely(source.lower(), not source.islower()):
            new = correction if source.islower() else correction[0].upper() + correction[1:]
            edit = Edit(start, start + len(source), source, new)
            ratio = self._ngrams.log_ratio(text, edit) - cost - _NAME * (not source.islower())
            found.append((ratio, edit))
        if not found:
            return None
        ratio, best = max(found, key=lambda each: each[0])
        return best._replace(score=SCORE_WEIGHT * ratio)

    def _corrections(self, word: str, is_name: bool) -> tuple[tuple[str, float], ...]:
        """The known words, and pairs of known words, that the author of `word` may have meant, each with the cost of the misspelling. With
        `is_name`, it may be a name.
        """
        if (listed := usual_misspellings().get(word)) is not None:
            return ((listed, _LISTED_COST),)
        cost = _COST - _COST_OF_LETTER * min(len(word), _MOST_LETTERS)
        # A singular that is not in the lexicon may be right.
        similar = self._lexicon.words.intersection(_variants(word))
        known = {new for new in similar if new != f"{word}s" and self._ngrams.count(new) >= _LEAST}
        if PREFIXED.match(word):
            known.discard(word[1:])
        found = {new: cost + _FIRST_LETTER * (new[0] != word[0]) + _USUAL * _is_usual(word, new) for new in sorted(known)}
        for index in range(1, len(word)):
            parts = word[:index], word[index:]
            if self._lexicon.words.issuperset(parts) and self._ngrams.count(*parts) >= _LEAST:
                found[" ".join(parts)] = cost
        if not found and len(word) >= _SHORTEST_TWICE:
            twice = {new for near in _usual_variants(word) for new in _usual_variants(near)} & self._lexicon.words
            found = {new: cost + 2 * _USUAL + _SECOND for new in sorted(twice) if new[0] == word[0] and self._ngrams.count(new) >= _LEAST}
        if not found and len(word) >= _SHORTEST_LIKE and not is_name and self._language == "en":
            found = dict(self._like(word, cost))
        return tuple(found.items())

    def _like(self, word: str, cost: float) -> Iterator[tuple[str, float]]:
        """Yield the known words with similar consonants as `word`, unless it is itself formed of known words; each with its cost."""
        if is_formed(word, self._lexicon.words):
            return
        for new, slips in sorted(self._skeletons.similar(word)):
            if self._ngrams.count(new) >= _LEAST:
                yield new, cost + _LIKE + _MORE_SLIPS * max(slips - 2, 0) - _SAME * is_like(word, new)


def _touch(edit: Edit, other: Edit) -> bool:
    """Whether two edits overlap, or one begins where the other ends."""
    return edit.start <= other.end and other.start <= edit.end


def _may_be_misspelt(word: re.Match[str]) -> bool:
    """Whether to correct an unknown word. Short words, words with a capital letter inside a sentence, parts of a compound that is
    written with spaces around its hyphen, and lengthened words (sooo, yesss) are left alone.
    """
    text, source = word.string, word.group()
    before, after = text[: word.start()], text[word.end() :]
    if len(source) < _SHORTEST or LENGTHENED.search(source) or WITHOUT_VOWELS.fullmatch(source.lower()):
        return False
    if before.endswith("- ") or after.startswith(" -"):
        return False
    return source.islower() or (source.istitle() and _SENTENCE_START.search(before) is not None and not re.match(r"\s+[A-Z]|['’]", after))  # noqa: RUF001


def _variants(word: str) -> list[str]:
    """The texts that differ from `word` by one letter or by the order of two, some of them more than once."""
    parts = [(word[:index], word[index:]) for index in range(len(word) + 1)]
    longer = [before + letter + after for before, after in parts for letter in _ALPHABET]
    changed = [before + letter + after[1:] for before, after in parts[:-1] for letter in _ALPHABET]
    exchanged = [before + after[1] + after[0] + after[2:] for before, after in parts[:-2]]
    return [*longer, *changed, *exchanged, *(before + after[1:] for before, after in parts[:-1])]


def _usual_variants(word: str) -> set[str]:
    """Those of the variants of `word` that are most frequently meant (see `_is_usual`), which are made without the others."""
    found = set[str]()
    for index, letter in enumerate(word):
        before, after = word[:index], word[index + 1 :]
        if letter in _ALPHABET:
            found.add(before + letter + letter + after)
        if before.endswith(letter):
            found.add(before + after)
        if letter in _VOWELS:
            found.update(before + vowel + after for vowel in _VOWELS)
        if after:
            found.add(before + after[0] + letter + after[1:])
    return found - {word}


def _is_usual(word: str, new: str) -> bool:
    """Whether writing `word` for `new` is one of the most frequent kinds of misspelling (see _USUAL). The two differ by one letter, or by
    the order of two.
    """
    place = next((place for place, (own, other) in enumerate(zip(word, new, strict=False)) if own != other), min(len(word), len(new)))
    if len(word) != len(new):
        longer = max(word, new, key=len)
        return place > 0 and longer[place] == longer[place - 1]
    return word[place + 1 :] != new[place + 1 :] or (word[place] in _VOWELS and new[place] in _VOWELS)
