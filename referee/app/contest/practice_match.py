"""One practice match: by which command it is played, and whether its record is whole."""

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event

from ...launch.starting import ChildProcess, ProcessCommand, if_alive, start
from ...record.reader import Record, RecordError, read_record
from ..tournament_file.plan import TournamentPlan

GRACE_S = 10.0
"""Between asking a match to stop and killing it: it writes its record and ends its programs."""
_S = 1000.0


def match_options(plan: TournamentPlan, players: tuple[str, str], folder: Path) -> Iterator[str]:
    """Yield the options by which `referee play` plays a match by the rules of a tournament.

    Args:
        plan: of the tournament.
        players: the author's program, and the one that has all other seats; lots are drawn for them.
        folder: takes the record.
    """
    spec, time = plan.spec, plan.spec.time
    own, other = players
    yield from (spec.game, own, *[other] * (spec.seats - 1), "--lot", "--logs", str(folder))
    for name, value in spec.options.items():
        yield f"--option={name}={json.dumps(value)}"
    yield f"--time={time.per_move_ms / _S}"
    if time.bank_ms is not None:
        yield from (f"--bank={time.bank_ms / _S}", f"--increment={time.increment_ms / _S}")
    yield from (f"--start-time={time.start_ms / _S}", f"--lag-margin={spec.lag_margin_ms / _S}")
    yield from ("--acknowledge",) if spec.acknowledge else ()


def confinement_options(plan: TournamentPlan) -> Sequence[str]:
    """Return what holds programs to the limits of a tournament."""
    return "--sandbox", plan.run_settings.sandbox, "--memory", str(plan.spec.memory_mib)


def find_record(folder: Path) -> Record | None:
    """Return the record in a match's folder; None if there is none. With a seal, the match is over."""
    for path in folder.glob("*.jsonl"):
        with contextlib.suppress(RecordError):
            return read_record(path)
    return None


class MatchProcess:
    """The process of a match; it is started.

    Args:
        command: its command line.
        log: takes what it says to the organiser.
    """

    def __init__(self, command: Sequence[str], log: Path) -> None:
        env = {name: value for name, value in os.environ.items() if name != "REFEREE_TOKEN"}
        argv = ProcessCommand(tuple(if_alive(command)))
        with log.open("ab") as errors:
            self._child = ChildProcess(start(argv, cwd=None, env=env, output=subprocess.DEVNULL, errors=errors))
        self._ended = Event()
        self._child.when_ended(lambda _status: self._ended.set())

    @property
    def has_ended(self) -> bool:
        """Whether it, and all that it started, is gone."""
        return self._ended.is_set()

    def end(self) -> None:
        """End it, if it has not ended: the match goes on from its record; called in a thread."""
        self._child.send_signal(signal.SIGTERM)
        if not self._ended.wait(GRACE_S):
            self._child.send_signal(signal.SIGKILL)
            self._ended.wait()
