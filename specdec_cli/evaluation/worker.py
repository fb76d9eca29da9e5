"""The far side of a process: a question a line on stdin, an answer a line on stdout, both JSON.

A question is `[name, argument, ...]`, its answer `{"answer": value}`. A failure that is the user's is answered by
`{"error": [kind, message]}`; any other ends the process with a traceback on stderr. The end of stdin ends it quietly.
"""

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any

from specdec_cli.errors import SpecdecError


def serve(handlers: Mapping[str, Callable[..., Any]]) -> None:
    """Answer questions until there are no more; the name of a question says which of `handlers` is called."""
    # An interrupt reaches every process of a terminal; the parent decides what becomes of this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="ascii")
    # What a library prints must not stand between the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        try:
            answer = {"answer": handlers[name](*arguments)}
        except SpecdecError as error:
            answer = {"error": [type(error).__name__, str(error)]}
        try:
            answers.write(json.dumps(answer) + "\n")
            answers.flush()
        except BrokenPipeError:
            sys.exit(1)
