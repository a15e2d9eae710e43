"""Measures a storm of connections: a player stays silent while its address storms the lobby, and others play on.

Prints how long the referee stood still, and when the silent player was expelled. Each must be about its limit.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

from referee.record.key import VARIABLE, load_or_make

from ..peers.match_server import MatchServer
from ..peers.offences_made import POSITION
from ..peers.rogues import Rogue, playing
from ..peers.storm import KINDS, storming

AT, ELSEWHERE = "127.0.0.1", "127.0.0.2"
COME_BACK_S = 5.0
"""Time for which players may return, and the lobby stays open."""


def main(arguments: list[str]) -> int:
    """Play one match in each kind of storm.

    Returns:
        0 if only the silent player was expelled, and its limit was not extended.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks storm", description=__doc__)
    parser.add_argument("--limit-ms", type=float, default=1000.0)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[VARIABLE] = str(Path(folder, "key.pem"))  # never the user's own key
        key = load_or_make(Path(os.environ[VARIABLE]))[0].public
        with MatchServer(Path(folder), key) as server:
            return max([weather(server, kind, options.limit_ms) for kind in KINDS])


def weather(server: MatchServer, kind: str, limit_ms: float) -> int:
    """Play a match in a storm, print its result, and return 0 if that is right."""
    address = server.open(kind, "q", 3, position=POSITION, per_move_ms=limit_ms, come_back_s=COME_BACK_S)
    silent = Rogue(address)
    silent.hello("silent")
    others = [playing(address, name, ELSEWHERE) for name in ("ada", "bob")]
    with storming(kind, address, AT):
        silent.until_asked()
        begun = time.monotonic()
        silent.last_words()
        took_s = time.monotonic() - begun
    for other in others:
        other.join()
    outcome = server.outcome()
    stalls_ms = sorted((end - begin) * 1000 for begin, end in outcome.stalls)
    commands = [command["command"] for step in outcome.record.transitions for command in step.commands]
    extended = commands.count("extend-limit")
    print(
        f"{kind}: out after {took_s:.2f} s of a limit of {limit_ms / 1000:g} s, which was given again {extended} times"
    )
    print(f"  {len(stalls_ms)} standstills, the longest {stalls_ms[-1] if stalls_ms else 0:.0f} ms; {outcome.fouls}")
    return int(extended > 0 or [foul[:2] for foul in outcome.fouls] != [(0, "timeout")])
