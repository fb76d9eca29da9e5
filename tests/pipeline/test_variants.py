"""Problems of outputs and their costs decide which variant of a text is taken."""

from collections.abc import Callable, Sequence

import pytest

from specdec_cli.console.reports import Warner
from specdec_cli.pipeline.decoded_text import Candidate
from specdec_cli.pipeline.text_variants import variants_with
from specdec_cli.pipeline.translator import LineTranslator
from specdec_cli.pipeline.variants import COSTS, Problem, Restored, Variant, variants
from specdec_cli.text.io.lines import Line
from specdec_cli.work.translating import show_tried
from tests.stored_engine import opened
from tests.variants import chosen


def candidates(listed: list[Variant], model: Callable[[str], str]) -> list[tuple[str, Restored | None]]:
    """The name of each variant, and its output."""
    return [(each.name, each.restore([model(source) for source in each.segments.texts])) for each in listed]


def test_the_output_with_the_least_cost_is_taken() -> None:
    def model(source: str) -> str:
        return {"see %s and K8 now": "no", "see X1 now": "X1", "see": "sieh", "now": "jetzt"}.get(source, source.replace("K7", ""))

    found = dict(candidates(list(variants("see {name} now")), model))
    assert found["K7"] is None
    assert found["X1"] == Restored("{name}", (Problem("text lost"),))
    assert found["in parts"] == Restored("sieh {name} jetzt", (Problem("in parts"),))
    assert COSTS["in parts"] < COSTS["text lost"] < COSTS["number lost"] < COSTS["copied"]
    assert (
        chosen(variants("see {name} now"), lambda source: model(source).replace("%1", "").replace("4711", "")).text == "sieh {name} jetzt"
    )


def test_an_output_that_lost_less_is_taken_if_all_have_lost_something() -> None:
    def model(source: str) -> str:
        if "2,350" not in source:
            return ""
        return source.replace("1,204", "").replace("2,350", "2.350") if "X1" in source else source.replace("2,350", "").replace("1,204", "")

    found = chosen(variants_with(lambda _: False, "{a}: from 2,350 to 1,204 of it", languages=("en", "de")), model)
    assert found.text == "{a}: from 2.350 to  of it"
    assert len(found.shown) == len(set(found.shown)) > 4


def test_the_source_is_the_output_only_if_nothing_else_has_its_spans() -> None:
    assert chosen(variants("see {name}"), lambda source: source + " {name}" if "see" in source else source).text == "see {name}"


def test_variants_that_were_tried_are_told_and_shown(pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]) -> None:
    bundle, engine = opened("en-de", pytestconfig.cache)
    told: list[tuple[int, Sequence[Candidate], Variant]] = []
    translator = LineTranslator(engine, bundle.tokenizer, languages=("en", "de"), on_tried=lambda *each: told.append(each))
    list(translator.translate(["The house is old.", "She sold her car for €77."]))
    ((index, tried, taken),) = told
    assert [each.variant.name for each in tried] == ["known signs, as it is", "K7"] and taken is tried[1].variant
    assert tried[0].restored is not None and tried[0].restored.problems == (Problem("number lost", "77"),)
    warner = Warner(quiet=True)
    warner.window = [Line(number, "", "\n", f"a.txt, line {number}") for number in (7, 8)]
    show_tried(warner, index, tried, taken)
    shown = capsys.readouterr().err
    assert shown.startswith("a.txt, line 8: 2 variants\n")
    assert "x known signs, as it is: 'She sold her car for $77.' -> " in shown and "number lost 77 20" in shown
    assert "+ K7: 'She sold her car for K7.' -> " in shown


@pytest.mark.parametrize(("source", "is_problem"), [("see {name} now", True), ("see {name} \ufffd now", False)])
def test_broken_characters_are_a_problem_unless_the_source_has_some(source: str, is_problem: bool) -> None:
    found = dict(candidates(list(variants(source)), lambda text: f"{text} \ufffd"))["X1"]
    assert found is not None
    assert (Problem("broken character") in found.problems) is is_problem
