"""Detection of program code by the form of a line."""

import re

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


def is_code(line: str) -> bool:
    """Whether a line is program code other than a comment, or a line of keywords of a message catalogue or subtitle
    file.

    False for lines of more than `MAX_CODE_LENGTH` characters, because the patterns take quadratic time on some
    inputs.
    """
    text = line.strip()
    return len(text) <= MAX_CODE_LENGTH and bool(_CODE.match(text) or _KEYS.match(text))
