"""A draft model is opened beside the model that it drafts for; one that cannot draft for it is refused by name."""

from dataclasses import replace
from pathlib import Path

import pytest

from specdec_cli import Corrector, Translator
from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.files import write_json
from specdec_cli.model.bundle import Bundle, save_bundle


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
