"""The trial of drafts, which says once for a processor and a bundle whether drafts pay."""

import json
from pathlib import Path
from typing import Any

import pytest

from specdec_cli.engines.native_costs import OFTEN, DraftTrial
from specdec_cli.measurement_cache import CachedMeasurement, forget_measurements
from tests.native.decoding_requests import measured_trial


@pytest.fixture
def measurement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CachedMeasurement:
    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path))
    return CachedMeasurement("drafts", ("key",))


@pytest.mark.parametrize(
    ("sentences", "gain", "pays"),
    [
        (0, 2.0, None),
        (7, 0.1, None),
        (8, 0.8, False),
        (8, 0.9, None),
        (23, 2.0, None),
        (24, 0.9, False),
        (24, 1.0, None),
        (24, 1.2, True),
        (95, 1.1, None),
        (96, 1.1, True),
        (96, 1.04, False),
    ],
)
def test_a_trial_ends_when_the_difference_is_clear(measurement: CachedMeasurement, sentences: int, gain: float, pays: bool | None) -> None:
    trial = DraftTrial(measurement)
    assert trial.pays is None
    trial.go_on(measured_trial(sentences, gain))
    assert trial.pays is pays


def test_the_next_run_goes_on_and_remembers_the_end(measurement: CachedMeasurement) -> None:
    DraftTrial(measurement).go_on(measured_trial(OFTEN, 1.0))
    again = DraftTrial(measurement)
    assert list(again.measured.sentences) == [OFTEN, OFTEN]
    assert again.pays is None
    again.go_on(measured_trial(OFTEN - 1, 0.1))  # of a decoding that began at the same time
    assert again.pays is None
    again.go_on(measured_trial(96, 1.0))
    assert DraftTrial(measurement).pays is False
    assert forget_measurements() == 1
    assert DraftTrial(measurement).pays is None


def test_few_sentences_are_not_written(measurement: CachedMeasurement) -> None:
    trial = DraftTrial(measurement)
    trial.go_on(measured_trial(OFTEN // 2 - 1, 1.0))
    assert not measurement.path.exists()
    trial.go_on(measured_trial(OFTEN // 2, 1.0))
    assert json.loads(measurement.path.read_text())["sentences"] == [OFTEN // 2] * 2


@pytest.mark.parametrize(
    "change",
    [
        {"sentences": [-1, 3]},
        {"tokens": [1.5, 2]},
        {"tokens": [1, 2, 3]},
        {"milliseconds": [1, float("nan")]},
        {"milliseconds": 7},
        {"rounds": "1"},
        {"rounds": 0},
        {"tokens": [0, 5]},
        {"milliseconds": [5.0, 0.0]},
        {"more": 1},
    ],
)
def test_a_damaged_file_is_no_trial(change: dict[str, Any], measurement: CachedMeasurement) -> None:
    DraftTrial(measurement).go_on(measured_trial(96, 1.0))
    stored = json.loads(measurement.path.read_text())
    measurement.path.write_text(json.dumps(stored | change))
    assert DraftTrial(measurement).pays is None
