"""Detection of text that is copied to the output without the model: code, text without letters, other languages."""

import re
from dataclasses import dataclass

from specdec_cli.text.languages import is_foreign, is_in_language, is_latin, short_code
from specdec_cli.text.protected import without_protected

_LATIN_LETTER = re.compile(r"[A-Za-z\u00aa-\u024f\u1e00-\u1eff]")
_TYPE = r"(?:unsigned |static |const )*(?:int|float|double|char|bool|long|void|auto|string|String)"
_WITH_TEXT = (
    r"(?:note|warning|tip|hint|important|caution|danger|attention|error|admonition|topic|rubric|title|sidebar|seealso|centered|todo|"
    r"version(?:added|changed)|deprecated)"
)
"""The directives of reStructuredText that are followed by text."""
_CODE = re.compile(
    "|".join(
        (
            rf"\.\. (?:\|[^|]+\| )?(?!{_WITH_TEXT}::)[a-z][\w:-]*::|\.\. _[^:]+:",  # directives of reStructuredText
            r"[$] \S|#!|#(?:include|define|ifn?def|endif|pragma)\b",
            r"import [\w.*/]+(?:, ?[\w.]+)*(?: as \w+)?;?$|from [\w.]+ import .+|(?:package|using|use|require) [\w.:]+;",
            r"(?:async )?(?:def|function|fn|func) \w+\(|class \w+(?:\(.*\))?:$|(?:class|struct|enum|interface|namespace)\b.*\{$",
            r"(?:public|private|protected|static|export) .*[{;]$|" + _TYPE + r" [*&]?\w+ ?(?:=|;|\(|\[)",
            r"(?:if|for|while|switch|catch|else if)\b.*(?:[;{]|\) ?:?)$",
            r"(?:if|elif|while) .*[<>=(.].*:$|for [\w, ]+ in .*:$|(?:else|try|finally):",
            r"(?:return|throw|raise|assert|yield|break|continue)\b.*;$|(?:return|raise|assert|yield) [\w.]+\(",
            r"(?:let|const|var|local|export|set) [\w$]+ ?=|@[\w.]+(?:\(.*\))?$|[})\]]+[;,)]*(?: else.*)?\{?$",
            r"[\w.\[\]\"'>*&-]+ ?(?:[-+*/|&:]?=|<-) ?[^=\s].*(?:[;{(\[,]|[)\]\d])$|[\w.]+ [-+*/|&:]?= [\w.\"'\[\]{}-]+$",
            r"[\w.:>-]+\([^()]*(?:\([^()]*\)[^()]*)*\)(?:[;{:,]| \{)?$|.*(?:<<|->|&&|\|\||[-+!=]=|::).*[;{]$",
            r"(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER|DROP) .*(?:;|\b(?:FROM|SET|VALUES|TABLE|WHERE)\b.*)$",
            r"[.#]?[\w-]+ ?\{[^{}]*:[^{}]*\}?$|[\w-]+:(?: [\w#.%(),-]+){1,4};$|</?[\w:-]+ [^<>]*$",
        )
    )
)
MAX_CODE_LENGTH = 1000
_KEYS = re.compile(r"WEBVTT\b|(?:msgid(?:_plural)?|msgctxt) \"|#[:,|~] ")


@dataclass(frozen=True)
class Passthrough:
    """Decides which texts are copied unchanged, for a model from language `source` to `target` ("": unknown).

    A text without letters, or with a single Latin one, is copied; protected spans such as URLs do not count. If both languages use the
    Latin alphabet, a text without Latin letters is copied. In translation, a text that is already in the target language is copied. In
    correction (`source` equals `target`), a text in another detectable language is copied.
    """

    source: str = ""
    target: str = ""

    @property
    def latin(self) -> bool:
        """Whether both languages are known to use the Latin alphabet."""
        return is_latin(self.source) and is_latin(self.target)

    @property
    def translates(self) -> bool:
        """Whether the languages differ."""
        return short_code(self.source) != short_code(self.target)

    def matches(self, text: str) -> bool:
        """Whether `text` must be copied unchanged."""
        words = without_protected(text)
        letters = [character for character in words if character.isalpha()]
        if not letters or (len(letters) == 1 and _LATIN_LETTER.match(letters[0])):
            return True
        if self.latin and not _LATIN_LETTER.search(words):
            return True
        return self._is_other_language(words)

    def _is_other_language(self, text: str) -> bool:
        return is_in_language(text, self.target, self.source) if self.translates else is_foreign(text, self.source)


def is_code(line: str) -> bool:
    """Whether a line is program code other than a comment, or a line of keywords of a message catalogue or subtitle
    file.

    False for lines of more than `MAX_CODE_LENGTH` characters, because the patterns take quadratic time on some
    inputs.
    """
    text = line.strip()
    return len(text) <= MAX_CODE_LENGTH and bool(_CODE.match(text) or _KEYS.match(text))
