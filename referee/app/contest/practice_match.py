"""One practice match: by which command it is played, and its record."""

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...record.reader import Record, RecordError, read_record
from ..tournament_file.plan import TournamentPlan

PERSON_S = 180.0
"""For a move where a person plays, unless the tournament gives more: who has gone away is not waited for longer."""
_S = 1000.0


def match_options(
    plan: TournamentPlan, players: tuple[str, str], folder: Path, *, has_person: bool = False
) -> Iterator[str]:
    """Yield the options by which `referee play` plays a match by the rules of a tournament.

    Args:
        plan: of the tournament.
        players: the author's program, and the one that has all other seats; lots are drawn for them.
        folder: takes the record.
        has_person: whether a person plays, who has its own time for each move.
    """
    spec, time = plan.spec, plan.spec.time
    own, other = players
    yield from (spec.game, own, *[other] * (spec.seats - 1), "--lot", "--logs", str(folder))
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


def find_record(folder: Path) -> Record | None:
    """Return the record in a match's folder; None if there is none. With a seal, the match is over."""
    for path in folder.glob("*.jsonl"):
        with contextlib.suppress(RecordError):
            return read_record(path)
    return None
