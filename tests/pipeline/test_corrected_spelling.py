"""Misspelt words are corrected before the model reads a line, where the line may be changed."""

from collections.abc import Mapping
from typing import Any, cast

import pytest

from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.pipeline.corrector import Correction, LineCorrector
from specdec_cli.pipeline.edit_filter import EditFilter
from specdec_cli.pipeline.ignored_edits import IgnoredEdits
from specdec_cli.text.corpus.ngram_counting import count_ngrams
from specdec_cli.text.edits import apply_edits
from specdec_cli.text.spelling.speller import Lexicon
from specdec_cli.text.tokenize.sentencepiece import Subwords
from tests.pipeline.test_corrector import GENTLE, Rewriter

GUESTS = "The guests of the house are here now."


def spelt(tokenizer: Subwords, line: str, table: Mapping[str, str], edit_filter: EditFilter = GENTLE, **settings: Any) -> Correction:
    """Correct a line with the words and n-grams of GUESTS. `settings` go to the engine, except `ignored`, which goes to the corrector."""
    ngrams, lexicon = count_ngrams([GUESTS] * 20), Lexicon(GUESTS.lower().rstrip(".").split)
    ignored = settings.pop("ignored", IgnoredEdits())
    engine = cast(SentenceDecoder, Rewriter(tokenizer, table, **settings))
    (correction,) = LineCorrector(engine, tokenizer, edit_filter, ngrams=ngrams, lexicon=lexicon, ignored=ignored).correct([line])
    return correction


def test_the_model_reads_corrected_spelling(tokenizer: Subwords) -> None:
    line = "The geusts of the huose is here now."
    assert spelt(tokenizer, line, {}).text == "The guests of the house is here now."
    found = spelt(tokenizer, line, {"The guests of the house is here now.": GUESTS})
    assert found.text == GUESTS
    assert [(edit.start, edit.source, edit.text) for edit in found.edits] == [
        (4, "geusts", "guests"),
        (18, "huose", "house"),
        (24, "is", "are"),
    ]
    assert apply_edits(line, found.edits) == GUESTS


def test_spelling_with_a_low_score_is_not_corrected(tokenizer: Subwords) -> None:
    line = "The geusts of the house are here now."
    (edit,) = spelt(tokenizer, line, {}).edits
    assert edit.score is not None
    assert spelt(tokenizer, line, {}, EditFilter(edit.score)).text == GUESTS
    assert spelt(tokenizer, line, {}, EditFilter(edit.score + 0.01)).text == line


@pytest.mark.parametrize(
    ("line", "settings"),
    [
        ("The `geusts` of the house are here now.", {}),
        ("The geusts of the house are here now.", {"ignored": IgnoredEdits(words=("geusts",))}),
        ("The geusts of the house are here now.", {"finished": False}),
        ("The geusts of the house are here now.", {"edit_filter": EditFilter(maximum_pieces=0.5)}),
    ],
)
def test_spelling_stays_where_nothing_may_be_changed(tokenizer: Subwords, line: str, settings: dict[str, Any]) -> None:
    assert spelt(tokenizer, line, {}, **settings).text == line


def test_spelling_stays_in_a_sentence_that_the_model_would_rewrite(tokenizer: Subwords) -> None:
    line = "The geusts are here. The geusts are here now."
    found = spelt(tokenizer, line, {"The guests are here.": "Now of the house."})
    assert found.text == "The geusts are here. The guests are here now."
