"""Pairs a round in a process of its own: a large one takes seconds, and would hold up every match meanwhile.

Started as a program, it reads what is to be paired from stdin, and writes the pairing to stdout.
"""

import signal
import subprocess
import sys

import msgspec

from ...errors import RefereeError
from ...tournament.pairing.base import RoundToPair, Table
from ...tournament.pairing.dutch import pair_round


class PairingFailed(RefereeError):
    """The process that pairs a round ended without a pairing; the text says how, and what to do."""


class PairingProcess:
    """A process that pairs one round; it is started.

    Raises:
        OSError: it can't be started.
    """

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603  # this very program
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0,  # Ctrl-C at the terminal is for the referee, which ends this process itself
        )

    def pair(self, request: RoundToPair) -> tuple[tuple[Table, ...], str]:
        """Pair a round, and wait for it in a thread.

        Returns:
            As pair_round does.

        Raises:
            PairingFailed: the process ended without a pairing; its traceback, if it has one, is on stderr.
        """
        with self._process as process:
            written, _ = process.communicate(msgspec.json.encode(request))
        if process.returncode:
            how = f"signal {-process.returncode}" if process.returncode < 0 else f"status {process.returncode}"
            why = f"the process that was to pair round {request.round} ended with {how}"
            raise PairingFailed(f"{why}; give the same command again to pair it anew")
        return msgspec.json.decode(written, type=tuple[tuple[Table, ...], str])

    def end(self) -> None:
        """End the process, if it has not ended."""
        self._process.kill()


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a referee that was killed reads no pairing, and needs no traceback
    asked = msgspec.json.decode(sys.stdin.buffer.read(), type=RoundToPair)
    sys.stdout.buffer.write(msgspec.json.encode(pair_round(asked)))
