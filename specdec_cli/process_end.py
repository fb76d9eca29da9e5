"""The end of the process without the interpreter's own, which frees every object one by one."""

import atexit
import contextlib
import os
import sys
import threading
from typing import NoReturn


def end_process(code: int | str | None) -> NoReturn:
    """Run the functions that wait for the interpreter's exit, flush stdout and stderr, and end the process with `code`,
    which has the meanings that `sys.exit` gives it.

    The interpreter's own exit takes tens of milliseconds, which delay the end after Ctrl-C. It is used if threads are
    left that it would wait for, if `code` is a message, or if a stream cannot be flushed.
    """
    waits = any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread())
    if not waits and not isinstance(code, str):
        atexit._run_exitfuncs()
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code or 0)
    sys.exit(code)
