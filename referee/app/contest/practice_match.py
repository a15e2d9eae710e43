"""One practice match: by which command it is played, and its record."""

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeGuard

from ...record.reader import Record, RecordError, read_record
from ...submissions.challenges import PERSON, Challenge
from ...submissions.store import Store
from ..tournament_file.plan import TournamentPlan

PERSON_S = 180.0
"""For a move where a person plays, unless the tournament gives more: who has gone away is not waited for longer."""
_S = 1000.0


def match_options(plan: TournamentPlan, challenge: Challenge, store: Store, folder: Path) -> Iterator[str]:
    """Yield the options by which `referee play` plays a match by the rules of a tournament.

    Args:
        challenge: who plays; persons have their own time for each move. Lots are drawn for the seats.
    """
    spec, time, has_person = plan.spec, plan.spec.time, challenge.is_in_person
    players = _players(challenge, store)
    yield from (spec.game, *players, *[players[-1]] * (spec.seats - len(players)), "--lot", "--logs", str(folder))
    for name, value in spec.options.items():
        yield f"--option={name}={json.dumps(value)}"
    if has_person:
        yield f"--time={max(time.per_move_ms / _S, PERSON_S)}"
    else:
        yield f"--time={time.per_move_ms / _S}"
    if time.bank_ms is not None and not has_person:
        yield from (f"--bank={time.bank_ms / _S}", f"--increment={time.increment_ms / _S}")
    yield from (f"--start-time={time.start_ms / _S}", f"--lag-margin={spec.lag_margin_ms / _S}")
    yield from ("--acknowledge",) if spec.acknowledge else ()


def confinement_options(plan: TournamentPlan) -> Sequence[str]:
    """Return what holds programs to the limits of a tournament."""
    return "--sandbox", plan.run_settings.sandbox, "--memory", str(plan.spec.memory_mib)


def _players(challenge: Challenge, store: Store) -> Sequence[str]:
    """Return how the author's program, or the persons, are given, and behind them who has all other seats."""

    def _version(number: int) -> str:
        return str(store.player_folder(challenge.author, number))

    own, other = challenge.version, challenge.opponent
    players = [f"{PERSON}{person}" for person in challenge.persons] if own is None else [_version(own)]
    if other:
        players.append(other if other.startswith("house:") else _version(int(other)))
    return players


def find_record(folder: Path) -> Record | None:
    """Return the record in a match's folder; None if there is none. With a seal, the match is over."""
    for path in folder.glob("*.jsonl"):
        with contextlib.suppress(RecordError):
            return read_record(path)
    return None


def is_over(record: Record | None) -> TypeGuard[Record]:
    """Tell whether a match is over, by its record."""
    return record is not None and record.seal is not None
