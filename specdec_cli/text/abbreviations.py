"""Words whose full stop does not end a sentence."""

import re

_ANYWHERE = frozenset(
    # English
    "mr mrs ms messrs dr prof rev hon st ste mt ft sr jr gen col capt cmdr lt sgt maj adm gov sen rep pres supt esq "
    "e.g i.e etc vs viz cf al approx dept est inc ltd co corp bros assn univ ave blvd rd ph.d "
    # German
    "hr frl fr bzw ca usw usf evtl ggf inkl exkl zzgl vgl sog geb gest jh jhd jhdt mio mrd tsd tel str dipl ing "
    "stv vors hrsg verf bspw einschl entspr gegr insb insbes kgl lt mind vorm zw resp ebd "
    # French, Spanish, Italian, Dutch
    "mme mmes mlle mlles mgr env ex sra srta ud uds vd vds sig sigg dott avv dhr mevr mej drs enz bijv".split()
)
_BEFORE_NUMBER = frozenset(
    "no nr nos nrn num art abs abb fig figs vol vols bd kap chap sec sect tab op p pp pag pág par para s v z n seite zif ziff ver "
    "jan feb mar apr jun jul aug sep sept oct okt nov dec dez".split()
)
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])*")
_ROMAN = re.compile(r"[IVX]+")


def is_abbreviation(word: str, following: str) -> bool:
    """Whether the full stop at the end of `word` belongs to it, given the word after it.

    True for known abbreviations, initials and their like (J., U.S., z.B.), ordinals (3., XIV.), and before a
    number for words such as No. or Fig.; False for ellipses and for words that end otherwise.
    """
    if not word.endswith(".") or word.endswith(".."):
        return False
    stem = word[:-1].rpartition("-")[2]
    if stem.isdigit():
        return len(stem) <= 2
    if _ROMAN.fullmatch(stem) or (_INITIALS.fullmatch(stem) and stem.upper() != stem.lower()):
        return True
    return stem.lower() in _ANYWHERE or (following[:1].isdigit() and stem.lower() in _BEFORE_NUMBER)
