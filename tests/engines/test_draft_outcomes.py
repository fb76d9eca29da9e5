"""What is remembered of drafts over runs: after three runs in a row in which they did not pay, they are not tried again."""

from pathlib import Path

import pytest

from specdec_cli.engines.measurements import ENDING, DraftOutcomes
from specdec_cli.measurement_cache import CachedMeasurement, forget_measurements


@pytest.fixture
def measurement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CachedMeasurement:
    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path))
    return CachedMeasurement("drafts", ("key",))


def run(measurement: CachedMeasurement, *judged: tuple[int, bool]) -> bool:
    """A run that judges its drafts after so many rounds, each with its outcome; whether the next run ends trials."""
    outcomes = DraftOutcomes(measurement)
    for rounds, pays in judged:
        outcomes.judge(rounds, pays)
    return DraftOutcomes(measurement).ended


def test_trials_end_after_runs_in_which_drafts_did_not_pay(measurement: CachedMeasurement) -> None:
    assert [run(measurement, (30, False)) for _ in range(ENDING)] == [False] * (ENDING - 1) + [True]
    assert forget_measurements() == 1
    assert not run(measurement)


def test_a_run_in_which_drafts_pay_begins_the_count_anew(measurement: CachedMeasurement) -> None:
    outcomes = [[(30, False)], [(30, False), (100, True)], [(30, False)], [(30, True), (70, False)], [(30, False)]]
    assert [run(measurement, *each) for each in outcomes] == [False, False, False, False, True]


def test_few_rounds_are_not_judged(measurement: CachedMeasurement) -> None:
    assert not any(run(measurement, (10, False), (20, False)) for _ in range(2 * ENDING))
    assert not measurement.path.exists()
    # Between 30 and 60 rounds, nothing is written.
    assert not run(measurement, (30, True), (50, False))
    assert not measurement.path.exists()


@pytest.mark.parametrize("content", ['{"losses": -1}', '{"losses": 1.5}', "{}", "no json"])
def test_a_damaged_file_is_no_memory(content: str, measurement: CachedMeasurement) -> None:
    measurement.path.parent.mkdir(parents=True, exist_ok=True)
    measurement.path.write_text(content)
    assert not DraftOutcomes(measurement).ended
    assert not run(measurement, (30, False))
