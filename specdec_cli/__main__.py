"""The entry point of the `specdec` script and of `python -m specdec_cli`."""

import signal


def main() -> None:
    """Run the command line. SIGINT during its imports ends the process without a traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from specdec_cli.app import main as run

    run()


if __name__ == "__main__":
    main()
