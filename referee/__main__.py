"""The program `referee`; `python -m referee` is the same."""

import signal


def run() -> None:
    """Be this process's program; until it takes signals itself, the first one ends it without a word."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # while all that it needs is imported
    from .cli.main import main  # noqa: PLC0415  # as above

    main(prog_name="referee")


if __name__ == "__main__":
    run()
