"""Which texts a model does not see: those without letters, code, catalogue keys, and those in another language."""

import re
from dataclasses import dataclass

from specdec_cli.text.languages import is_foreign, is_in, is_latin, short_code
from specdec_cli.text.protected import without_protected

_LATIN_LETTER = re.compile(r"[A-Za-z\u00aa-\u024f\u1e00-\u1eff]")
_TYPE = r"(?:unsigned |static |const )*(?:int|float|double|char|bool|long|void|auto|string|String)"
_CODE = re.compile(
    "|".join(
        (
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
LONGEST_CODE = 1000
_KEYS = re.compile(r"WEBVTT\b|(?:msgid(?:_plural)?|msgctxt) \"|#[:,|~] ")


@dataclass(frozen=True)
class Copied:
    """Tells which texts stay as they are, given the languages of a model; an unknown language is "".

    Between two languages, text that is in the target language already stays; where both are the same one, text in
    any other that is known. Between languages in Latin letters, so does text without any of these letters.
    """

    source: str = ""
    target: str = ""

    @property
    def latin(self) -> bool:
        """Whether both languages are known to be written in Latin letters."""
        return is_latin(self.source) and is_latin(self.target)

    def keeps(self, text: str) -> bool:
        """Whether `text` stays as it is."""
        words = without_protected(text)
        if not any(map(str.isalpha, words)):
            return True
        if self.latin and not _LATIN_LETTER.search(words):
            return True
        return self._is_elsewhere(words)

    def _is_elsewhere(self, text: str) -> bool:
        if short_code(self.source) == short_code(self.target):
            return is_foreign(text, self.source)
        return is_in(text, self.target, self.source)


def is_code(line: str) -> bool:
    """Whether a line is program code, or a key of a message catalogue or of subtitles; a comment is not.

    A line of more than `LONGEST_CODE` characters is not: the patterns take quadratic time over some hostile lines.
    """
    text = line.strip()
    return len(text) <= LONGEST_CODE and bool(_CODE.match(text) or _KEYS.match(text))
