"""The table of settings, and rules that are off: each name has a text that its rule changes; without it the text is decoded as it is."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from specdec_cli.decoding.methods import DECODINGS, OPTIONS
from specdec_cli.decoding.options import DecodingOptions, check_known, check_options
from specdec_cli.errors import UsageError
from specdec_cli.pipeline.corrector import LineCorrector, correction_rules
from specdec_cli.pipeline.text_variants import RULES, variants_with
from tests.command_line import run
from tests.stored_engine import opened
from tests.tables import tables

CASES = tables(__file__)

WATCHED = {
    "dates": ("It was on May 3, 2020.", "Es war sch\u00f6n."),
    "numbers": ("It costs 2,350 dollars.", "Es kostet viel."),
    "names": ("Mr. Brandenberg is here.", "Er ist hier."),
}
"""Texts with outputs that lack something, which a rule sees."""
GERMAN = {"genders": "Die Lehrer:innen sind da."}


def shown(text: str, languages: tuple[str, str], without: tuple[str, ...] = ()) -> list[tuple[str, tuple[str, ...]]]:
    lacks = "\u20ac\ufb01\u2026".__contains__
    return [(each.name, each.segments.texts) for each in variants_with(lacks, text, latin=True, languages=languages, without=without)]


@pytest.mark.parametrize("rule", [*CASES.texts, *GERMAN])
def test_a_text_is_decoded_in_other_ways_only_with_the_rule(rule: str) -> None:
    text, languages = (CASES.texts[rule], ("en", "de")) if rule in CASES.texts else (GERMAN[rule], ("de", "en"))
    assert shown(text, languages) != shown(text, languages, (rule,))
    others = tuple(name for name in RULES if name != rule)
    assert shown(text, languages, others) != shown(text, languages, RULES)


@pytest.mark.parametrize("rule", WATCHED)
def test_an_output_is_judged_only_with_the_rule(rule: str) -> None:
    text, output = WATCHED[rule]
    find = partial(variants_with, lambda _: False, text, latin=True, languages=("en", "de"))
    with_rule, without = (next(find(without=names)).restore([output]) for names in ((), (rule,)))
    assert with_rule is not None and without is not None and len(without.problems) < len(with_rule.problems)


def test_all_rules_have_a_case_and_without_all_a_text_is_decoded_as_it_is() -> None:
    assert {*CASES.texts, *WATCHED, *GERMAN} == set(RULES)
    for text in (*CASES.texts.values(), *(text for text, _ in WATCHED.values())):
        assert all(part in text for _, texts in shown(text, ("en", "de"), RULES)[:1] for part in texts if "{" not in text)


@pytest.fixture(scope="module")
def corrector(pytestconfig: pytest.Config) -> Callable[..., LineCorrector]:
    bundle, engine = opened("en-gec", pytestconfig.cache, with_scores=True, mode="balanced")
    return partial(LineCorrector.of_bundle, engine, bundle, mode="balanced")


@pytest.mark.parametrize(("line", "rule"), CASES.an_edit_before_the_model_has_the_name_of_its_rule_which_turns_it_off)
def test_an_edit_before_the_model_has_the_name_of_its_rule_which_turns_it_off(
    line: str, rule: str, corrector: Callable[..., LineCorrector]
) -> None:
    made = list[str]()
    (found,) = corrector(on_spelt=lambda *found: made.append(found[2])).correct([line])
    assert made == [rule] and found.text != line
    made.clear()
    list(corrector(on_spelt=lambda *found: made.append(found[2]), without=[rule]).correct([line]))
    assert made == []


@pytest.mark.parametrize(("line", "rule"), CASES.a_rule_that_rejects_edits_can_be_off)
def test_a_rule_that_rejects_edits_can_be_off(line: str, rule: str, corrector: Callable[..., LineCorrector]) -> None:
    rejected = list[str]()
    list(corrector(on_rejected=lambda *found: rejected.append(found[2])).correct([line]))
    assert rule in rejected
    rejected.clear()
    list(corrector(on_rejected=lambda *found: rejected.append(found[2]), without=[rule]).correct([line]))
    assert rule not in rejected


@pytest.mark.parametrize("command", ["translate", "correct"])
def test_a_name_of_no_rule_is_refused_with_the_names_of_all(command: str) -> None:
    rules = correction_rules() if command == "correct" else list(RULES)
    found = run(command, "--without", "nothing", text="")
    assert found.exit_code != 0 and len(set(rules)) == len(rules)
    assert f"--without 'nothing': no rule; the rules are {', '.join(rules)}" in found.output + str(found.exception)


GIVEN: tuple[tuple[dict[str, Any], set[str]], ...] = (
    ({"top_beta": 2}, {"specdec++", "blockwise", "input-guided"}),
    ({"tolerance": 1.0}, {"specdec++", "blockwise", "input-guided"}),
    ({"preset": "high-quality"}, {"specdec++", "blockwise", "input-guided"}),
    ({"preset": "exact"}, {*DECODINGS, "lookup,specdec"}),
    ({"block_size": "auto"}, {*DECODINGS, "lookup,specdec"}),
    ({"block_size": 3}, {*DECODINGS, "lookup,specdec"} - {"greedy", "beam", "bidirectional", "mask-predict"}),
    ({"n_best": 2}, {"beam", "bidirectional"}),
    ({"match": "unique"}, {"input-guided"}),
    ({"stop": "fixed-point"}, {"jacobi", "gs-jacobi", "hybrid-jacobi"}),
    ({"jacobi_length": 9}, {"jacobi", "hybrid-jacobi"}),
    ({"iterations": 4}, {"mask-predict"}),
    ({"length_beam": 3}, {"mask-predict"}),
)
"""Settings of a request, and the decodings with which they are valid."""


@pytest.mark.parametrize("decoding", [*DECODINGS, "lookup,specdec"])
@pytest.mark.parametrize(("given", "allowed"), GIVEN)
def test_a_setting_is_valid_only_with_its_decodings(given: dict[str, Any], allowed: set[str], decoding: str) -> None:
    request = DecodingOptions(decoding=decoding, **given)
    if decoding in allowed:
        check_options(request, decoding)
    else:
        with pytest.raises(UsageError, match=f"not for {decoding.replace('+', '.')}"):
            check_options(request, decoding)


def test_every_option_of_some_decodings_is_covered() -> None:
    assert set(OPTIONS) <= {name for given, _ in GIVEN for name in given}


@pytest.mark.parametrize("given", [{"top_beta": 2}, {"tolerance": 0.5}])
def test_an_exact_preset_contradicts_a_tolerance(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="contradict"):
        check_options(DecodingOptions(preset="exact", **given), "specdec++")


@pytest.mark.parametrize(("decoding", "words"), [("magic", "'magic' is not known"), ("lookup,beam", "a chain is of .*, not of beam")])
def test_unknown_decodings_are_refused(decoding: str, words: str) -> None:
    with pytest.raises(UsageError, match=f"decoding {decoding}: {words}"):
        check_known(decoding)


def test_every_decoding_is_known() -> None:
    for decoding in (*DECODINGS, "lookup,input-guided,jacobi"):
        check_known(decoding)
