"""The remote cases of the Q course as the course runs them: `referee xserver` and `referee xclients` over TCP.

Clients that break the protocol on purpose are a program of the tests (peers/q_bonus.py).
"""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from referee.games.q.game import QGame
from referee.plugins import installed
from referee.record.audit.match import audit

from .peers.q_actors import STAFF_NAME
from .ports import free_port
from .q_games import MAX_SEATS

AT_ONCE = 4
"""Number of cases at once; they mostly wait."""
WAIT_S = 0.3
"""Time between two clients in place of the cases' 2 s: still long enough to keep their order."""
LOOP_LIMIT_S = 3.0
"""Limit for a call where a player never answers, in place of 6 s; on a busy machine honest players need it."""
LONG_S = 60
CASE_S = 120.0


def play_in_processes(cases: list[dict[str, Any]], logs: Path | None) -> dict[str, Any]:
    """Play remote cases, and audit every record.

    Args:
        cases: those to play.
        logs: where to keep the records; None: nowhere.

    Returns:
        Case id -> what the server printed.
    """
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(AT_ONCE) as pool:
        folder = logs or Path(scratch)
        played = list(pool.map(lambda case: play_case(case, folder / _plain(case["id"])), cases))
    return {case["id"]: found for case, found in zip(cases, played, strict=True)}


def play_case(case: dict[str, Any], folder: Path) -> Any:
    """Play a case, check its record, and return the server's output."""
    port = free_port()
    folder.mkdir(parents=True, exist_ok=True)
    is_bonus = not case.get("in_process", True)
    clients = "tests.peers.q_bonus" if is_bonus else "referee"
    command = [clients, str(port)] if is_bonus else [clients, "xclients", str(port)]
    said = json.dumps({**case["client"], "wait": WAIT_S}) + (json.dumps(case["special"]) if "special" in case else "")
    with _started(["referee", "xserver", str(port), "--logs", str(folder)], json.dumps(_hurried(case))) as serving:
        try:
            assert serving.stderr is not None
            told = ""
            while "listens on" not in told:
                line = serving.stderr.readline()
                assert line, f"the server ended before it listened: {told}"
                told += line
            with _started(command, said) as playing:
                printed, problems = serving.communicate(timeout=CASE_S)
                assert serving.returncode == 0, problems
                _, problems = playing.communicate(timeout=CASE_S)
                assert playing.returncode == 0, problems
        finally:
            serving.kill()
    for record in folder.glob("*.jsonl"):
        audit(record, lambda _name: QGame(), find_wire=installed().wire)
    return json.loads(printed)


def _hurried(case: dict[str, Any]) -> dict[str, Any]:
    """Return a case's configuration with a log and limits that do not depend on how busy the machine is.

    Where four players end the wait, it may be long; a limit that is passed for certain may be short.
    """
    config: dict[str, Any] = {**case["server"], "quiet": False}
    if len(config["ref-spec"]["state0"]["players"]) == MAX_SEATS:
        config["server-wait"] = LONG_S
    never = case.get("special") or any(len(spec) == 4 and spec[2] != "a cheat" for spec in case["actors"])
    if not never and not any(STAFF_NAME.match(str(spec[0])) for spec in case["actors"]):
        return config
    return {**config, "ref-spec": {**config["ref-spec"], "per-turn": LOOP_LIMIT_S}}


def _started(command: list[str], said: str) -> "subprocess.Popen[str]":
    """Start a Python module as a program that reads its whole input first."""
    with tempfile.TemporaryFile("w+") as given:
        given.write(said)
        given.seek(0)
        return subprocess.Popen(
            [sys.executable, "-m", *command],
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=_ROOT,
            env=_environment(),
        )


@cache
def _environment() -> dict[str, str]:
    """Return an environment in which all programs share one cache of compiled modules."""
    folder = tempfile.mkdtemp(prefix="referee-compiled-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    own = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return {**own, "PYTHONPYCACHEPREFIX": folder}


_ROOT = Path(__file__).parents[1]


def _plain(name: str) -> str:
    return "".join(char if char.isalnum() else "-" for char in name)
