"""Patterns of English constructions that are wrong whatever stands around them: `listen music`, `yesterday I go`, `%d files was`."""

import re
from collections.abc import Callable

from specdec_cli.english.words import ARTICLES, POSSESSIVES, pairs

_DETERMINER = "|".join(sorted(ARTICLES | POSSESSIVES))
_END = r"(?= (?:about|from|on|for|to|that|which|and|or|in|with|at|is|was|but|because|if|when|now|today)\b|[.,;!?]|$)"
"""What follows a noun that ends its phrase."""
_NO_PLURAL = "money|information|advice|furniture|luggage|baggage|homework|housework|equipment"
"""Nouns that have no plural, and are no verbs."""
_GERUNDS = dict(
    pairs(
        "hear>hearing see>seeing meet>meeting receive>receiving get>getting have>having know>knowing be>being learn>learning join>joining "
        "go>going read>reading speak>speaking discuss>discussing spend>spending"
    )
)
_PASTS = dict(
    pairs(
        "go>went goes>went come>came comes>came see>saw sees>saw do>did does>did get>got gets>got take>took takes>took "
        "make>made makes>made eat>ate eats>ate buy>bought buys>bought meet>met meets>met give>gave gives>gave find>found finds>found "
        "tell>told tells>told write>wrote writes>wrote speak>spoke speaks>spoke run>ran runs>ran lose>lost loses>lost feel>felt feels>felt "
        "leave>left leaves>left begin>began begins>began bring>brought brings>brought sleep>slept sleeps>slept drive>drove drives>drove "
        "fall>fell falls>fell fly>flew flies>flew forget>forgot forgets>forgot hear>heard hears>heard sit>sat sits>sat win>won wins>won "
        "am>was is>was are>were play>played plays>played visit>visited visits>visited work>worked works>worked watch>watched "
        "watches>watched want>wanted wants>wanted like>liked likes>liked help>helped helps>helped call>called calls>called start>started "
        "starts>started talk>talked talks>talked walk>walked walks>walked arrive>arrived arrives>arrived study>studied studies>studied"
    )
)
_PARTICIPLES = dict(
    pairs(
        "been>was gone>went come>came seen>saw done>did taken>took eaten>ate given>gave written>wrote spoken>spoke run>ran begun>began "
        "driven>drove fallen>fell flown>flew forgotten>forgot known>knew drunk>drank sung>sang swum>swam worn>wore broken>broke "
        "chosen>chose shown>showed stolen>stole got>got gotten>got made>made bought>bought met>met found>found told>told lost>lost "
        "felt>felt left>left brought>brought slept>slept heard>heard sat>sat won>won had>had read>read thought>thought said>said"
    )
)
_WISHED = dict(
    pairs("know>knew can>could am>were is>were are>were will>would has>had live>lived lives>lived speak>spoke speaks>spoke don't>didn't")
)
_PRESENT = (
    "go|have|do|want|like|need|live|work|make|know|think|say|play|speak|eat|drink|write|sleep|wear|love|look|seem|feel|believe|hope|help|give|"
    "teach|study|depend|mean|own"
)
"""Verbs that are wrong behind "he" at the beginning of a sentence, which no demand or condition begins."""
_PERFECT = dict(
    pairs(
        "drank>drunk forgot>forgotten saw>seen went>gone came>come did>done took>taken ate>eaten gave>given wrote>written spoke>spoken "
        "ran>run began>begun drove>driven fell>fallen flew>flown knew>known sang>sung swam>swum wore>worn broke>broken chose>chosen "
        "stole>stolen became>become grew>grown threw>thrown hid>hidden rode>ridden shook>shaken woke>woken"
    )
)
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_BASE = (
    "like|have|want|know|understand|speak|need|go|think|work|live|eat|see|care|remember|come|drink|believe|agree|play|feel|help|sleep|study|"
    "find|give|get|say|hear|mean"
)
_RELATIVES = (
    "sister|brother|mother|father|friend|mom|mum|dad|boss|teacher|aunt|uncle|cousin|neighbour|neighbor|son|daughter|wife|husband|doctor|"
    "grandmother|grandfather|roommate|colleague"
)
_COMPARATIVES = (
    "better|worse|easier|faster|cheaper|bigger|smaller|higher|lower|stronger|weaker|happier|healthier|safer|taller|longer|shorter|larger|"
    "richer|harder|simpler|busier|nicer|cleaner|quicker|slower|warmer|colder|prettier|funnier|heavier|uglier|earlier|noisier|lazier|"
    "crazier|angrier|hungrier|dirtier|luckier|friendlier|tastier|darker|lighter|thinner|hotter|sweeter|louder|brighter|smarter|kinder|"
    "closer|deeper|wider|younger|older|greater|tougher|poorer|newer"
)
_SUPERLATIVES = (
    "best|worst|easiest|fastest|cheapest|biggest|smallest|highest|lowest|strongest|happiest|tallest|longest|largest|hardest|prettiest|youngest|oldest|richest|"
    "greatest|shortest|nicest|funniest|coldest|hottest|smartest|closest|cleanest|newest|poorest|safest"
)
_NEGATIVES = dict(pairs("nothing>anything nobody>anybody nowhere>anywhere no>any none>any"))
_USED_TO = dict(
    pairs(
        "wake>waking get>getting live>living work>working eat>eating drink>drinking go>going speak>speaking see>seeing hear>hearing "
        "have>having do>doing be>being sleep>sleeping drive>driving"
    )
)
_OBJECTS_OF = dict(pairs("you>you he>him she>her they>them we>us"))
_SUBJECTS_OF = dict(pairs("me>I him>he her>she us>we them>they you>you"))
_PRONOUN = "[Ii]|[Yy]ou|[Hh]e|[Ss]he|[Ii]t|[Ww]e|[Tt]hey"
_START = r"(?:^|(?<=[.!?] ))"
_LAST = r"(?:[Yy]esterday|[Ll]ast (?:night|week|weekend|month|year|summer|winter))"
_NEGATED = r"(?:do|does|did|ca|could|wo|would|has|have|had)n't"
_PERSON = (
    "man|men|woman|women|person|people|girl|girls|boy|boys|friend|friends|teacher|teachers|student|students|doctor|doctors|guy|guys|lady|"
    "ladies|neighbour|neighbours|neighbor|neighbors|children|boss|colleague|colleagues|uncle|aunt|brother|sister"
)
_THING = (
    "book|books|film|films|movie|movies|car|cars|house|houses|song|songs|computer|phone|thing|things|letter|letters|game|games|table|"
    "machine|idea|ideas|word|words|picture|pictures|photo|photos|problem|problems"
)


def _age(found: re.Match[str]) -> str:
    """The form of "be" in the place of "have" before an age."""
    who, had = found["who"].lower(), found["old"].lower() == "had"
    if who in ("i", "he", "she", "it"):
        return "was" if had else "am" if who == "i" else "is"
    return "were" if had else "are"


def _past(participle: str, subject: str) -> str:
    """The past tense of a participle, beside a subject."""
    if participle == "been" and subject.lower() in ("you", "we", "they"):
        return "were"
    return _PARTICIPLES.get(participle, participle)


def _third_person(verb: str) -> str:
    """The form of one of the verbs of _PRESENT behind "he"."""
    if verb == "have":
        return "has"
    if verb == "study":
        return "studies"
    return f"{verb}es" if verb[-1:] == "o" or verb.endswith("ch") else f"{verb}s"


def _have_been(who: str) -> str:
    return f"{'have' if _doing(who) == 'do' else 'has'} been"


def _plural_of_this(found: re.Match[str]) -> str:
    return "These" if found["old"] == "This" else "Those"


def _doing(who: str) -> str:
    return "do" if who.lower() in ("i", "you", "we", "they") else "does"


def _cased(word: str, other: str) -> str:
    """`word` with a capital if `other` has one."""
    return word[0].upper() + word[1:] if other[0].isupper() else word


def _taken(found: re.Match[str]) -> str:
    return "took" if found["old"] == "made" else "taking" if found["end"] == "ing" else f"tak{found['end']}"


def _there(old: str, following: str) -> str:
    """The form of "be" after "there" in the place of "have", before a noun that may be in the singular."""
    is_one = following in ("a", "an")
    return f"{old[:5]} {('was' if is_one else 'were') if old.endswith('had') else 'is' if is_one else 'are'}"


Rule = tuple[tuple[str, ...], str, Callable[[re.Match[str]], str]]


def _rule(words: str, pattern: str, write: Callable[[re.Match[str]], str]) -> Rule:
    """A rule that is applied to texts with one of the `words`, which are divided by |, in any case."""
    return tuple(words.split("|")), pattern, write


RULES: tuple[Rule, ...] = (
    _rule(
        "listen",
        r"(?<!most )\b[Ll]isten(?:s|ed|ing)?(?P<old>)(?= (?:music|songs?|radio|the radio|podcasts?)\b)",
        lambda _: " to",
    ),
    _rule("for to", r"(?<=[a-z] )(?<!called )(?<!asked )(?P<old>for to)(?= [a-z]+\b)", lambda _: "to"),
    _rule(
        "married with",
        rf"\bmarried (?P<old>with)(?= (?:{_DETERMINER}|him|me|you|them|someone|somebody)\b)"
        r"(?! (?:\w+ ){0,5}(?:child|kid|son|daughter|bab))",
        lambda _: "to",
    ),
    _rule(
        "years old",
        r"\b(?P<who>[Ii]|[Yy]ou|[Hh]e|[Ss]he|[Ii]t|[Ww]e|[Tt]hey) (?P<old>ha(?:ve|s|d))(?= [\w-]+(?: [\w-]+)? years old\b)",
        _age,
    ),
    _rule(
        "most of people",
        r"\b(?P<old>[Mm]ost of)(?= people\b(?! (?:who|whom|in|at|from|with|that|here|there)\b)(?!['’]))",  # noqa: RUF001
        lambda found: found["old"][:4],
    ),
    _rule("many ", rf"\b(?P<old>[Mm]any)(?= (?:{_NO_PLURAL}){_END})", lambda found: f"{found['old'][0]}uch"),
    _rule(
        "forward to",
        rf"\b[Ll]ook(?:s|ed|ing)? forward to (?P<old>{'|'.join(_GERUNDS)})(?= (?:from|you|him|her|them|it|all|the|an?|your|more|to)\b)",
        lambda found: _GERUNDS[found["old"]],
    ),
    _rule(
        "yesterday|last ",
        r"(?:^|[.!?] )(?:Yesterday|Last (?:night|week|weekend|month|year|summer|winter)),? (?:I|you|he|she|we|they) "
        rf"(?P<old>{'|'.join(_PASTS)})(?= )",
        lambda found: _PASTS[found["old"]],
    ),
    _rule(
        _NO_PLURAL,
        rf"\b(?P<old>an? )(?=(?:very |really |such )?(?!priori|little|lot|bit|piece|few)[a-z]+ (?:{_NO_PLURAL})s?{_END})",
        lambda _: "",
    ),
    _rule(
        "yesterday|last ",
        rf"{_START}{_LAST},? (?P<who>{_PRONOUN}) (?P<old>(?:have|has) (?P<verb>{'|'.join(_PARTICIPLES)}|[a-z]{{2,}}ed))\b(?! to\b)",
        lambda found: _past(found["verb"], found["who"]),
    ),
    _rule(
        "yesterday|last ",
        r"^(?P<old>(?P<who>I|You|We|They) (?P<verb>go|come|see|buy|meet|give|find|lose|leave|sleep|drive|fly|win|visit|watch|walk|eat))"
        r"(?=(?: (?!(?:that|what|who|how|if|when|from|of|since|until|the|a|my|our|your|than)\b)[a-z]+"
        r"| (?:the|a|my|our|your) [a-z]+){0,3} (?:yesterday|last (?:night|week|weekend|month|year))[.!]?$)",
        lambda found: f"{found['who']} {_PASTS[found['verb']]}",
    ),
    _rule(
        "he |she |it ",
        rf"{_START}(?:He|She|It) (?P<old>{_PRESENT})(?= (?!not\b)[a-z])(?![^.!?]* (?:yesterday|ago|last)\b)",
        lambda found: _third_person(found["old"]),
    ),
    _rule(
        "photo|selfie",
        r"\b(?P<old>mak(?P<end>e|es|ing)|made)(?= (?:a|some|many|more|lots of) (?:photos?|selfies?)\b(?! \w*(?:album|book|cop)))",
        _taken,
    ),
    _rule("is possible to|is necessary to", rf"{_START}(?P<old>Is)(?= (?:possible|necessary) to [^.!]+\?)", lambda _: "Is it"),
    _rule(
        "is possible to|is necessary to|is important to|is difficult to|is easy to|is impossible to",
        rf"{_START}(?P<old>Is)(?= (?:possible|necessary|important|difficult|easy|impossible) to [^.!?]+\.)",
        lambda _: "It is",
    ),
    _rule(
        "very much",
        r"\b(?:like|love|enjoy|appreciate)[sd]? (?P<old>very much (?P<what>(?:this|that|these|those|the|my|your|his|her|our|their) "
        r"[a-z]+(?: [a-z]+)?))(?=[.!?]|$)",
        lambda found: f"{found['what']} very much",
    ),
    _rule(
        "there ha",
        r"\b(?P<old>[Tt]here ha(?:ve|s|d)) (?=(?P<next>many|some|several|a lot of|lots of|no|two|three|four|five|an?|too many|about) )",
        lambda found: _there(found["old"], found["next"]),
    ),
    _rule(
        " very ",
        rf"\b(?:{_PRONOUN}) (?P<old>very)(?= (?:like|likes|liked|want|wants|wanted|love|loves|hope|hopes|enjoy|enjoys|need|needs)\b)",
        lambda _: "really",
    ),
    _rule(
        ", but ",
        rf"{_START}(?:Although|Though|Even though) [^,.;:!?]+, (?P<old>but )(?=(?:{_PRONOUN}|the|my|there)\b)",
        lambda _: "",
    ),
    _rule(", so ", rf"{_START}(?:Because|Since) [^,.;:!?]+, (?P<old>so )(?=(?:{_PRONOUN}|the|my|there)\b)", lambda _: ""),
    _rule(
        "homeworks|advices|informations|furnitures|luggages|baggages|houseworks",
        r"\b(?P<old>(?:[Mm]any )?(?:homework|advice|information|furniture|luggage|baggage|housework)s)\b(?!')",
        lambda found: found["old"][:-1].replace("any ", "uch "),
    ),
    _rule(
        "do |does ",
        r"(?:^|(?<=[.!?,] ))(?P<old>(?:Do|do|Does|does) (?P<who>you|he|she|we|they|I) "
        r"(?P<verb>can|could|must|should|will|would))(?= [a-z])",
        lambda found: f"{_cased(found['verb'], found['old'])} {found['who']}",
    ),
    _rule(
        "what means",
        rf"{_START}(?P<old>What means (?P<what>(?:this|that|the|your) [a-z]+(?: [a-z]+)?))(?=\?)",
        lambda found: f"What does {found['what']} mean",
    ),
    _rule(
        " like?",
        rf"{_START}(?P<old>How(?: do| does)? (?P<who>it|he|she|they|this|that|you) looks? like)(?=\?)",
        lambda found: f"What {_doing(found['who'])} {found['who']} look like",
    ),
    _rule(
        "suggest",
        r"\bsuggest(?:s|ed)? (?P<old>(?P<who>me|him|her|us|them) to)(?= [a-z]+\b)",
        lambda found: f"that {_SUBJECTS_OF[found['who']]}",
    ),
    _rule(
        " effects ",
        r"(?<!of)(?<!side)(?<!sound)(?<!special)(?<!the)(?<!these)(?<!those)(?<!its)(?<!visual) (?P<old>effects)"
        r"(?= (?:my|me|us|him|our|your|everyone|everybody)\b)",
        lambda _: "affects",
    ),
    _rule(" lose", r"\b(?:too|very|so) (?P<old>lose)(?=[.,!]|$)", lambda _: "loose"),
    _rule(
        " who ",
        rf"{_START}(?:To|With|For|From|By) (?P<old>who)"
        rf"(?= (?:do|does|did|can|could|will|would|should) (?:{_PRONOUN}|the|this|that|your)\b)",
        lambda _: "whom",
    ),
    _rule(
        "home",
        r"\b(?:go|goes|went|gone|going|come|came|coming|get|got|drive|drove|walk|walked|return|returned) (?P<old>to (?:the )?home)"
        r"(?=[.,!?]|$| (?:and|after|at|by|early|late|because|yesterday|today|now|from|with|on|when)\b)",
        lambda _: "home",
    ),
    _rule(
        "nothing|nobody|nowhere",
        rf"\b(?:{_NEGATED}|never) (?:[a-z]+ly )?(?!not\b)[a-z]+ (?P<old>nothing|nobody|nowhere)\b(?! (?:but|else|less|short)\b)",
        lambda found: _NEGATIVES[found["old"]],
    ),
    _rule(
        "n't ",
        rf"\b{_NEGATED} (?:have|need|want|get|got|know|see) (?P<old>no)(?= [a-z]+\b)(?! (?:one|longer|more than|less|such|matter)\b)",
        lambda _: "any",
    ),
    _rule(
        "me and ",
        rf"{_START}(?P<old>Me and (?P<other>him|her|them|my [a-z]+))"
        r"(?= (?:went|are|were|have|had|will|can|could|would|used|like|love|play|go|saw|did|got|came|[a-z]{2,}ed)\b)",
        lambda found: f"{_cased(_SUBJECTS_OF.get(found['other'], found['other']), 'M')} and I",
    ),
    _rule(" and i", r"\b[Bb]etween (?:you|him|her|them) and (?P<old>I)\b(?!')", lambda _: "me"),
    _rule(
        " which ",
        rf"\b(?:[Tt]he|[Aa]|my|that|this|those|these) (?:[a-z]+ )?(?:{_PERSON}) (?P<old>which)"
        r"(?= (?:is|was|are|were|has|have|had|lives?|works?|knows?|helps?|can|will|[a-z]{2,}ed)\b)",
        lambda _: "who",
    ),
    _rule(
        " who ",
        rf"\b(?:[Tt]he|[Aa]|my|that|this|those|these) (?:[a-z]+ )?(?:{_THING}) "
        r"(?P<old>who)(?= (?:I|you|he|she|we|they|is|was|are|were|has|have)\b)",
        lambda _: "that",
    ),
    _rule(
        "the number of",
        r"(?:^|[.!?,;] |\b(?:that|because|and|but|if|when|while) )[Tt]he number of (?:[a-z]+ )?"
        r"(?:[a-z]{3,}(?<![su])s|people|children|women|men) (?P<old>have|are|were)\b",
        lambda found: {"have": "has", "are": "is", "were": "was"}[found["old"]],
    ),
    _rule(
        "where |when |how old |how far ",
        r"\b(?:asked|ask|know|knows|wonder|tell me|tell us|told me|remember|forgot|forget|understand)(?: me| him| her| us| them)? "
        r"(?:where|when|how old|how far) (?P<old>(?P<be>is|was|are|were) (?P<what>(?:the|my|your|his|her|their|our|this|that) "
        r"(?:[a-z]+ )?[a-z]+))(?=[.?!]|$)",
        lambda found: f"{found['what']} {found['be']}",
    ),
    _rule(
        "wish",
        rf"(?<![Ii]f you )(?<![Ii]f they )(?<![Ii]f I )\b[Ww]ish(?:es|ed)? (?:that )?(?:{_PRONOUN}) (?P<old>{'|'.join(_WISHED)})\b",
        lambda found: _WISHED[found["old"]],
    ),
    _rule(" by foot", r"\b(?:go|goes|went|gone|going|come|came|walk|walked) (?:\w+ ){0,4}?(?P<old>by)(?= foot\b)", lambda _: "on"),
    _rule("other hand", r"\b(?P<old>[Ii]n|[Bb]y)(?= the other hand,)", lambda found: _cased("on", found["old"])),
    _rule("despite of", r"\b[Dd]espite (?P<old>of )", lambda _: ""),
    _rule("discuss", rf"\b(?:discuss(?:es|ed|ing)?) (?P<old>about )(?=(?:{_DETERMINER}|this|that|it|them|how|what|why)\b)", lambda _: ""),
    _rule("according with", r"\b[Aa]ccording (?P<old>with)\b", lambda _: "to"),
    _rule(
        "peoples",
        r"\b(?:[Yy]oung|[Oo]ld|[Rr]ich|[Pp]oor|[Ss]ick|[Ff]amous|[Nn]ormal) (?P<old>peoples)\b(?!')",
        lambda _: "people",
    ),
    _rule(
        "childrens",
        r"\b(?P<old>[Cc]hildrens)(?= (?:are|is|who|that|and|or|in|have|can|to|will|should|must|do|at|with)\b|[.,])",
        lambda found: found["old"][:-1],
    ),
    _rule(
        "more |most ",
        rf"\b(?P<old>more )(?=(?:{_COMPARATIVES})(?: (?:than|and|or|to|for|if|when|because|in|at|with|way|life)\b|[.,;!?]|$))",
        lambda _: "",
    ),
    _rule("most ", rf"\bthe (?P<old>most )(?=(?:{_SUPERLATIVES})\b)", lambda _: ""),
    _rule("a lots of", r"\b[Aa] (?P<old>lots)(?= of\b)", lambda _: "lot"),
    _rule("in nowadays", r"(?:^|(?<=[.!?] ))(?P<old>In nowadays)\b", lambda _: "Nowadays"),
    _rule("in nowadays", r"(?<=[a-z] )(?P<old>in )(?=nowadays\b)", lambda _: ""),
    _rule("the most of", rf"{_START}(?P<old>The most)(?= of (?:the|us|them|my|our|these|those|people)\b)", lambda _: "Most"),
    _rule("everyday", rf"{_START}(?P<old>Everyday)(?=,? (?:{_PRONOUN}|the|my)\b)", lambda _: "Every day"),
    _rule(
        "everyday",
        r"(?<!so)(?<!very)(?<!is)(?<!an)(?<!the)(?<!are)(?<!was)(?<!more)(?<!as) (?P<old>everyday)(?=[.!?]|$)",
        lambda _: "every day",
    ),
    _rule(
        "|".join(_PERFECT),
        rf"\b(?:have|has|had|having|I've|we've|they've|you've)(?: (?:already|never|just|always|ever|not))? "
        rf"(?P<old>{'|'.join(_PERFECT)})\b(?![-'])(?! blade)",
        lambda found: _PERFECT[found["old"]],
    ),
    _rule(
        "in ", rf"\b(?P<old>[Ii]n)(?= (?:{_MONTHS}) \d{{1,2}}(?:st|nd|rd|th)?(?:[.,;!?](?!\d)|$))", lambda found: _cased("on", found["old"])
    ),
    _rule("on the ", rf"{_START}(?P<old>On)(?= the (?:morning|evening|afternoon),? (?:{_PRONOUN}) )", lambda _: "In"),
    _rule(
        "day",
        r"\b(?P<old>[Ii]n)(?= (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day(?:[.,;!?]|$| (?:I|we|he|she|they|morning|evening"
        r"|afternoon|at)\b))",
        lambda found: _cased("on", found["old"]),
    ),
    _rule(
        "explain",
        r"\b[Ee]xplain(?:s|ed)? (?P<old>(?P<who>me|him|us|them) (?P<what>this|that|it))(?=[.?!]|$)",
        lambda found: f"{found['what']} to {found['who']}",
    ),
    _rule("explain", r"\b[Ee]xplain(?:s|ed)?(?P<old>)(?= (?:me|him|us|them) (?:how|why|what|where|when)\b)", lambda _: " to"),
    _rule(
        "what time",
        r"\b(?:tell (?:me|us)|know|wonder|ask(?:ed)?(?: me)?) what time (?P<old>(?P<be>is|was) it)(?=[.?!]|$)",
        lambda found: f"it {found['be']}",
    ),
    _rule(
        "this are|that are", rf"{_START}(?P<old>This|That)(?= are (?:my|your|his|her|our|their|the|some|not|very|good)\b)", _plural_of_this
    ),
    _rule(
        " no ",
        rf"{_START}(?P<who>I|You|He|She|It|We|They) (?P<old>no)(?= (?:{_BASE})\b)",
        lambda found: f"{_doing(found['who'])}n't",
    ),
    _rule(
        " not ",
        rf"{_START}(?P<who>I|You|He|She|It|We|They) (?P<old>not)(?= (?:{_BASE})\b)",
        lambda found: f"{_doing(found['who'])} not",
    ),
    _rule("not agree", r"\b(?P<old>am|is|are)(?= not agree\b)", lambda found: "does" if found["old"] == "is" else "do"),
    _rule(
        "since",
        rf"\b(?P<who>{_PRONOUN}) (?P<old>am|is|are)(?= (?:married|here|together|divorced|ill|sick|in [A-Z][a-z]+) since\b)",
        lambda found: _have_been(found["who"]),
    ),
    _rule(
        "since",
        rf"\b(?P<who>{_PRONOUN}) (?P<old>am|is|are)(?= [a-z]{{2,}}ing (?:[a-z]+ ){{0,4}}since (?:yesterday|(?:19|20)\d\d"
        rf"|an? |two|three|many|last|\d))",
        lambda found: _have_been(found["who"]),
    ),
    _rule(
        "since",
        r"\b(?P<old>(?P<who>[Ii]|[Yy]ou|[Hh]e|[Ss]he|[Ii]t|[Ww]e|[Tt]hey)'(?:m|re|s))(?= [a-z]{2,}ing (?:[a-z]+ ){0,4}since "
        r"(?:yesterday|this morning|(?:19|20)\d\d|an? |two|three|many|last|\d))",
        lambda found: f"{found['who']} {_have_been(found['who'])}",
    ),
    _rule(
        "used to",
        rf"\b(?:I am|I'm|[Ww]e are|[Ww]e're|[Hh]e is|[Ss]he is) (?:not )?used to (?P<old>{'|'.join(_USED_TO)})\b",
        lambda found: _USED_TO[found["old"]],
    ),
    _rule(
        "like that",
        r"\b(?:would|I'd) like (?P<old>that (?P<who>you|he|she|they|we))(?= (?!are\b|is\b|were\b|was\b|have\b|has\b|can\b|will\b)[a-z]+)",
        lambda found: f"{_OBJECTS_OF[found['who']]} to",
    ),
    _rule(
        "the most people",
        rf"{_START}(?P<old>The most)"
        r"(?= people (?:like|think|are|have|know|want|believe|do|don't|live|use|in) )",
        lambda _: "Most",
    ),
    _rule("how do you call", rf"{_START}(?P<old>How)(?= do you call (?:this|it|that)(?: (?:in|thing|word)\b|\?))", lambda _: "What"),
    _rule(
        "is ",
        rf"{_START}(?P<old>Is)(?= (?:raining|snowing|(?:very |too |so )?(?:hot|cold|late|early|windy|sunny|expensive"
        rf"|difficult|easy|nice))\.)",
        lambda _: "It is",
    ),
    _rule("are ", r"^(?P<old>Are)(?= (?:many|some|a lot of|two|three|several) [^?!]+\.$)", lambda _: "There are"),
    _rule(
        "in my ",
        rf"{_START}In my (?:country|city|town|village|opinion|house|family),? (?P<old>is)(?= (?:very|a|an|really|not|too|so"
        rf"|possible|important) )",
        lambda _: "it is",
    ),
    _rule(
        " she ",
        rf"{_START}[Mm]y (?:mother|sister|wife|aunt|daughter|mom|mum|girlfriend|grandmother) (?P<old>she )(?=(?:is|was|has"
        rf"|works|lives|likes)\b)",
        lambda _: "",
    ),
    _rule(
        " he ",
        rf"{_START}[Mm]y (?:father|brother|husband|uncle|son|dad|boyfriend|grandfather|boss) (?P<old>he )(?=(?:is|was|has"
        rf"|works|lives|likes)\b)",
        lambda _: "",
    ),
    _rule(
        " it ",
        rf"{_START}(?:The|This|My|Our) (?:weather|food|film|movie|book|city|house|problem|car|school|country"
        rf"|room) (?P<old>it )(?=(?:is|was|has)\b)",
        lambda _: "",
    ),
    _rule(
        "hairs",
        r"\b(?:long|short|black|brown|blonde|dark|curly|red|grey|gray|straight) (?P<old>hairs)(?=[.,!?]|$| (?:and|but|with)\b)",
        lambda _: "hair",
    ),
    _rule(
        "homework|housework",
        rf"\b(?P<old>make|makes|made|making)(?= (?:{_DETERMINER}) (?:homework|housework)\b)",
        lambda found: {"make": "do", "makes": "does", "made": "did", "making": "doing"}[found["old"]],
    ),
    _rule(
        " is| was| has",
        rf"\b(?:[Mm]y|[Yy]our|[Hh]is|[Hh]er|[Oo]ur|[Tt]heir) (?P<old>(?:{_RELATIVES})s)(?= (?!and\b|who\b|that\b|all\b"
        rf"|or\b)[a-z]+ (?:is|was|has)\b)",
        lambda found: f"{found['old'][:-1]}'s",
    ),
    _rule(
        " was| is| has",
        r"(?:%\d*\$?[diu]|\{\w*\}) (?:[a-z]+ )?(?!news\b|series\b)[a-z]{2,}(?<![sui])s (?P<old>was|is|has)\b",
        lambda found: {"was": "were", "is": "are", "has": "have"}[found["old"]],
    ),
)
"""Words that a text must have, and patterns, whose group `old` is replaced by what the function returns."""
