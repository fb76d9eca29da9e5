"""The kinds of error by the names that recipes use, in the order of the summary of a run."""

from collections.abc import Callable
from random import Random

from specdec_cli.corruption import (
    adjectives,
    articles,
    auxiliaries,
    capitals,
    collocations,
    confusions,
    nouns,
    order,
    patterns,
    prepositions,
    punctuation,
    spaces,
    spelling,
    verbs,
    words,
)
from specdec_cli.corruption.edits import TokenEdit
from specdec_cli.corruption.tokens import Sentence

Kind = Callable[[Sentence, int, Random], TokenEdit | None]
"""A function (sentence, i, random) that returns an edit which makes an error at token i; None if this kind does not apply there."""

_KINDS: tuple[Kind, ...] = (
    spelling.misspelling,
    spelling.sound,
    spelling.keyboard,
    spelling.transposition,
    spelling.letter_drop,
    spelling.letter_double,
    articles.article_drop,
    articles.article_insert,
    articles.article_swap,
    articles.article_sound,
    prepositions.preposition_swap,
    prepositions.preposition_drop,
    prepositions.preposition_insert,
    verbs.agreement,
    verbs.verb_form,
    verbs.infinitive,
    verbs.tense,
    verbs.irregular_form,
    auxiliaries.auxiliary_drop,
    auxiliaries.auxiliary_insert,
    nouns.noun_number,
    nouns.possessive,
    adjectives.adjective_form,
    adjectives.derivation,
    confusions.homophone,
    confusions.verb_choice,
    words.pronoun,
    words.conjunction,
    words.dropped_word,
    words.doubled_word,
    order.word_order,
    collocations.collocation,
    collocations.time_preposition,
    collocations.double_plural,
    collocations.common_homophone,
    patterns.complement,
    patterns.clause_tense,
    patterns.state_of_having,
    patterns.clause_order,
    spaces.fused,
    spaces.split,
    spaces.hyphen,
    spaces.spacing,
    punctuation.comma_drop,
    punctuation.comma_insert,
    punctuation.punctuation_swap,
    punctuation.final_stop,
    punctuation.apostrophe,
    capitals.lower_case,
    capitals.upper_case,
)
KINDS: dict[str, Kind] = {kind.__name__: kind for kind in _KINDS}
