"""The program `referee`; `python -m referee` is the same."""

import gc
import os
import signal
import sys
from types import FrameType


def run() -> None:
    """Run the program; as long as its modules are being imported, Ctrl-C ends it at once."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # it is not ignored
        signal.signal(signal.SIGINT, _stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # bin/referee has blocked it until now
    gc.disable()  # collecting garbage again and again during imports would take a tenth of the start
    from .cli.main import main  # noqa: PLC0415  # as above

    main(prog_name="referee")


def _stop(number: int, _where: FrameType | None) -> None:
    """End at once; called by Python. An exception instead would show the traceback of a half-done import."""
    os.write(sys.stderr.fileno(), b"stopped before anything was begun\n")
    os._exit(128 + number)


if __name__ == "__main__":
    run()
