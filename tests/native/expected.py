"""Outputs of the reference engine in int8, stored, so that tests of the native engine need not compute them.

`tests/golden/expected/MODULE.json` has, for each case of a test module, the outputs of each call of `expected` in it. Usually they are
read. `SPECDEC_EXPECTED=compute`, which `make test-all` sets, computes all of them and compares them with those that are stored;
`SPECDEC_EXPECTED=update` computes and stores them (without `-n`: processes would overwrite each other's cases).
"""

import hashlib
import json
import os
import struct
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from specdec_cli.decoding.sentence import Hypothesis

FOLDER = Path(__file__).parent.parent / "golden" / "expected"
MODE = os.environ.get("SPECDEC_EXPECTED", "stored")


class Outcome(NamedTuple):
    """What an engine decoded, for comparison to the bit: ids, rounds, and a digest of log probabilities and the n best outputs."""

    ids: list[int]
    rounds: int
    digest: str


def outcome(decoded: Hypothesis) -> Outcome:
    """The outcome of a sentence."""
    digest = hashlib.sha256(struct.pack(f"<{len(decoded.log_probabilities)}f", *decoded.log_probabilities))
    for each in decoded.alternatives:
        digest.update(struct.pack(f"<{len(each.ids)}i2d", *each.ids, each.log_probability, each.score))
    return Outcome(decoded.ids, decoded.rounds, digest.hexdigest()[:16])


class Expectations:
    """The stored outcomes of one test case, in the order of its calls."""

    def __init__(self, module: str, case: str) -> None:
        self._path, self._case, self._call = FOLDER / f"{module}.json", case, 0
        self._stored: list[list[Any]] = self._read().get(case, [])
        self._computed: list[list[Outcome]] = []

    def __call__(self, compute: Callable[..., Iterable[Hypothesis]], *arguments: Any) -> dict[int, Outcome]:
        """What the reference engine decodes, by the number of the sentence: read, or else computed by `compute(*arguments)`."""
        call, self._call = self._call, self._call + 1
        stored = [Outcome(*line) for line in self._stored[call]] if call < len(self._stored) else []
        if MODE == "stored":
            assert stored, f"{self._case}: nothing is stored; run SPECDEC_EXPECTED=update pytest tests/native/{self._path.stem}.py"
            return dict(enumerate(stored))
        decoded = {each.number: outcome(each) for each in compute(*arguments)}
        computed = [decoded[number] for number in range(len(decoded))]
        if MODE == "update":
            self._computed.append(computed)
        else:
            assert computed == stored, "the reference engine decodes otherwise than when these outcomes were stored"
        return decoded

    def write(self) -> None:
        """Store what was computed, if that was asked for."""
        if self._computed:
            cases = self._read() | {self._case: self._computed}
            rows = (f"{json.dumps(case)}: [\n{_rows(cases[case])}\n]" for case in sorted(cases))
            self._path.parent.mkdir(exist_ok=True)
            self._path.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")

    def _read(self) -> dict[str, list[list[Any]]]:
        cases: dict[str, list[list[Any]]] = json.loads(self._path.read_text(encoding="utf-8")) if self._path.exists() else {}
        return cases


def expectations_of(item: pytest.Item) -> Expectations:
    """Those of a test case."""
    return Expectations(item.path.stem, item.name)


def _rows(calls: list[list[Any]]) -> str:
    return ",\n".join(json.dumps(lines, separators=(",", ":")) for lines in calls)
