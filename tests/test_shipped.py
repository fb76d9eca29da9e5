"""The shipped bundles: their files, exactness, and translations and corrections."""

import pytest

from specdec_cli.benchmark.inputs import read_sample
from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.engines.reference import Engine
from specdec_cli.metrics.scoring import score
from specdec_cli.model.bundle import Bundle, load_bundle
from specdec_cli.opening.machine import move_to, resolve_machine
from specdec_cli.opening.models import CORRECTOR, SHIPPED, TRANSLATOR, shipped_bundles
from specdec_cli.pipeline.corrector import LineCorrector
from specdec_cli.pipeline.edit_filter import EditFilter
from specdec_cli.pipeline.translator import LineTranslator

MEGABYTE = 1_000_000
WRONG = ("I has went to the shop yestarday and buyed two apple.", "She dont like to plays football.")
RIGHT = (
    "The river flows through three countries.",
    "Das ist ein Satz, der nicht ge\u00e4ndert werden soll.",
    "  See `git pussh` at http://a.org/teh .",
)


@pytest.fixture(scope="module", params=["float32", "int8"])
def precision(request: pytest.FixtureRequest) -> str:
    """The precisions that users get."""
    return str(request.param)


@pytest.fixture(scope="module")
def lines(precision: str) -> list[str]:
    """English lines; fewer in the slower precision."""
    return list(read_sample().sources)[: 3 if precision == "int8" else None]


@pytest.fixture(scope="module")
def shipped(precision: str) -> Bundle:
    return move_to(resolve_machine("cpu", precision, 1), load_bundle(SHIPPED / "en-de"))


def translations(bundle: Bundle, lines: list[str], **request: object) -> list[tuple[tuple[int, ...], ...]]:
    """The ids of every sentence of every line."""
    engine = Engine(bundle, resolve(DecodingOptions(**request), bundle))  # type: ignore[arg-type]
    return [translation.sentences for translation in LineTranslator(engine, bundle.tokenizer).translate(lines)]


def test_shipped_bundles_are_small_licensed_and_described() -> None:
    assert {TRANSLATOR, CORRECTOR} <= set(shipped_bundles())
    for name in shipped_bundles():
        files = [path for path in (SHIPPED / name).rglob("*") if path.is_file()]
        assert sum(path.stat().st_size for path in files) < 55 * MEGABYTE
        assert "## Licence" in (SHIPPED / name / "README.md").read_text(encoding="utf-8")
        assert load_bundle(SHIPPED / name).info.licence


def test_specdec_has_greedy_output(shipped: Bundle, lines: list[str]) -> None:
    greedy = translations(shipped, lines, decoding="greedy", batch_size=8)
    for block_size, batch_size in ((1, 8), (4, 3), (7, 1), (10, 9)):
        assert translations(shipped, lines, decoding="specdec", block_size=block_size, batch_size=batch_size) == greedy


def test_source_copies_have_greedy_output(shipped: Bundle, lines: list[str]) -> None:
    greedy = translations(shipped, lines, decoding="greedy", batch_size=8)
    for match in ("unique", "unique-3", "nearest"):
        assert translations(shipped, lines, decoding="input-guided", match=match, batch_size=8) == greedy


def test_the_translator_translates_simple_sentences(shipped: Bundle, lines: list[str]) -> None:
    references = read_sample().references
    assert references is not None
    engine = Engine(shipped, resolve(DecodingOptions(batch_size=8, block_size=5), shipped))
    texts = [translation.text for translation in LineTranslator(engine, shipped.tokenizer).translate(lines)]
    assert score(texts, references[: len(lines)]).values["bleu"] > 15


def test_the_corrector_changes_only_wrong_lines(precision: str) -> None:
    bundle = move_to(resolve_machine("cpu", precision, 1), load_bundle(SHIPPED / "en-gec"))
    edit_filter = EditFilter.of(bundle.info)
    found = {}
    for decoding in ("greedy", "input-guided"):
        engine = Engine(bundle, resolve(DecodingOptions(decoding=decoding, batch_size=4, with_scores=True), bundle))
        found[decoding] = list(LineCorrector(engine, bundle.tokenizer, edit_filter).correct([*WRONG, *RIGHT]))
    texts = [correction.text for correction in found["input-guided"]]
    assert texts[:2] != list(WRONG) and texts[2:] == list(RIGHT)
    assert [c.sentences for c in found["greedy"]] == [c.sentences for c in found["input-guided"]]
    assert 2 * sum(c.rounds for c in found["input-guided"]) < sum(c.rounds for c in found["greedy"])


def test_signs_that_the_vocabulary_lacks_are_translated_with_the_output_of_greedy() -> None:
    shipped = move_to(resolve_machine("cpu", "float32", 1), load_bundle(SHIPPED / "en-de"))
    texts = ["The price is \u20ac5.", "It costs \u00a3 5.", "[door closes]", "It is > 5 and < 10."]
    outputs = []
    for decoding in ("greedy", "specdec"):
        engine = Engine(shipped, resolve(DecodingOptions(decoding=decoding), shipped))
        outputs.append([each.text for each in LineTranslator(engine, shipped.tokenizer, languages=("en", "de")).translate(texts)])
    assert outputs[0] == outputs[1]
    for signs, output in zip(("\u20ac5", "\u00a3", "[]", "><"), outputs[0], strict=True):
        assert [output.count(sign) for sign in signs] == [1] * len(signs)


def test_times_of_the_12_hour_clock_are_translated(shipped: Bundle) -> None:
    texts = ["No. For 9:00 p.m. tonight.", "Call me at 8pm.", "The train leaves at 6:15 a.m.", "Is 9am fine?"]
    engine = Engine(shipped, resolve(DecodingOptions(), shipped))
    found = [each.text for each in LineTranslator(engine, shipped.tokenizer, languages=("en", "de")).translate(texts)]
    assert all(f" {time} Uhr" in text for time, text in zip(("21:00", "20", "6:15", "9"), found, strict=True)), found


def test_errors_beside_emoji_and_quotation_marks_are_corrected() -> None:
    bundle = move_to(resolve_machine("cpu", "float32", 1), load_bundle(SHIPPED / "en-gec"))
    engine = Engine(bundle, resolve(DecodingOptions(with_scores=True), bundle))
    corrector = LineCorrector(engine, bundle.tokenizer, EditFilter.of(bundle.info), languages=("en", "en"))
    lines = ["He don\u2019t like it.", "\U0001f600 He have a car. \U0001f600\U0001f600 She don't like it."]
    right = ["He doesn\u2019t like it.", "\U0001f600 He has a car. \U0001f600\U0001f600 She doesn't like it."]
    found = list(corrector.correct(lines))
    assert [each.text for each in found] == right
    assert [[line[edit.start : edit.end] for edit in each.edits] for line, each in zip(lines, found, strict=True)] == [
        ["don\u2019t"],
        ["have", "don't"],
    ]
