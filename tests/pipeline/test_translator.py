"""Translation of lines: order, blank lines, several sentences in a line, and lines that are too long."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_cli.decoding.options import BeamSearch, Decoding
from specdec_cli.decoding.rounds import RoundTrace
from specdec_cli.engines.reference import Engine
from specdec_cli.memories.found import FoundDraft
from specdec_cli.memories.index import build_index
from specdec_cli.memories.memory import Memory
from specdec_cli.memories.pairs import sentence_pairs
from specdec_cli.model.bundle import Bundle
from specdec_cli.pipeline.drafts import DraftGate, Drafts
from specdec_cli.pipeline.lines import whole_sentences, without_cuts
from specdec_cli.pipeline.translator import LineTranslator, Translation
from specdec_cli.text.corpus.parallel import Pair
from specdec_cli.text.segment.sentences import Segments
from specdec_cli.text.tags.markup import without_tags
from tests.fakes import tiny_drafter
from tests.tables import tables

CASES = tables(__file__)

GREEDY = Decoding(max_length=12)


def translate(bundle: Bundle, lines: list[str], settings: Decoding = GREEDY) -> list[Translation]:
    return list(LineTranslator(Engine(bundle, settings), bundle.tokenizer).translate(lines))


def test_lines_of_any_length_are_returned_in_order(bundle: Bundle, lines: list[str]) -> None:
    mixed = [" ".join(lines[:4]), *lines[4:12]]
    alone = [translate(bundle, [line])[0] for line in mixed]
    assert translate(bundle, mixed) == alone
    assert translate(bundle, mixed, replace(GREEDY, batch_size=4)) == alone
    assert len({line.text for line in alone}) > 4


def test_speculative_decoding_gives_equal_output_in_fewer_rounds(bundle: Bundle, lines: list[str]) -> None:
    mixed = [" ".join(lines[:4]), *lines[4:12]]
    for prefix in ("states", "own"):
        drafting = replace(bundle, drafter=tiny_drafter(bundle.verifier, prefix=prefix))
        found = translate(drafting, mixed, replace(GREEDY, method="specdec", block_size=6, batch_size=3))
        for greedy, specdec in zip(translate(bundle, mixed), found, strict=True):
            assert specdec.sentences == greedy.sentences
            assert specdec.text == greedy.text
            assert specdec.rounds <= greedy.rounds == greedy.tokens


def test_blank_lines_are_unchanged(bundle: Bundle, lines: list[str]) -> None:
    found = translate(bundle, ["", lines[0], " \t", "  ", lines[1]])
    assert [found[i] for i in (0, 2, 3)] == [Translation(""), Translation(" \t"), Translation("  ")]
    assert [found[1], found[4]] == translate(bundle, lines[:2])
    assert translate(bundle, []) == []
    assert translate(bundle, ["\n"]) == [Translation("\n")]


def test_sentences_of_a_line_are_translated_one_by_one(bundle: Bundle) -> None:
    scored = replace(GREEDY, with_scores=True)
    texts = ["Ka lo mi ta re su no pe di fo kalo mita resu nope.", "Ta re su no."]  # the second is done before the first
    first, second = translate(bundle, texts, scored)
    (both,) = translate(bundle, [f" {texts[0]}  {texts[1]}"], scored)
    assert both.text == f" {first.text}  {second.text}"
    assert both.tokens == first.tokens + second.tokens
    assert both.rounds == first.rounds + second.rounds
    assert both.sentences == first.sentences + second.sentences
    assert both.score == pytest.approx((first.score or 0) + (second.score or 0))
    whole = LineTranslator(Engine(bundle, GREEDY), bundle.tokenizer, split=False)
    assert len(next(whole.translate([" ".join(texts)])).sentences) == 1


def test_a_line_is_returned_as_soon_as_it_is_done(bundle: Bundle) -> None:
    rounds: list[RoundTrace] = []
    engine = Engine(bundle, GREEDY, rounds.append)
    first = next(LineTranslator(engine, bundle.tokenizer).translate(["Ka lo.", "Mi ta.", "Re su."]))
    assert len(rounds) == first.rounds


def test_a_line_that_is_too_long_is_split_with_a_warning(bundle: Bundle, lines: list[str]) -> None:
    heard: list[tuple[int, str]] = []
    translator = LineTranslator(Engine(bundle, GREEDY), bundle.tokenizer, warn=lambda index, text: heard.append((index, text)))
    found = list(translator.translate([lines[0], " ".join(lines), lines[1]]))
    ((index, message),) = heard
    assert index == 1
    assert message == f"a sentence of more than {bundle.verifier.config.max_positions - 1} tokens; cut into pieces"
    assert len(found[1].sentences) > 1
    assert [found[0], found[2]] == translate(bundle, lines[:2])


def test_a_bundle_says_which_sentences_are_cut_without_a_warning(bundle: Bundle) -> None:
    line = "ka lo mi re su ta, ka lo mi re su ta."
    tokens = len(bundle.tokenizer.encode(line))
    heard: list[tuple[int, str]] = []
    for limit, count in ((0, 1), (tokens, 1), (tokens - 1, 2)):
        engine = Engine(bundle, replace(GREEDY, longest_sentence=limit))
        translator = LineTranslator(engine, bundle.tokenizer, warn=lambda index, text: heard.append((index, text)))
        assert [len(each.sentences) for each in translator.translate([line])] == [count]
    assert not heard


def test_the_longest_valid_source_is_not_split(bundle: Bundle) -> None:
    limit = bundle.verifier.config.max_positions - 1
    line = "ka"
    while len(bundle.tokenizer.encode(f"{line} ka")) <= limit:
        line = f"{line} ka"
    (found,) = translate(bundle, [line])
    assert len(found.sentences) == 1


def test_the_n_best_lines_are_the_best_combinations_of_sentences(bundle: Bundle) -> None:
    beam = Decoding(method="beam", search=BeamSearch(4, 0.0, 3), max_length=8, batch_size=2)
    first, second, both = translate(bundle, ["Ka lo mi.", "Ta re su no.", "Ka lo mi. Ta re su no."], beam)
    every = sorted(((score + more, f"{one} {other}") for one, score in first.hypotheses for other, more in second.hypotheses), reverse=True)
    assert [text for text, _ in both.hypotheses] == [text for _, text in every[:3]]
    assert [score for _, score in both.hypotheses] == pytest.approx([score for score, _ in every[:3]])


@pytest.mark.parametrize("penalty", [0.0, 1.0, 5.0])
def test_the_n_best_lines_begin_with_the_text_and_differ(bundle: Bundle, penalty: float) -> None:
    beam = Decoding(method="beam", search=BeamSearch(4, penalty, 4), max_length=8, batch_size=2)
    translator = LineTranslator(Engine(bundle, beam), bundle.tokenizer, languages=("en", "de"))
    for line in translator.translate(["Kalo mita resu.", "| Kalo {name} mita | Resu |", "Ka <b>lo</b> mi. Ta re su."]):
        assert line.hypotheses[0] == (line.text, line.score)
        assert len({text for text, _ in line.hypotheses}) == len(line.hypotheses) > 2  # broken characters are no difference
        others = [score for _, score in line.hypotheses[1:]]
        assert others == sorted(others, reverse=True)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.text(max_size=30), max_size=5))
def test_each_input_line_gives_one_output_line(bundle: Bundle, lines: list[str]) -> None:
    found = translate(bundle, lines, replace(GREEDY, max_length=4, batch_size=3))
    assert len(found) == len(lines)
    assert all(line.text == text for line, text in zip(found, lines, strict=True) if not text.strip())


def test_every_hypothesis_has_the_protected_spans(bundle: Bundle) -> None:
    line = "- Kalo {name} mita, {name}. See https://example.org/x."
    beam = Decoding(method="beam", search=BeamSearch(4, 0.0, 3), max_length=8, batch_size=2)
    for chosen in (GREEDY, beam):
        translator = LineTranslator(Engine(bundle, chosen), bundle.tokenizer, languages=("en", "de"))
        (found,) = translator.translate([line])
        for text in (found.text, *(text for text, _ in found.hypotheses)):
            assert text.startswith("- ") and text.count("{name}") == 2 and text.count("https://example.org/x") == 1
        assert found.text in [text for text, _ in found.hypotheses[:1] or [(found.text, 0.0)]]


def test_every_line_is_decoded_if_languages_are_unknown(bundle: Bundle, lines: list[str]) -> None:
    engine = Engine(bundle, GREEDY)
    (plain,) = LineTranslator(engine, bundle.tokenizer).translate(["|---|"])
    (copied,) = LineTranslator(engine, bundle.tokenizer, languages=("en", "de")).translate(["|---|"])
    assert plain.tokens > 0 and copied == Translation("|---|")
    checked = [one.text for one in LineTranslator(engine, bundle.tokenizer, languages=("en", "de")).translate(lines)]
    assert checked == [one.text or line for one, line in zip(translate(bundle, lines), lines, strict=True)]


@pytest.mark.parametrize("line", CASES.a_copied_line_keeps_its_tags)
def test_a_copied_line_keeps_its_tags(bundle: Bundle, line: str) -> None:
    (copied,) = LineTranslator(Engine(bundle, GREEDY), bundle.tokenizer, languages=("en", "de")).translate([line])
    assert copied == Translation(line)


@pytest.mark.parametrize(("line", "expected"), CASES.the_stored_tags_of_equal_sources_are_copied)
def test_the_stored_tags_of_equal_sources_are_copied(bundle: Bundle, line: str, expected: str) -> None:
    entries = list(sentence_pairs([Pair("Please <b>save</b> now", "<b>Speichern</b> bitte jetzt")]))
    translator = LineTranslator(Engine(bundle, GREEDY), bundle.tokenizer, languages=("en", "de"))
    finder = Memory(build_index(entries), 100)
    translator.use_drafts(Drafts(finder, DraftGate(1), copy_exact=True))
    assert [found.text for found in translator.translate([line])] == [expected]


def test_a_sentence_that_is_copied_from_an_earlier_translation_is_not_cut(bundle: Bundle) -> None:
    entries = list(sentence_pairs([Pair("ka lo mi, re su ta.", "ta su re.")]))
    translator = LineTranslator(Engine(bundle, replace(GREEDY, longest_sentence=4)), bundle.tokenizer)
    assert len(next(translator.translate(["ka lo mi, re su ta."])).sentences) > 1
    translator.use_drafts(Drafts(Memory(build_index(entries), 100), DraftGate(1), copy_exact=True))
    assert next(translator.translate(["ka lo mi, re su ta."])).text == "ta su re."


@pytest.mark.parametrize("split", [True, False])
def test_the_pieces_of_a_long_sentence_are_decoded_from_its_draft(bundle: Bundle, split: bool) -> None:
    lines = ["ka lo mi, re su ta.", "Ka lo. Mi re, su ta ka, lo mi.", "<b>ka lo</b> mi, re su ta, ka."]
    translator = LineTranslator(
        Engine(bundle, replace(GREEDY, longest_sentence=4)), bundle.tokenizer, split=split, languages=None if split else ("en", "de")
    )
    greedy = list(translator.translate(lines))
    entries = list(sentence_pairs([Pair(without_tags(line).text, each.text) for line, each in zip(lines, greedy, strict=True)]))
    translator.use_drafts(Drafts(Memory(build_index(entries), 60), DraftGate(1)))
    drafted = list(translator.translate(lines))
    assert [each.text for each in drafted] == [each.text for each in greedy]
    assert [each.sentences for each in drafted] == [each.sentences for each in greedy]
    assert all(each.draft is not None and each.draft.tokens > 0 for each in drafted)


def test_a_sentence_is_cut_if_only_an_equal_one_is_copied() -> None:
    found = iter([FoundDraft("x", 100.0, "previous"), FoundDraft("y", 100.0, "previous", guessed=True), None])
    segments = Segments(("ka lo", "ka lo", "mi"), ("- ", " ", " ", ""))
    sentences = whole_sentences(segments, found, lambda _, draft: not draft.guessed)
    assert [(each.end, each.copied) for each in sentences] == [(7, True), (13, False), (16, False)]
    assert without_cuts(sentences) == set()
