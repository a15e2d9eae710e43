"""The game cases of the Q course over loopback TCP: the real listener, sign-up and runner, actors in other processes.

Several tables and actor processes run at the same time.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections import deque
from pathlib import Path
from typing import Any

from twisted.internet import reactor
from twisted.internet.defer import Deferred, gatherResults

from referee.games.base import BadSetup
from referee.games.q.game import QGame
from referee.net.links.lobby import SignUpPolicy
from referee.net.matches.session import MatchSession
from referee.net.matches.settings import MatchServices, MatchSettings
from referee.observers import Observer, Observers
from referee.plugins import installed
from referee.record.audit.match import audit

from .peers.q_actors import Actor
from .q_games import MAX_SEATS, as_reported, fewest_players
from .q_json import options_of, position_of
from .time_controls import time_control

HOSTS = 4
"""Processes of actors, each at one table at a time. Looping actors cost nothing, so there are more than cores."""
LOOP_LIMIT_MS = 200.0
"""Limit of a call if an actor never answers; in all other cases nobody is late."""
LIMIT_MS = 6000.0
SIGN_UP_S = 5.0

_reactor: Any = reactor


def play_over_tcp(cases: list[dict[str, Any]], logs: Path | None) -> dict[str, Any]:
    """Play game cases, and audit every record.

    Args:
        cases: those to play.
        logs: where to keep the records; None: nowhere.

    Returns:
        Case id -> `[winners, misbehaved]`.
    """
    found: dict[str, Any] = {}
    problems: list[Any] = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = logs or Path(scratch)
        waiting = deque(cases)
        tables = gatherResults([Deferred.fromCoroutine(_work(waiting, found, folder)) for _ in range(HOSTS)])
        tables.addErrback(problems.append)
        tables.addBoth(lambda _: _reactor.stop())
        _reactor.run()
    for problem in problems:
        problem.raiseException()
    return found


async def _work(waiting: "deque[dict[str, Any]]", found: dict[str, Any], folder: Path) -> None:
    """Play cases from the common queue with one actor process until none is left."""
    command = [sys.executable, "-m", "tests.peers.q_host"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, text=True) as host:  # noqa: ASYNC220  # once, at the start
        assert host.stdin is not None
        try:
            while waiting:
                case = waiting.popleft()
                found[case["id"]] = await _play(case, host, folder)
        finally:
            host.stdin.close()
            host.terminate()


async def _play(case: dict[str, Any], host: "subprocess.Popen[str]", folder: Path) -> Any:
    staff = case["harness"] == "remote"
    loops = bool(case.get("special")) or any(Actor(spec, staff=staff).loops for spec in case["actors"])
    garbles = staff and not case.get("in_process", True)
    position = position_of(case["state"])
    settings = MatchSettings(
        options=options_of(case),
        time=time_control(per_move_ms=LOOP_LIMIT_MS if loops or garbles else LIMIT_MS, start_ms=LIMIT_MS),
        acknowledge=True,
        seed=0,
        position=position,
        folder=folder,
        match="case-" + "".join(char if char.isalnum() else "-" for char in case["id"]),
    )
    most = MAX_SEATS if staff else len(position["players"])
    policy = SignUpPolicy(min_players=fewest_players(case), max_players=most, wait_s=SIGN_UP_S, tries=1)
    services = MatchServices(observers=Observers(JobSender(case, host)))
    table = MatchSession(_reactor, time.monotonic, QGame(), settings, services)
    try:
        played = await table.play_after_sign_up("tcp:0:interface=127.0.0.1", policy)
    except BadSetup:
        return [[], []]  # fewer players than the state has
    if played is None:
        return [[], []]
    if played.result.void is not None:
        raise RuntimeError(f"{case['id']}: the match is void: {played.result.void}")
    audit(played.record, lambda _name: QGame(), find_wire=installed().wire)
    return as_reported(list(played.names), played.result)


class JobSender(Observer):
    """Sends the actors of a case the address to connect to."""

    def __init__(self, case: dict[str, Any], host: "subprocess.Popen[str]") -> None:
        self._case = case
        self._host = host

    def note(self, event: str, /, **facts: Any) -> None:
        """Send the job once there is an address."""
        if event != "listening":
            return
        case, staff = self._case, self._case["harness"] == "remote"
        job = {"address": facts["address"], "actors": case["actors"], "staff": staff, "special": case.get("special")}
        assert self._host.stdin is not None
        self._host.stdin.write(json.dumps(job) + "\n")
        self._host.stdin.flush()
