"""Edits of a line: found, scored, held back, and applied to the line as it was."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import pytest

from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.model.bundle import BundleInfo
from specdec_cli.pipeline.corrector import Correction, Corrector, EditFilter
from specdec_cli.pipeline.decoder import SentenceDecoder
from specdec_cli.text.subwords import EOS, Subwords


class Rewriter:
    """An engine that says what a table says, else the source; the n-th token of an output has log probability -n."""

    longest_source, eos = 256, EOS

    def __init__(self, tokenizer: Subwords, table: Mapping[str, str], finished: bool = True) -> None:
        self._tokenizer, self._table, self._finished = tokenizer, table, finished

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Hypotheses, the last sentence first."""
        for sentence in reversed(sentences):
            text = self._tokenizer.decode(sentence.source)
            ids = [*self._tokenizer.encode(self._table.get(text, text)), *([EOS] if self._finished else [])]
            yield Hypothesis(sentence.number, ids, 2, -1.0, (), tuple(-float(n) for n in range(len(ids))))


GENTLE = EditFilter()


def corrected(tokenizer: Subwords, line: str, table: Mapping[str, str], edit_filter: EditFilter = GENTLE, **settings: Any) -> Correction:
    engine = cast(SentenceDecoder, Rewriter(tokenizer, table, **settings))
    (correction,) = Corrector(engine, tokenizer, edit_filter).correct([line])
    return correction


TABLE = {"He go home .": "He goes home.", "I has see it.": "I have seen it."}


def test_edits_are_applied_to_the_line_as_it_was(tokenizer: Subwords) -> None:
    line = "\u00a0 Yes \u2014  it is.  He go home . I has see it.\t"
    found = corrected(tokenizer, line, TABLE)
    assert found.text == "\u00a0 Yes \u2014  it is.  He goes home. I have seen it.\t"
    assert [line[edit.start : edit.end] for edit in found.edits] == ["go", " ", "has see"]
    assert (found.rounds, len(found.sentences)) == (6, 3)


@pytest.mark.parametrize("line", ["", " \t", "nothing to do \u2026 'here\u2019", "e\u0301 and \u00e9", "\ufeffbom"])
def test_a_line_that_needs_nothing_stays(tokenizer: Subwords, line: str) -> None:
    assert corrected(tokenizer, line, {}).text == line
    assert corrected(tokenizer, line, {}).edits == ()


def test_the_score_is_that_of_the_tokens_of_an_edit(tokenizer: Subwords) -> None:
    source, target = "ka lo mi", "ka xx mi"
    (edit,) = corrected(tokenizer, source, {source: target}).edits
    ids = tokenizer.encode(target)
    places = [n for n in range(len(ids)) if len(tokenizer.decode(ids[: n + 1])) > 3 and len(tokenizer.decode(ids[:n])) < 5]
    assert edit.score == -sum(places)
    # Of what is dropped, the token that stands in its place.
    (edit,) = corrected(tokenizer, source, {source: "ka mi"}).edits
    ids = tokenizer.encode("ka mi")
    assert edit.score == -float(next(n for n in range(len(ids)) if len(tokenizer.decode(ids[: n + 1])) > 2))


def test_doubtful_edits_are_held_back(tokenizer: Subwords) -> None:
    everything = corrected(tokenizer, "He go home .", TABLE, EditFilter(-1e9)).edits
    scores = [edit.score for edit in everything if edit.score is not None]
    assert len(scores) == len(everything) == 2
    kept = corrected(tokenizer, "He go home .", TABLE, EditFilter(max(scores)))
    assert [edit.score for edit in kept.edits] == [max(scores)]


def test_a_doubtful_edit_passes_beside_a_sure_one(tokenizer: Subwords) -> None:
    scores = [edit.score for edit in corrected(tokenizer, "He go home .", TABLE, EditFilter(-1e9)).edits if edit.score is not None]
    sure, doubtful = max(scores), min(scores)
    assert corrected(tokenizer, "He go home .", TABLE, EditFilter(sure, doubtful)).text == "He goes home."
    assert len(corrected(tokenizer, "He go home .", TABLE, EditFilter(sure, (sure + doubtful) / 2)).edits) == 1
    # Where nothing is sure, nothing has company.
    assert corrected(tokenizer, "He go home .", TABLE, EditFilter(sure + 0.1, doubtful)).edits == ()


def test_a_sentence_that_would_change_from_end_to_end_stays(tokenizer: Subwords) -> None:
    table = {"ka lo mi": "re su to"}
    assert corrected(tokenizer, "ka lo mi", table).text == "ka lo mi"
    assert corrected(tokenizer, "ka lo mi", table, EditFilter(maximum_ratio=1.0)).text == "re su to"


def test_only_a_corrector_keeps_all_content(tokenizer: Subwords) -> None:
    table = {"ka lo mi re su": "ka su"}
    assert corrected(tokenizer, "ka lo mi re su", table, EditFilter.of(BundleInfo(task="correct"))).text == "ka lo mi re su"
    assert corrected(tokenizer, "ka lo mi re su", table, EditFilter.of(BundleInfo(task="simplify"))).text == "ka su"


def test_a_score_that_is_asked_for_holds_for_all_edits() -> None:
    info = BundleInfo(task="correct", min_score=-0.5, min_score_in_company=-2.0)
    assert (EditFilter.of(info).minimum, EditFilter.of(info).minimum_beside_others) == (-0.5, -2.0)
    assert (EditFilter.of(info, -0.1).minimum, EditFilter.of(info, -0.1).minimum_beside_others) == (-0.1, None)


def test_a_sentence_without_an_end_stays(tokenizer: Subwords) -> None:
    assert corrected(tokenizer, "He go home .", TABLE, finished=False).text == "He go home ."


def test_addresses_and_code_stay(tokenizer: Subwords) -> None:
    line = "ka `lo mi` su http://re.su to"
    found = corrected(tokenizer, line, {line: "ka `lo mo` so http://ra.su ta"})
    assert found.text == "ka `lo mi` so http://re.su ta"


def test_a_sentence_of_many_pieces_is_foreign(tokenizer: Subwords) -> None:
    ours, foreign, short = "ka lo mi ta", "xqz wvy qqx zzy", "xqz wvy"
    table = {text: text.replace("m", "k").replace("q", "k") for text in (ours, foreign, short)}
    limit = EditFilter(maximum_pieces=3.0)
    assert corrected(tokenizer, foreign, table).text != foreign
    assert corrected(tokenizer, foreign, table, limit).text == foreign
    assert corrected(tokenizer, ours, table, limit).text == table[ours]
    assert corrected(tokenizer, short, table, limit).text == table[short]  # too few words to tell


def test_characters_without_spaces_are_words_too(tokenizer: Subwords) -> None:
    foreign = "\u4eca\u5929\u5728\u5bb6"  # byte by byte: three pieces a character
    table = {foreign: foreign.replace("\u5728", "ka")}
    assert corrected(tokenizer, foreign, table).text != foreign
    assert corrected(tokenizer, foreign, table, EditFilter(maximum_pieces=2.5)).text == foreign


@pytest.mark.parametrize(
    ("line", "changed"),
    [("see http://re.su", "see http://re.su/x"), ("ask me@di.fo", "ask me@di.fo.org"), ("run `ls` now", "run `ls`` now")],
)
def test_nothing_is_added_to_what_is_protected(line: str, changed: str, tokenizer: Subwords) -> None:
    assert corrected(tokenizer, line, {line: changed}).text == line


@pytest.mark.parametrize(
    ("line", "changed", "passes"),
    [
        ("it was in 1984", "it was in 1948", False),
        ("call 555 now", "call now", False),
        ("in 5th place", "in the 5th place", True),
        ("one of the many ways", "one ways", False),
        ("one of the the ways", "one of the ways", True),
        ("he has went home", "he went home", True),
        ("there is not any thing here", "there is not anything here", True),
    ],
)
def test_no_content_is_lost(line: str, changed: str, passes: bool, tokenizer: Subwords) -> None:
    assert corrected(tokenizer, line, {line: changed}).text == (changed if passes else line)


def test_marks_belong_to_no_sentence_and_what_goes_on_gets_no_full_stop(tokenizer: Subwords) -> None:
    table = {"this are a comment": "This is a comment.", "ka lo mi re su and": "Ka lo mi re su.", "re su": "Re su.", "ta re": "ta re."}
    engine = cast(SentenceDecoder, Rewriter(tokenizer, table))
    corrector = Corrector(engine, tokenizer, EditFilter(maximum_ratio=9.0), languages=("en", "en"))
    lines = ["% this are a comment", "ka lo mi re su and", "re su", "", "ta re"]
    found = [correction.text for correction in corrector.correct(lines)]
    assert found == ["% this is a comment", "Ka lo mi re su and", "re su.", "", "ta re."]
