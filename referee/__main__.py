"""The program `referee`; `python -m referee` is the same."""

import gc
import os
import signal
import sys
from types import FrameType


def run() -> None:
    """Be this process's program; while all that it needs is imported, Ctrl-C ends it."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # it is not ignored
        signal.signal(signal.SIGINT, _stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # bin/referee held it back until now
    gc.disable()  # to look through what is imported again and again would be a tenth of a start
    from .cli.main import main  # noqa: PLC0415  # as above

    main(prog_name="referee")


def _stop(number: int, _where: FrameType | None) -> None:
    """End at once; called by Python. There is nothing to tidy up, and a half-done import would show its traceback."""
    os.write(sys.stderr.fileno(), b"stopped before anything was begun\n")
    os._exit(128 + number)


if __name__ == "__main__":
    run()
