"""Rules that are off: each name has a text that its rule changes, and without the rule the text is decoded as it is."""

from collections.abc import Callable
from functools import partial

import pytest
from typer.testing import CliRunner

from specdec_cli.app import app
from specdec_cli.pipeline.corrector import LineCorrector, correction_rules
from specdec_cli.pipeline.text_variants import RULES, variants_with
from tests.stored_engine import opened

TEXTS = {
    "escapes": "It\\'s late.",
    "readings": "Add 2 tbsp of oil.",
    "scales": "It costs $3m.",
    "stress": "This is VERY good.",
    "months": "It was on 4/13/2020.",
    "ordinals": "This is your {n}th visit.",
    "small letters": "THE HOUSE IS OLD.",
    "speech": '"It is late today," she said.',
    "quotation marks": 'The word "house" is short.',
    "brackets": "The house (the old one (of my father)) is red.",
    "menus": "Open File > Save As > Copy.",
    "repetition": "We go home, we go home, we go home.",
    "plain characters": "The \ufb01nd is old\u2026",
    "known signs": "The house costs 5 \u20ac {x}.",
}
"""Texts in English, each decoded in another way because of a rule."""
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


@pytest.mark.parametrize("rule", [*TEXTS, *GERMAN])
def test_a_text_is_decoded_in_other_ways_only_with_the_rule(rule: str) -> None:
    text, languages = (TEXTS[rule], ("en", "de")) if rule in TEXTS else (GERMAN[rule], ("de", "en"))
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
    assert {*TEXTS, *WATCHED, *GERMAN} == set(RULES)
    for text in (*TEXTS.values(), *(text for text, _ in WATCHED.values())):
        assert all(part in text for _, texts in shown(text, ("en", "de"), RULES)[:1] for part in texts if "{" not in text)


@pytest.fixture(scope="module")
def corrector(pytestconfig: pytest.Config) -> Callable[..., LineCorrector]:
    assert pytestconfig.cache is not None
    bundle, engine = opened("en-gec", pytestconfig.cache, with_scores=True, mode="balanced")
    return partial(LineCorrector.of_bundle, engine, bundle, mode="balanced")


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("I listen music every evening.", "listen-to"),
        ("It is raining and the the house is wet.", "repeated-word"),
        ("In my opinion it is good.", "introductory-comma"),
        ("I definitly like the house.", "misspelt-word"),
        ("The dog wagged it's tail.", "confused-word"),
    ],
)
def test_an_edit_before_the_model_has_the_name_of_its_rule_which_turns_it_off(
    line: str, rule: str, corrector: Callable[..., LineCorrector]
) -> None:
    made = list[str]()
    (found,) = corrector(on_spelt=lambda *found: made.append(found[2])).correct([line])
    assert made == [rule] and found.text != line
    made.clear()
    list(corrector(on_spelt=lambda *found: made.append(found[2]), without=[rule]).correct([line]))
    assert made == []


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("I need new furnitures.", "form"),
        ("Introduction to Linear Algebra", "title"),
        ("omg that was close", "chat"),
        ("thx, talk to you later", "name"),
        ("The kernel panics if the initramfs is missing.", "unknown word"),
        ("The dept. moved to St. Mary's Rd. in Jan. 2020.", "abbreviation"),
        ("Select * from users where id = 5.", "low score"),
        ("When I was a child, I play football.", "low score alone"),
        ("nah i'm good thanks", "small letters"),
        ("Table of contents", "marks at the end"),
    ],
)
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
    found = CliRunner().invoke(app, [command, "--without", "nothing"], input="")
    assert found.exit_code != 0 and len(set(rules)) == len(rules)
    assert f"--without 'nothing': no rule; the rules are {', '.join(rules)}" in found.output + str(found.exception)
