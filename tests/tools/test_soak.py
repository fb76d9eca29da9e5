"""Random clients of a server find no wrong answers, no leaks, and nothing that stays running; what should not happen is noticed."""

import pytest

from tools.soak import MOST_GROWTH, MOST_MORE, Report, State, soak


@pytest.mark.long
def test_random_clients_find_no_problems() -> None:
    report = soak(60)
    assert report.problems == []
    answered = {f"{name} 200" for name in ("translate", "check", "texts", "document", "fetched document", "show")}
    assert answered | {"leave", "garbage", "broken 400"} <= set(report.counts)


@pytest.mark.parametrize("last", [State(1.01 * MOST_GROWTH * 100, 20, 8), State(100, 21 + MOST_MORE, 8), State(100, 20, 9 + MOST_MORE)])
def test_a_server_that_grows_is_a_problem(last: State) -> None:
    report = Report(states=[State(50, 10, 2), State(100, 20, 8), *[State(90, 10, 8)] * 3, State(MOST_GROWTH * 100, 20 + MOST_MORE, 8)])
    report.check_states()
    assert report.problems == []
    report.states.append(last)
    report.check_states()
    assert report.problems == [f"the server has grown from {State(100, 20, 8)} to {last}"]
