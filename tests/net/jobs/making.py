"""Jobs for tests: matches of a tournament of two programs."""

from pathlib import Path
from typing import Any

from referee import chance
from referee.net.jobs.job import JobSeat, JobTerms, MatchJob, rules_digest
from referee.programs.player_spec import Launch
from referee.record.key import Sealer
from referee.tournament.match_context import Fixture, MatchContext

from ...time_controls import time_control

SEALER = Sealer.new()
SEED = bytes(range(32))


def job_of(*seats: Launch | str | None, game: str = "q", **fields: Any) -> MatchJob:
    """Return a job.

    Args:
        seats: how each program is started, why it can't be, or None for a connected player.
        game: its name.
        fields: of the job, in place of the usual ones.
    """
    match = "cup-00001"
    fixture = Fixture(match=match, number=1, round=1, table="", leg=0, attempt=0, entrants=(0, 1))
    seed = chance.seed_from_number(fields["number"]) if "number" in fields else SEED
    commitment = chance.commitment(seed)
    seat = [
        JobSeat(
            name=f"e{place}",
            given=f"cmd:{place}",
            launch=who if isinstance(who, Launch) else None,
            why_not=who if isinstance(who, str) else None,
            token=SEALER.token(match, commitment, place),
        )
        for place, who in enumerate(seats or ("is not started",) * 2)
    ]
    whole: dict[str, Any] = {
        "context": MatchContext(tournament="cup", fixture=fixture, head="0" * 64),
        "terms": JobTerms(
            game=game,
            rules=rules_digest(game),
            time=time_control(),
            lag_margin_ms=250.0,
            default_margin=None,
            acknowledge=False,
            come_back_s=0.0,
        ),
        "number": None,
        "deal": None,
        "drawn": SEED,
        "is_last_of_deal": True,
        "seats": tuple(seat),
        "key": SEALER.public,
        "locked_seed": SEALER.lock(seed, commitment),
    }
    return MatchJob(**whole | fields)


LAUNCH = Launch(name="e0", argv=("python3", "player.py"), folder=Path("players/e0"), games=("q",), build=("make",))
