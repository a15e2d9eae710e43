"""What authors may ask for as practice matches, who plays in them, and the command by which one is played."""

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeGuard

from twisted.internet.threads import deferToThread

from ...app.tournament_file.plan import TournamentPlan
from ...clock import wall_clock
from ...plugins import installed
from ...record.reader import Record, RecordError, read_record
from ..submissions.challenges import PERSON, Challenge, ChallengeRefused, PracticeRules
from ..submissions.store import Store, VersionState
from .contest_file import Contest

PERSON_S = 180.0
"""For a move where a person plays, unless the tournament gives more: who has gone away is not waited for longer."""
_S = 1000.0
_DIGITS = 6


class PracticeRequests:
    """Looks at what is asked for.

    Args:
        contest: what its file says.
        store: of the authors' versions.
    """

    def __init__(self, contest: Contest, store: Store) -> None:
        allowed = [tournament for tournament in contest.tournaments if contest.practice and _fits(tournament.plan)]
        self.plans = {tournament.series or tournament.name: tournament.plan for tournament in allowed}
        self.store = store

    def rules(self) -> Sequence[PracticeRules]:
        """Return by whose rules may be played; none, if the organiser allows no practice matches."""
        return [_rules(name, plan) for name, plan in self.plans.items()]

    def title(self, tournament: str) -> str:
        """Return what is played by the rules of a tournament."""
        plan = self.plans.get(tournament)
        return "Practice match" if plan is None else installed().game(plan.spec.game).title

    async def challenge(self, author: str, tournament: str, version: str | None, opponent: str) -> Challenge:
        """Return what is asked for, without a number.

        Args:
            author: who asks.
            tournament: by whose rules.
            version: number of the author's version that plays; None: the author plays in person.
            opponent: `house:NAME`, or the number of another version of the author's.

        Raises:
            ChallengeRefused: it can't be played.
        """
        plan = self.plans.get(tournament)
        if plan is None:
            raise ChallengeRefused("there is no such tournament to practise for", "choose one of the list")
        if opponent.startswith("house:"):
            houses = _rules(tournament, plan).houses
            if opponent.removeprefix("house:") not in houses:
                who = ", ".join(houses) or "none"
                raise ChallengeRefused(f"that house player does not play {plan.spec.game}", f"choose one of: {who}")
        else:
            opponent = str(await deferToThread(self._passed, author, opponent))
        return Challenge(
            author=author,
            number=0,
            tournament=tournament,
            version=None if version is None else await deferToThread(self._passed, author, version),
            opponent=opponent,
            asked=wall_clock(),
        )

    def _passed(self, author: str, number: str) -> int:
        is_number = number.isascii() and number.isdecimal() and len(number) <= _DIGITS
        version = self.store.version(author, int(number)) if is_number else None
        if version is None or version.state is not VersionState.PASSED:
            raise ChallengeRefused("there is no such version of yours that has passed its check", "choose one that has")
        return version.number


def _fits(plan: TournamentPlan) -> bool:
    """Tell whether a match can be played by a tournament's rules by itself: all its options can be said in a line."""
    return not plan.spec.options.keys() & installed().game(plan.spec.game).file_options


def _rules(name: str, plan: TournamentPlan) -> PracticeRules:
    known, game = installed(), plan.spec.game
    houses = sorted(house.name for house in known.players.values() if game in house.games)
    return PracticeRules(tournament=name, game=known.game(game).title, houses=houses)


def match_options(plan: TournamentPlan, challenge: Challenge, store: Store, folder: Path) -> Iterator[str]:
    """Yield the options by which `referee play` plays a match by the rules of a tournament.

    Args:
        plan: of the tournament.
        challenge: who plays; a person has an own time for each move. Lots are drawn for the seats.
        store: of the authors' versions.
        folder: takes the record.
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
    """Return how the author's program, or the author, is given, and behind it the player of all other seats."""

    def _version(number: int) -> str:
        return str(store.player_folder(challenge.author, number))

    own, other = challenge.version, challenge.opponent
    return (
        f"{PERSON}{challenge.author}" if own is None else _version(own),
        other if other.startswith("house:") else _version(int(other)),
    )


def find_record(folder: Path) -> Record | None:
    """Return the record in a match's folder; None if there is none. With a seal, the match is over."""
    for path in folder.glob("*.jsonl"):
        with contextlib.suppress(RecordError):
            return read_record(path)
    return None


def is_over(record: Record | None) -> TypeGuard[Record]:
    """Tell whether a match is over, by its record."""
    return record is not None and record.seal is not None
