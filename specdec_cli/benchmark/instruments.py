"""What each part of the reference engine uses: time, or floating-point operations."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.engines.reference import Engine

PARTS = ("encoder", "drafter's encoder", "drafter", "verifier")
"""The measured parts. "Drafter's encoder" is what the drafter computes once for each source, even if it has no encoder."""


class Meter:
    """Sums what `engine` uses in each of PARTS, of a quantity that grows, such as time or counted operations; `read` returns its value.

    Verifier and drafter of the engine are replaced, in place, by copies whose methods are measured.
    """

    def __init__(self, engine: Engine, read: Callable[[], float]) -> None:
        self.used = dict.fromkeys(PARTS, 0.0)
        self._read, self._running = read, False
        verifier, drafter = engine.verifier, engine.drafter
        engine.verifier = Verifier(verifier.network, verifier.forced, verifier.constraints)
        parts = {"start": "encoder"} | dict.fromkeys(("read", "raw_score", "judge", "score"), "verifier")
        for name, part in parts.items():
            setattr(engine.verifier, name, self._measured(getattr(engine.verifier, name), part))
        engine.drafter = cast(
            "Drafter",
            SimpleNamespace(
                limit=drafter.limit,
                capturable=False,
                reads_sentences=True,
                begin=self._measured(drafter.begin, "drafter's encoder"),
                propose=self._measured(drafter.propose, "drafter"),
                observe=self._measured(drafter.observe, "drafter"),
            ),
        )

    def _measured(self, method: Callable[..., Any], part: str) -> Callable[..., Any]:
        """`method`, whose use is added to that of `part`, unless another measured method calls it."""

        def measured(*arguments: Any, **named: Any) -> Any:
            if self._running:
                return method(*arguments, **named)
            self._running, before = True, self._read()
            try:
                return method(*arguments, **named)
            finally:
                self.used[part] += self._read() - before
                self._running = False

        return measured
