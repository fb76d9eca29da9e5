"""Random clients of a server find no wrong answers, no leaks, and nothing that stays running; what should not happen is noticed."""

import pytest

from tools.soak import ANSWERED, MOST_GROWTH, MOST_MORE, WARM, Report, State, soak


@pytest.mark.long
def test_random_clients_find_no_problems() -> None:
    report = soak(60)
    assert report.problems == []
    assert {"leave", "garbage", "broken 400", *(f"{name} 200" for name in ANSWERED)} <= set(report.counts)


@pytest.mark.parametrize("last", [State(1.01 * MOST_GROWTH * 100, 20, 8), State(100, 21 + MOST_MORE, 8), State(100, 20, 9 + MOST_MORE)])
def test_a_server_that_grows_is_a_problem(last: State) -> None:
    report = Report(warm=State(100, 20, 8), last=State(MOST_GROWTH * 100, 20 + MOST_MORE, 8 + MOST_MORE))
    report.check_growth()
    assert report.problems == []
    report.last = last
    report.check_growth()
    assert report.problems == [f"the server has grown from {State(100, 20, 8)} to {last}"]


def test_a_server_that_answers_too_little_is_a_problem() -> None:
    report = Report()
    report.counts.update({f"{name} 200": WARM for name in ANSWERED[1:]})
    assert not report.is_warm
    report.check_growth()
    assert report.problems == [f"some action has been answered less than {WARM} times"]
    report.counts[f"{ANSWERED[0]} 200"] = WARM
    assert report.is_warm
