"""Correction of a line: edits are found, scored, filtered and applied."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import pytest

from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle import BundleInfo
from specdec_cli.pipeline.corrector import Correction, LineCorrector
from specdec_cli.pipeline.edit_filter import EditFilter
from specdec_cli.pipeline.ignored_edits import IgnoredEdits
from specdec_cli.text.corpus.ngram_counting import count_ngrams
from specdec_cli.text.edits import find_edits
from specdec_cli.text.tokenize.sentencepiece import EOS, Subwords
from tests.tables import tables

CASES = tables(__file__)


class Rewriter:
    """An engine with outputs from a table, else the source; the n-th token of an output has log probability -n."""

    longest_source, eos = 256, EOS

    def __init__(self, tokenizer: Subwords, table: Mapping[str, str], finished: bool = True, longest_sentence: int = 0) -> None:
        self._tokenizer, self._table, self._finished = tokenizer, table, finished
        self.decoding = Decoding(longest_sentence=longest_sentence)

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Yield hypotheses, the last sentence first."""
        for sentence in reversed(sentences):
            text = self._tokenizer.decode(sentence.source)
            ids = [*self._tokenizer.encode(self._table.get(text, text)), *([EOS] if self._finished else [])]
            yield Hypothesis(sentence.number, ids, 2, -1.0, (), tuple(-float(n) for n in range(len(ids))))


GENTLE = EditFilter()


def corrected(tokenizer: Subwords, line: str, table: Mapping[str, str], edit_filter: EditFilter = GENTLE, **settings: Any) -> Correction:
    engine = cast(SentenceDecoder, Rewriter(tokenizer, table, **settings))
    (correction,) = LineCorrector(engine, tokenizer, edit_filter).correct([line])
    return correction


TABLE = {"He go home .": "He goes home.", "I has see it.": "I have seen it."}


def test_edits_are_applied_to_the_original_line(tokenizer: Subwords) -> None:
    line = "\u00a0 Yes \u2014  it is.  He go home . I has see it.\t"
    found = corrected(tokenizer, line, TABLE)
    assert found.text == "\u00a0 Yes \u2014  it is.  He goes home. I have seen it.\t"
    assert [line[edit.start : edit.end] for edit in found.edits] == ["go", " ", "has see"]
    assert (found.rounds, len(found.sentences)) == (6, 3)


@pytest.mark.parametrize("line", ["", " \t", "nothing to do \u2026 'here\u2019", "e\u0301 and \u00e9", "\ufeffbom"])
def test_a_line_without_edits_is_unchanged(tokenizer: Subwords, line: str) -> None:
    assert corrected(tokenizer, line, {}).text == line
    assert corrected(tokenizer, line, {}).edits == ()


def test_improbable_edits_are_rejected(tokenizer: Subwords) -> None:
    everything = corrected(tokenizer, "He go home .", TABLE, EditFilter(-1e9)).edits
    scores = [edit.score for edit in everything if edit.score is not None]
    assert len(scores) == len(everything) == 2
    kept = corrected(tokenizer, "He go home .", TABLE, EditFilter(max(scores)))
    assert [edit.score for edit in kept.edits] == [max(scores)]


@pytest.mark.parametrize(("source", "output", "kept"), CASES.a_known_word_is_not_replaced_by_an_unknown_one)
def test_a_known_word_is_not_replaced_by_an_unknown_one(tokenizer: Subwords, source: str, output: str, kept: bool) -> None:
    ngrams = count_ngrams(["The policy is good.", "The policies is good.", "the"] * 2)
    engine = cast(SentenceDecoder, Rewriter(tokenizer, {source: output}))
    (correction,) = LineCorrector(engine, tokenizer, GENTLE, ngrams=ngrams).correct([source])
    assert correction.text == (output if kept else source)


def test_an_improbable_edit_passes_beside_a_probable_one(tokenizer: Subwords) -> None:
    scores = [edit.score for edit in corrected(tokenizer, "He go home .", TABLE, EditFilter(-1e9)).edits if edit.score is not None]
    sure, doubtful = max(scores), min(scores)
    assert corrected(tokenizer, "He go home .", TABLE, EditFilter(sure, doubtful)).text == "He goes home."
    assert len(corrected(tokenizer, "He go home .", TABLE, EditFilter(sure, (sure + doubtful) / 2)).edits) == 1
    # Without a probable edit, the lower threshold does not apply.
    assert corrected(tokenizer, "He go home .", TABLE, EditFilter(sure + 0.1, doubtful)).edits == ()


def test_a_sentence_with_too_many_edits_is_unchanged(tokenizer: Subwords) -> None:
    table = {"ka lo mi": "re su to"}
    unchanged = corrected(tokenizer, "ka lo mi", table)
    assert (unchanged.text, unchanged.too_many) == ("ka lo mi", 1)
    assert corrected(tokenizer, "ka lo mi", table, EditFilter(is_tuned=True)).too_many == 0
    changed = corrected(tokenizer, "ka lo mi", table, EditFilter(maximum_ratio=1.0))
    assert (changed.text, changed.too_many) == ("re su to", 0)


def test_two_words_of_a_short_text_may_be_replaced() -> None:
    def too_many(text: str, output: str, ratio: float = 0.6) -> bool:
        return EditFilter(maximum_ratio=ratio).are_too_many(find_edits(text, output), text)

    assert not too_many("She go home", "She went home.")
    assert not too_many("he dont care", "He doesn't care.")
    assert too_many("he dont care", "He doesn't care.", ratio=0.0)
    assert too_many("it go", "It went.")
    assert too_many("Terms of use", "The terms of use.")
    assert too_many("all of it wrong here", "None are right there today.")


def test_only_correction_rejects_loss_of_content(tokenizer: Subwords) -> None:
    table = {"ka lo mi re su": "ka su"}
    assert corrected(tokenizer, "ka lo mi re su", table, EditFilter.of(BundleInfo(task="correct"))).text == "ka lo mi re su"
    assert corrected(tokenizer, "ka lo mi re su", table, EditFilter.of(BundleInfo(task="simplify"))).text == "ka su"


def test_a_requested_minimum_score_applies_to_all_edits() -> None:
    info = BundleInfo(task="correct", modes={"balanced": (-0.5, -2.0), "careful": (-0.2, -1.0)})
    assert (EditFilter.of(info).minimum, EditFilter.of(info).minimum_beside_others) == (-0.5, -2.0)
    assert (EditFilter.of(info, -0.1).minimum, EditFilter.of(info, -0.1).minimum_beside_others) == (-0.1, None)


def test_the_mode_gives_the_least_scores_of_edits() -> None:
    info = BundleInfo(task="correct", modes={"balanced": (-0.5, -2.0), "careful": (-0.2, -1.0)})
    careful = EditFilter.of(info, mode="careful")
    assert (careful.minimum, careful.minimum_beside_others) == (-0.2, -1.0)
    with pytest.raises(UsageError, match="mode thorough: the bundle has no such mode; it has balanced, careful"):
        EditFilter.of(info, mode="thorough")
    with pytest.raises(UsageError, match="it has none"):
        EditFilter.of(BundleInfo(task="correct"), mode="careful")


def test_a_sentence_without_eos_is_unchanged(tokenizer: Subwords) -> None:
    assert corrected(tokenizer, "He go home .", TABLE, finished=False).text == "He go home ."


def test_addresses_and_code_are_unchanged(tokenizer: Subwords) -> None:
    line = "ka `lo mi` su http://re.su to"
    found = corrected(tokenizer, line, {line: "ka `lo mo` so http://ra.su ta"})
    assert found.text == "ka `lo mi` so http://re.su ta"


def test_a_changed_address_does_not_prevent_other_edits(tokenizer: Subwords) -> None:
    line = "ka lo mi ta http://re.su"
    assert corrected(tokenizer, line, {line: "ka lo mo ta su su su su su"}).text == "ka lo mo ta http://re.su"


def test_a_sentence_of_many_subwords_is_foreign(tokenizer: Subwords) -> None:
    ours, foreign, short = "ka lo mi ta", "xqz wvy qqx zzy", "xqz wvy"
    table = {text: text.replace("m", "k").replace("q", "k") for text in (ours, foreign, short)}
    limit = EditFilter(maximum_pieces=3.0)
    assert corrected(tokenizer, foreign, table).text != foreign
    assert corrected(tokenizer, foreign, table, limit).text == foreign
    assert corrected(tokenizer, ours, table, limit).text == table[ours]
    assert corrected(tokenizer, short, table, limit).text == table[short]  # too few words to tell
    address = " http://xqz.org/wvy/qqx/zzy"
    assert corrected(tokenizer, ours + address, {ours + address: table[ours] + address}, limit).text == table[ours] + address


def test_characters_of_scripts_without_spaces_count_as_words(tokenizer: Subwords) -> None:
    foreign = "\u4eca\u5929\u5728\u5bb6"  # byte by byte: three pieces a character
    table = {foreign: foreign.replace("\u5728", "ka")}
    assert corrected(tokenizer, foreign, table).text != foreign
    assert corrected(tokenizer, foreign, table, EditFilter(maximum_pieces=2.5)).text == foreign


@pytest.mark.parametrize(
    ("line", "changed"),
    [("see http://re.su", "see http://re.su/x"), ("ask me@di.fo", "ask me@di.fo.org"), ("run `ls` now", "run `ls`` now")],
)
def test_protected_spans_get_no_additions(line: str, changed: str, tokenizer: Subwords) -> None:
    assert corrected(tokenizer, line, {line: changed}).text == line


@pytest.mark.parametrize(("line", "changed", "passes"), CASES.edits_that_lose_content_are_rejected)
def test_edits_that_lose_content_are_rejected(line: str, changed: str, passes: bool, tokenizer: Subwords) -> None:
    assert corrected(tokenizer, line, {line: changed}).text == (changed if passes else line)


def test_marks_are_kept_and_lines_get_no_full_stop(tokenizer: Subwords) -> None:
    table = {"this are a comment": "This is a comment.", "ka lo mi re su and": "Ka lo mi re su.", "re su": "Re su.", "ta re": "ta re."}
    engine = cast(SentenceDecoder, Rewriter(tokenizer, table))
    corrector = LineCorrector(engine, tokenizer, EditFilter(maximum_ratio=9.0), languages=("en", "en"))
    lines = ["% this are a comment", "ka lo mi re su and", "re su", "", "ta re"]
    found = [correction.text for correction in corrector.correct(lines)]
    assert found == ["% this is a comment", "ka lo mi re su and", "re su", "", "ta re"]
    without_languages = LineCorrector(engine, tokenizer, EditFilter(maximum_ratio=9.0))
    assert [correction.text for correction in without_languages.correct(["ta re"])] == ["ta re."]


def test_cells_between_tabs_keep_their_beginnings(tokenizer: Subwords) -> None:
    table = {"ka lo.": "Ka lo.", "mi ra.": "Mi re."}
    corrector = LineCorrector(
        cast(SentenceDecoder, Rewriter(tokenizer, table)), tokenizer, EditFilter(maximum_ratio=9.0), languages=("en", "en")
    )
    assert [correction.text for correction in corrector.correct(["ka lo.\tmi ra.", "\tka lo."])] == ["ka lo.\tmi re.", "\tKa lo."]


def test_pieces_of_a_sentence_are_joined_as_they_were(tokenizer: Subwords) -> None:
    line, table = "Ka lo mi, re su ta.", {"Ka lo mi,": "Ka la mi.", "re su ta.": "Re su ta."}
    limit = len(tokenizer.encode(line)) - 1
    assert corrected(tokenizer, line, table, longest_sentence=limit).text == "Ka la mi, re su ta."


def test_parts_of_a_document_that_go_on_keep_their_case(tokenizer: Subwords) -> None:
    table = {"ka lo": "Ka lo.", "mi re.": "Mi re.", "re su.": "Re su."}
    corrector = LineCorrector(cast(SentenceDecoder, Rewriter(tokenizer, table)), tokenizer, EditFilter(maximum_ratio=9.0))
    found = [correction.text for correction in corrector.correct(["ka lo", "mi re.", "re su."], separate=True)]
    assert found == ["ka lo", "mi re.", "Re su."]


@pytest.mark.parametrize(("ignored", "changes"), [("k\u00e1 lo", False), ("ka lo", False), ("k\u00e1", True), ("\U0001f600", True)])
def test_ignored_words_have_any_characters_that_the_model_reads_alike(ignored: str, changes: bool, tokenizer: Subwords) -> None:
    engine = cast(SentenceDecoder, Rewriter(tokenizer, {"ka lo mi": "ka la mi"}))
    (found,) = LineCorrector(engine, tokenizer, GENTLE, ignored=IgnoredEdits((ignored,))).correct(["k\u00e1 lo mi"])
    assert found.text == ("k\u00e1 la mi" if changes else "k\u00e1 lo mi")


def test_signs_that_the_model_cannot_read_are_kept(tokenizer: Subwords) -> None:
    line = "ka [lo mi"
    assert tokenizer.lacks("[")
    read = tokenizer.decode(tokenizer.encode(line))
    assert corrected(tokenizer, line, {read: "ka lo mi"}).edits == ()
    assert corrected(tokenizer, "ka lo mi", {"ka lo mi": "ka mi"}).text == "ka mi"
