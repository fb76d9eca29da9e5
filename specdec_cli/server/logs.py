"""Structured logs: one JSON object a line, on stderr."""

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

_LEVELS = ("info", "warning", "error")


class Log:
    """Writes events as JSON lines on stderr; with `quiet`, only warnings and errors. Texts of requests are not logged."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._least = _LEVELS.index("warning" if quiet else "info")

    def write(self, event: str, level: str = "info", **values: Any) -> None:
        """Write an event with a time, a level ("info", "warning" or "error") and `values`."""
        if _LEVELS.index(level) < self._least:
            return
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        record = {"time": time, "level": level, "event": event} | values
        print(json.dumps(record, ensure_ascii=False, default=str), file=sys.stderr, flush=True)

    def error(self, error: BaseException) -> None:
        """Write an unexpected exception with its traceback."""
        self.write("error", "error", error=repr(error), traceback=traceback.format_exception(error))


class LogHandler(logging.Handler):
    """Passes the warnings and errors of libraries to `log`."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record of a library's log."""
        level = "error" if record.levelno >= logging.ERROR else "warning"
        cause = {"error": repr(record.exc_info[1])} if record.exc_info else {}
        self._log.write("library", level, logger=record.name, message=record.getMessage(), **cause)
