"""Words of English and German around dates and ranges of dates, by language."""

import re
from typing import NamedTuple


class DateWords(NamedTuple):
    """Words of a language around dates. The first fields, up to `before`, are patterns; the others are written as they are.

    - `before_day`, `after_day`, `before_month`, `before_year`, `after_weekday`: what is around the parts of a date.
    - `decade`: what is after the number of a decade.
    - `to`, `also`: what is between the ends of a range, and between two days of the same month.
    - `before`: what is before a date; `range` and `between` are the words of ranges in it.
    - `every_day`: an adverb that can stand for a range.
    - `since`, `of_names`: what is before a range of days, and before one of names.
    - `to_day`, `to_name`: what is between two days, and between two names.
    - `between`: what is before and between two days after "between".
    - `on`: what is before a day.
    - `listed`: a pattern of what is between the dates of a list, with its conjunction as the group `word`.
    """

    before_day: str
    after_day: str
    before_month: str
    before_year: str
    after_weekday: str
    decade: str
    to: str
    also: str
    before: re.Pattern[str]
    every_day: str
    since: str
    of_names: str
    to_day: str
    to_name: str
    between: tuple[str, str]
    on: str
    listed: re.Pattern[str]


DATE_WORDS = {
    "en": DateWords(
        before_day="(?:the )?",
        after_day=r"(?:st|nd|rd|th)?(?!\w|[.:/,]\d)",
        before_month=" (?:of )?",
        before_year="(?:,| of)? ",
        after_weekday=",? (?:(?:on )?the )?",
        decade="s",
        to="to|until|till|through",
        also="and|or",
        before=re.compile(
            r"\b(?:(?P<range>from|on) |(?P<between>between) |(?:until|till|by|of|for|in|during|and|or|the|after|before|since) )$",
            re.IGNORECASE,
        ),
        every_day="every day",
        since="from ",
        of_names="from ",
        to_day=" to ",
        to_name=" to ",
        between=("between ", " and "),
        on="on ",
        listed=re.compile(r"(?:,? (?P<word>and|or)|,) (?:on )?(?:the )?"),
    ),
    "de": DateWords(
        before_day="",
        after_day=r"\. ?(?!\d)",
        before_month="",
        before_year=" (?:des Jahres )?",
        after_weekday=",? (?:(?:de[nmrs]|am) )?",
        decade="er(?:n|s)?",
        to="bis(?: zum)?",
        also="(?:und|oder)(?: de[mn])?",
        before=re.compile(
            r"\b(?:(?P<range>vom|von|am|ab) |(?P<between>zwischen)(?: dem)? "
            r"|(?:bis|bis zum|seit|nach|vor|f\u00fcr|in|im|und|oder|d(?:er|ie|as|en|em)) )$",
            re.IGNORECASE,
        ),
        every_day="jeden Tag",
        since="vom ",
        of_names="von ",
        to_day=" bis zum ",
        to_name=" bis ",
        between=("zwischen dem ", " und dem "),
        on="am ",
        listed=re.compile(r"(?:,? (?P<word>und|oder)|,) (?:am |an |de[mnr] )?"),
    ),
}
MONTH_NOUNS = (
    r"(?:(?:annual|quarterly|monthly|final|interim|special|general|official|federal|national|local|regional|first|second"
    r"|last|double|print) )?"
    r"(?:issues?|editions?|reports?|meetings?|elections?|releases?|updates?|versions?|statements?|invoices?|newsletters?|budgets?|conferences?"
    r"|courses?|bills?|surveys?|articles?|payments?|figures|results|events?|workshops?|fairs?|magazines?|referendums?|votes?|attacks?"
    r"|agreements?|decisions?|letters?|orders?|deadlines?|trips?|concerts?|reviews?|studies|study|poll|polls|plan|plans)"
)
"""A pattern of English nouns that have a month with its year before them: the October 2026 issue."""
SEPARATORS = {"to": "bis", "and": "und", "or": "oder"}
"""English words between the ends of ranges, and the German ones."""
NO_AGE = "".join(
    rf"(?<!\b{word} )" for word in ["his", "her", "their", "my", "your", "our", "seinen", "ihren", "meinen", "deinen", "unseren"]
)
"""A pattern: no word is before that makes a decade an age ("in his 20s")."""
NOT_BEFORE = {
    "en": re.compile(r"\bby (?:the )?$"),
    "de": re.compile(r"\b(?:um|auf|von|aus|aus dem|aus den|auf dem) $", re.IGNORECASE),
}
"""What does not stand before a range of days in English, and before a day in German."""
BEFORE_BOTH = {
    ("en", "de"): {r"\b(?:by|until|till) $": "bis|sp\u00e4testens|vor", r"\bsince $": "seit"},
    ("de", "en"): {r"\bbis (?:zum )?$": "by|until|till|to|before", r"\bseit (?:dem )?$": "since"},
}
"""What is before a date in a source, and what must then be before it in a translation."""
NOT_BEFORE_MONTH = re.compile(r"\b(?:am|zum|um|auf) $", re.IGNORECASE)
"""What does not stand before a month with a year in German."""
BEFORE_AMOUNT = re.compile(r"\b[Ii]n $")
AFTER_AMOUNT = re.compile(r"\s(?:per\s?cent|people|men|women|children|million|(?!is\b|was\b|as\b|this\b|its\b)[a-z]+s\b)|\s?[%\u00b0]")
"""What is before or after a number that is no day, in English: "In May 20 people came"."""
ORDINAL_WORD = re.compile(r"(?:te[nrs]?|first|second|third)$")
"""The end of a word for the number of a day."""
