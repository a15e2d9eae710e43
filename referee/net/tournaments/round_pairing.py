"""Pairs a round in a process of its own: a large one takes seconds, and would hold up every match meanwhile.

Started as a program, it reads what is to be paired from stdin, and writes the pairing to stdout.
"""

import subprocess
import sys

import msgspec

from ...pairing.balanced_tables import Table
from ...pairing.base import RoundToPair
from ...pairing.dutch import pair_round


def pair_apart(request: RoundToPair) -> tuple[tuple[Table, ...], str]:
    """Pair a round in a process of its own, and wait for it.

    Returns:
        As pair_round does.

    Raises:
        CalledProcessError: it failed; its traceback is on stderr.
    """
    command = [sys.executable, "-m", __name__]
    done = subprocess.run(  # noqa: S603  # this very program
        command, input=msgspec.json.encode(request), stdout=subprocess.PIPE, check=True
    )
    return msgspec.json.decode(done.stdout, type=tuple[tuple[Table, ...], str])


if __name__ == "__main__":
    asked = msgspec.json.decode(sys.stdin.buffer.read(), type=RoundToPair)
    sys.stdout.buffer.write(msgspec.json.encode(pair_round(asked)))
