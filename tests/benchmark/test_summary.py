"""Numbers of tables, computed from made-up times."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from specdec_cli.benchmark.results import Measured, exactness_violations, summarise
from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.runs import Output, Run, timed
from specdec_cli.benchmark.views import speedup_histogram
from specdec_cli.metrics.scoring import Score

ONE, TWO = (5, 6, 3), (7, 3)


def measured(decoding: str, seconds: Sequence[float], sentences: tuple[tuple[int, ...], ...] = (ONE, TWO), **row: Any) -> Measured:
    """A row of three lines (of one, two and no sentences), each of which takes a third of the time."""
    outputs = [Output("a", sentences[:1], 1), Output("b c", sentences, 3), Output("", (), 0)]
    runs = (Run(each, tuple(replace(output, seconds=each / 3) for output in outputs), 100 + each) for each in seconds)
    return Measured(Row(decoding).changed(**row), {}, tuple(runs))


def no_score(texts: Sequence[str]) -> None:
    assert texts == ["a", "b c", ""]


def test_the_numbers_of_a_row_are_computed() -> None:
    (result,) = summarise([measured("specdec", [0.9, 0.3, 0.6])], lambda _: Score({"bleu": 1.0}, {}))
    assert result.numbers["iterations"] == pytest.approx(4 / 3)
    assert result.numbers["tokens_per_round"] == pytest.approx(8 / 4)
    assert result.numbers["tokens_per_second"] == pytest.approx(8 / 0.6)
    # In the median run both lines take 200 ms; the second line has two sentences.
    assert result.numbers["ms_per_sentence.median"] == pytest.approx(150)
    assert result.numbers["ms_per_sentence.p95"] == pytest.approx(195)
    assert (result.quality, result.numbers["peak_memory_mb"]) == ({"bleu": 1.0}, 100.9)
    assert result.numbers["spread"] == pytest.approx((0.9 - 0.3) / 0.6)


def test_speedups_are_ratios_of_medians_under_equal_conditions() -> None:
    rows = [
        measured("greedy", [1, 9, 2]),
        measured("beam", [4, 4, 4]),
        measured("greedy", [8, 8, 8], batch_size=2),
        measured("specdec", [0.5, 7, 1]),
        measured("specdec", [2, 2, 2], batch_size=2),
        measured("specdec", [2, 2, 2], threads=2),
    ]
    results = summarise(rows, no_score)
    assert [r.numbers["speedup_vs_greedy"] for r in results] == [1, 0.5, 1, 2, 4, None]
    assert [r.numbers["speedup_vs_beam"] for r in results] == [2, 1, None, 4, None, None]


def test_a_row_is_compared_with_the_greedy_row_of_its_mode() -> None:
    rows = [
        measured("greedy", [4], mode="careful"),
        measured("greedy", [6], (ONE, (7, 8, 3)), mode="thorough"),
        measured("input-guided", [2], (ONE, (7, 8, 3)), mode="thorough"),
        measured("input-guided", [2], mode="balanced"),
    ]
    results = summarise(rows, no_score)
    assert [r.numbers["speedup_vs_greedy"] for r in results] == [1, 1, 3, 2]
    assert [r.first_difference for r in results] == [None] * 4


@pytest.mark.parametrize(("chosen", "count"), [("specdec", 1), ("lookup,gs-jacobi", 1), ("beam", 0)])
def test_the_decoding_that_auto_chose_must_be_exact_if_it_says_so(chosen: str, count: int) -> None:
    auto = replace(measured("auto", [1], (ONE, (7, 8, 3))), settings={"chosen": chosen})
    assert len(exactness_violations(summarise([measured("greedy", [1]), auto], lambda _: None))) == count


def test_a_row_with_a_margin_need_not_be_exact() -> None:
    own = replace(measured("input-guided", [1], (ONE, (7, 8, 3))), settings={"margin": 1.0})
    assert exactness_violations(summarise([measured("greedy", [1]), own], lambda _: None)) == []


def test_lines_are_identical_if_their_tokens_are_equal() -> None:
    rows = [measured("greedy", [1]), measured("specdec", [1], (ONE, (7, 8, 3))), measured("beam", [1], ((5, 3), TWO))]
    greedy, specdec, beam = summarise(rows, no_score)
    assert tuple(r.numbers["identical"] for r in (greedy, specdec, beam)) == ((3, 3), (2, 3), (1, 3))
    assert exactness_violations([greedy, specdec, beam]) == ["row specdec: 2 of 3 lines equal those of greedy; line 2 does not"]


def test_numbers_that_were_not_measured_are_none() -> None:
    runs = tuple(Run(1.0, tuple(Output(text, (ONE,)) for text in ("a", "b c", "")), None) for _ in range(2))
    (result,) = summarise([Measured(Row("ctranslate2-beam"), {}, runs)], no_score)
    assert result.numbers["tokens_per_second"] == 9
    missing = ("iterations", "tokens_per_round", "block_size", "drafted", "peak_memory_mb", "speedup_vs_greedy", "identical")
    assert [result.numbers[name] for name in (*missing, "ms_per_sentence.median", "ms_per_sentence.p95", "speedup_vs_beam")] == [None] * 10
    assert result.quality == {}
    (once,) = summarise([measured("greedy", [1.5])], no_score)
    assert once.numbers["spread"] is None


def test_the_histogram_has_bins_of_one_half() -> None:
    assert speedup_histogram([1, 1, 2.4, 1], [1, 0.9, 1, 2]) == [
        {"low": low, "count": count} for low, count in ((0.5, 1), (1.0, 2), (1.5, 0), (2.0, 1))
    ]
    assert speedup_histogram([], []) == []


def test_lines_are_timed_one_by_one_or_in_batches() -> None:
    def decode(lines: Sequence[str]) -> list[Output]:
        return [Output(line.upper(), ()) for line in lines]

    single, together = timed(decode, ["a", "b"], one_by_one=True), timed(decode, ["a", "b"], one_by_one=False)
    assert [output.text for output in single.outputs] == [output.text for output in together.outputs] == ["A", "B"]
    times = [output.seconds for output in single.outputs]
    assert sum(time for time in times if time is not None) == pytest.approx(single.seconds)
    assert [output.seconds for output in together.outputs] == [None, None]
