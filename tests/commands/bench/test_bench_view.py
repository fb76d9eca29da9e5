"""The output of bench on narrow and wide terminals."""

import pytest

from specdec_cli.benchmark.measure import cpu_share_of_others, describe_environment
from specdec_cli.benchmark.tables import Table, View, machine_lines

WIDE = Table(("decoding", *(f"speedup vs {number}" for number in range(12))), (("specdec++:high-efficiency", *["1,234.56"] * 12),))


@pytest.mark.parametrize(("columns", "tables"), [("80", 3), ("200", 1), ("42", 12)])
def test_columns_that_do_not_fit_form_as_few_tables_as_possible(
    columns: str, tables: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    View(markdown=False).table(WIDE)
    shown = capsys.readouterr().out.splitlines()
    assert sum("specdec++:high-efficiency" in line for line in shown) == tables
    assert sum(line.count("1,234.56") for line in shown) == 12
    assert max(map(len, shown)) <= int(columns)


def test_a_busy_machine_is_reported() -> None:
    environment = describe_environment() | {"device": "cpu", "gpu": None, "precision": "int8", "threads": 2, "torch": "2"}
    assert len(machine_lines(environment | {"busy": 0.05})) == len(machine_lines(environment)) == 2
    assert machine_lines(environment | {"busy": 0.472})[2] == "Other processes took 47% of the processors: these times are not reliable."


def test_the_load_of_other_processes_is_a_share() -> None:
    share = cpu_share_of_others(0.05)
    assert share is None or 0 <= share <= 1


def test_a_table_in_a_pipe_has_one_line_of_headers(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    View(markdown=False).table(WIDE)
    header, _, row = [line for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert header.split() == ["decoding", *(word for number in range(12) for word in ("speedup", "vs", str(number)))]
    assert row.split() == ["specdec++:high-efficiency", *["1,234.56"] * 12]
