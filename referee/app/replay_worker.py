"""Makes pages of matches for a contest's site, in a process of its own: one page for each line that it reads.

A line names the folder and the match; the answer is a line, too. The process ends when nobody writes to it any more.
"""

import os
import sys
import time
from pathlib import Path

import msgspec
from msgspec import Struct

from ..pages.replays import make_on_request
from ..plugins import find_game

NICE = 10
"""Niceness of the process, so that it gives way to matches."""


class PageRequest(Struct, frozen=True):
    """A page that is to be made."""

    folder: str
    match: str


class PageAnswer(Struct, frozen=True):
    """The page was made, or not."""

    cost_s: float
    """Seconds of processor that it took."""
    error: str = ""
    """Reason why there is no page; empty if there is one."""


def answer(request: PageRequest) -> PageAnswer:
    """Make a page."""
    error, begun_s = "", time.process_time()
    try:
        make_on_request(request.match, Path(request.folder), find_game)
    except Exception as failure:  # noqa: BLE001  # whatever is wrong with a record, the next page can be made
        error = str(failure) or type(failure).__name__
    return PageAnswer(time.process_time() - begun_s, error)


def main() -> None:
    """Answer line by line."""
    os.nice(NICE)
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what the code of a game prints is no answer
        for line in sys.stdin.buffer:
            answers.write(msgspec.json.encode(answer(msgspec.json.decode(line, type=PageRequest))) + b"\n")
            answers.flush()


if __name__ == "__main__":
    main()
