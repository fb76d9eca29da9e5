"""The entry point of the `specdec` script and of `python -m specdec_cli`."""

import signal
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line. SIGINT during its imports ends the process without a traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from specdec_cli.processors import keep_order_of_sums

    keep_order_of_sums()
    from specdec_cli.app import main as run
    from specdec_cli.process import end_process

    code: int | str | None = 0
    try:
        run()
    except SystemExit as end:
        code = end.code
    # After the handler, which frees the exception with its traceback: unfinished generators are closed first.
    end_process(code)


if __name__ == "__main__":
    main()
