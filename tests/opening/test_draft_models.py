"""A draft model is opened beside the model that it drafts for; one that cannot draft for it is refused by name."""

from dataclasses import replace
from pathlib import Path

import pytest

from specdec_cli import Corrector, Translator
from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.engines.native import NativeEngine
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.files import write_json
from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.opening.listing import describe
from tests.command_line import run
from tests.converters import huggingface


def test_the_output_is_greedys(bundle_folder: Path, lines: list[str]) -> None:
    with Translator(bundle_folder, options=DecodingOptions(decoding="greedy"), batch_size=1) as greedy:
        expected = [each.text for each in greedy.lines(lines)]
    for batch_size in (1, 4):
        options = DecodingOptions(always_draft=True)
        with Translator(bundle_folder, options=options, draft_model=bundle_folder, batch_size=batch_size) as drafted:
            found = list(drafted.lines(lines))
        assert [each.text for each in found] == expected
        assert {each.decoding for each in found if each.text} == {"draft-model"}
        assert sum(each.rounds for each in found) < sum(each.tokens for each in found)


def test_a_multilingual_model_drafts_in_its_own_codes_of_the_languages(bundle_folder: Path, lines: list[str], tmp_path: Path) -> None:
    with Translator(bundle_folder, options=DecodingOptions(decoding="greedy")) as greedy:
        expected = [each.text for each in greedy.lines(lines)]
    options = DecodingOptions(always_draft=True)
    with Translator(bundle_folder, options=options, draft_model=huggingface.nllb(tmp_path).folder) as drafted:
        assert [each.text for each in drafted.lines(lines)] == expected
        model = drafted.opened.engine.draft_model  # type: ignore[attr-defined]
        assert model is not None and "loaded" in vars(model)


@pytest.fixture
def large(bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a bundle that counts as much larger than the shipped ones, and whose decoding is left to the toolkit."""
    save_bundle(replace(bundle, info=replace(bundle.info, decoding="auto")), tmp_path / "large")
    monkeypatch.setattr("specdec_cli.opening.models.MUCH_SMALLER", 0)
    return tmp_path / "large"


def test_a_large_translator_is_drafted_by_the_shipped_bundle(large: Path, lines: list[str]) -> None:
    with Translator(large, options=DecodingOptions(decoding="greedy"), batch_size=1) as greedy:
        expected = [each.text for each in greedy.lines(lines)]
    with Translator(large, batch_size=1) as translator:
        opened = translator.opened.engine
        assert isinstance(opened, NativeEngine) and opened.draft_model is not None
        assert opened.draft_model.path.parent.parent.name == "en-de"
        assert "loaded" not in vars(opened.draft_model)  # the first line starts as fast as without it
        assert [each.text for each in translator.lines(lines)] == expected


def test_nothing_drafts_unasked_where_options_or_the_size_say_otherwise(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    choices: list[dict[str, object]] = [{"draft_model": "none"}, {"options": DecodingOptions(beam_size=2)}]
    choices.append({"options": DecodingOptions(decoding="greedy")})
    for chosen in choices:
        with Translator(large, **chosen) as translator:  # type: ignore[arg-type]
            assert translator.decoding.draft_model == ""
    monkeypatch.setattr("specdec_cli.opening.models.MUCH_SMALLER", 3)
    with Translator(large) as translator:
        assert translator.decoding.draft_model == ""


def test_the_list_of_models_names_what_drafts_unasked(large: Path, bundle_folder: Path) -> None:
    assert [each.draft_model for each in describe([str(large), str(bundle_folder), "en-de"])] == ["en-de", "", ""]
    table = run("models", large, env={"COLUMNS": "200"}).stdout
    assert "auto, drafts of en-de" in table


def test_none_turns_it_off(bundle_folder: Path) -> None:
    with Translator(bundle_folder, draft_model="none") as translator:
        assert translator.decoding.draft_model == ""


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("de-en", "--draft-model de-en: it translates from de, the model from en"),
        ("en-gec", "--draft-model en-gec: its task is correct, that of the model is translate"),
    ],
)
def test_another_direction_or_task_is_refused(name: str, fault: str) -> None:
    with pytest.raises(UsageError, match=fault):
        Translator("en-de", draft_model=name)


def test_a_draft_model_that_is_not_there_is_an_error(bundle_folder: Path) -> None:
    with pytest.raises(ModelError, match="nothing: "):
        Translator(bundle_folder, draft_model="nothing")
    with pytest.raises(UsageError, match="--draft-model names one"):
        Translator(bundle_folder, options=DecodingOptions(decoding="draft-model"))
    with pytest.raises(UsageError, match="--draft-model: for decoding draft-model, not for beam"):
        Translator(bundle_folder, options=DecodingOptions(decoding="beam"), draft_model=bundle_folder)


def test_a_draft_model_of_another_order_is_refused(bundle_folder: Path, bundle: Bundle, tmp_path: Path) -> None:
    save_bundle(replace(bundle, info=replace(bundle.info, decoding="auto")), tmp_path / "other")
    path = tmp_path / "other" / "verifier" / "config.json"
    write_json(path, bundle.verifier.config.to_dict() | {"order": "right-to-left"})
    with pytest.raises(UsageError, match="its order is right-to-left"):
        Translator(bundle_folder, draft_model=tmp_path / "other")


def test_a_corrector_is_drafted_by_a_corrector(corrector_folder: Path, lines: list[str]) -> None:
    with Corrector(corrector_folder, options=DecodingOptions(decoding="greedy"), types=False) as greedy:
        expected = [each.text for each in greedy.lines(lines[:6])]
    with Corrector(corrector_folder, draft_model=corrector_folder, types=False) as drafted:
        assert [each.text for each in drafted.lines(lines[:6])] == expected
