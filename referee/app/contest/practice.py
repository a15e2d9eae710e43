"""Practice matches: an author's program against a house player, or against another version of its own.

They are played one at a time, each in a process of its own, and only while the rated matches leave a core: one that is
in their way is stopped, and goes on from its record. Their records lie beside those of the tournaments, and are part of
none.
"""

import os
import subprocess
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

from msgspec import Struct
from msgspec.structs import replace
from twisted.internet.defer import CancelledError
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThread

from ...clock import wall_clock
from ...launch.own_process import OwnProcess
from ...observers import Note
from ...pages.replay_frames import fold_record
from ...pages.replay_page import replay_page
from ...plugins import installed
from ...record.reader import Record
from ...submissions.challenges import PRACTICE, Challenge, ChallengeRefused, Challenges, PracticeRules
from ...submissions.store import Store, VersionState
from ..tournament_file.plan import TournamentPlan
from .contest_file import Contest
from .intake import LOGS
from .practice_match import confinement_options, find_record, match_options

LOOK_S = 1.0
"""Between two looks at what there is to play, and whether it is in the way of rated matches."""
CALM_LOOKS = 5
"""So many in a row have found a core free before a match begins: a tournament fills a table again within that."""
LIMIT_S = 1800.0
"""For a match, from its beginning or from when it went on."""
GRACE_S = 10.0
"""Between asking a match to stop and killing it: it writes its record and ends its programs."""
RETRY_S = 30.0
"""After a trouble of this machine's."""
MAX_ATTEMPTS = 3
"""To play a match that ended with the whole host: it may be what takes the machine down."""
_DIGITS = 6


class RefereeProgram(Struct, frozen=True):
    """This program, for what has a process of its own."""

    referee: Sequence[str]
    """Its command line."""
    options: Sequence[str]
    """That hold for a match's process, too."""


class Practice:
    """The practice matches of a contest.

    Args:
        reactor: Twisted's.
        contest: what its file says.
        store: of the authors' versions.
        program: plays matches.
        rated: returns how many rated matches are played now.
        changed: called with an author when something about its practice matches is another.
        note: takes note of what happens.

    Raises:
        StoreError: the challenges can't be read.
    """

    def __init__(
        self,
        reactor: Any,
        contest: Contest,
        store: Store,
        program: RefereeProgram,
        rated: Callable[[], int],
        changed: Callable[[str], None],
        note: Note,
    ) -> None:
        self._logs = contest.folder / LOGS
        self._plans = {each.name: each.plan for each in contest.tournaments if contest.practice and _fits(each.plan)}
        self._challenges = Challenges(self._logs / PRACTICE)
        self._reactor = reactor
        self._store = store
        self._program = program
        self._rated = rated
        self._changed = changed
        self._note = note
        self._cores = os.cpu_count() or 1
        self._calm_looks = 0
        self._current: Challenge | None = None
        """That is played now."""

    # --- what authors see and do

    def rules(self) -> Sequence[PracticeRules]:
        """Return by whose rules may be played; none, if the organiser allows no practice matches."""
        return [_rules(name, plan) for name, plan in self._plans.items()]

    def challenges(self, author: str) -> Sequence[Challenge]:
        """Return an author's challenges, the latest first."""
        return self._challenges.of(author)[::-1]

    def waiting(self) -> Sequence[tuple[Challenge, str]]:
        """Return all that are not over, in their order, each with why it waits, or that it is played."""
        return [(challenge, self._why(ahead)) for ahead, challenge in enumerate(self._challenges.waiting())]

    def _why(self, ahead: int) -> str:
        """Return how a challenge stands that has so many before it."""
        if self._current is not None and ahead == 0:
            return "is played now"
        if ahead:
            return f"waits for the {ahead} before it: one is played at a time"
        if self._is_crowded():
            return f"waits until a core is free: rated matches take all {self._cores}"
        return "begins within seconds, unless rated matches take all cores"

    async def challenge(self, author: str, tournament: str, version: str, opponent: str) -> None:
        """Ask for a practice match.

        Args:
            author: who asks.
            tournament: by whose rules.
            version: number of the author's version that plays.
            opponent: `house:NAME`, or the number of another version of the author's.

        Raises:
            ChallengeRefused: it can't be played, or too many of the author's wait.
            OSError: the disk can't take it.
        """
        plan = self._plans.get(tournament)
        if plan is None:
            raise ChallengeRefused("there is no such tournament to practise for", "choose one of the list")
        if opponent.startswith("house:"):
            houses = _rules(tournament, plan).houses
            if opponent.removeprefix("house:") not in houses:
                who = ", ".join(houses) or "none"
                raise ChallengeRefused(f"that house player does not play {plan.spec.game}", f"choose one of: {who}")
        else:
            opponent = str(await deferToThread(self._passed, author, opponent))
        own = await deferToThread(self._passed, author, version)
        asked = Challenge(
            author=author, number=0, tournament=tournament, version=own, opponent=opponent, asked=wall_clock()
        )
        self._challenges.add(asked)
        self._changed(author)

    def replay(self, author: str, number: str) -> str | None:
        """Return the page that shows a match of the author's again; None if there is none that is over.

        Raises:
            RecordError: its record does not hold.
        """
        found = [each for each in self._challenges.of(author) if str(each.number) == number]
        record = find_record(self._challenges.folder(found[0])) if found else None
        return replay_page(fold_record(record, installed().game)) if _is_over(record) else None

    def _passed(self, author: str, number: str) -> int:
        is_number = number.isascii() and number.isdecimal() and len(number) <= _DIGITS
        version = self._store.version(author, int(number)) if is_number else None
        if version is None or version.state is not VersionState.PASSED:
            raise ChallengeRefused("there is no such version of yours that has passed its check", "choose one that has")
        return version.number

    # --- playing

    async def run(self) -> None:
        """Play what there is to play until this is cancelled; what is played then goes on in the next run.

        Raises:
            CancelledError: it was cancelled.
        """
        while True:
            await deferLater(self._reactor, LOOK_S)
            self._calm_looks = 0 if self._is_crowded() else self._calm_looks + 1
            waiting = self._challenges.waiting()
            if waiting and self._calm_looks >= CALM_LOOKS:
                await self._tried(waiting[0])

    def _is_crowded(self) -> bool:
        return self._rated() >= self._cores

    async def _tried(self, challenge: Challenge) -> None:
        try:
            await self._play(challenge)
        except CancelledError:
            raise
        except Exception as error:  # noqa: BLE001  # whatever it is, the other authors' matches are played
            self._note("practice-failed", author=challenge.author, number=challenge.number, error=repr(error))
            await deferLater(self._reactor, RETRY_S)
        finally:
            self._current = None
            self._changed(challenge.author)

    async def _play(self, challenge: Challenge) -> None:
        """Play a match, or the rest of it, unless rated matches need its core."""
        folder = self._challenges.folder(challenge)
        record = await deferToThread(find_record, folder)
        plan = self._plans.get(challenge.tournament)
        if _is_over(record):
            self._conclude(challenge)
        elif plan is None:
            self._conclude(challenge, "its tournament is not played any more, or practice matches are not allowed")
        elif challenge.attempts >= MAX_ATTEMPTS:
            self._conclude(challenge, f"it was cut off {MAX_ATTEMPTS} times, with the referee itself")
        else:
            await self._play_on(replace(challenge, begun=wall_clock()), plan, record)

    async def _play_on(self, challenge: Challenge, plan: TournamentPlan, record: Record | None) -> None:
        """Play a match, or go on from its record, until it is over, or stopped."""
        self._current = challenge
        self._challenges.save(replace(challenge, attempts=challenge.attempts + 1))
        self._changed(challenge.author)
        folder = self._challenges.folder(challenge)
        how = (
            match_options(plan, self._players(challenge), folder) if record is None else ("--resume", str(record.path))
        )
        options = (*how, "--json", *confinement_options(plan), *self._program.options)
        give_up = self._reactor.seconds() + LIMIT_S
        try:
            is_stopped = await self._ended([*self._program.referee, "play", *options], give_up)
        finally:
            self._challenges.save(challenge)  # it was not the host that ended
        if _is_over(await deferToThread(find_record, folder)):
            self._conclude(challenge)
        elif not is_stopped:
            self._conclude(challenge, "the referee could not play it: check this version again, or ask the organiser")
        elif self._reactor.seconds() >= give_up:
            self._conclude(challenge, f"it was not over after {LIMIT_S / 60:.0f} minutes")

    async def _ended(self, command: Sequence[str], give_up: float) -> bool:
        """Have a match played; return whether it was stopped before its end: for rated ones, or after its time."""
        with (self._logs / f"{PRACTICE}.log").open("ab") as log:
            process = OwnProcess(command, output=subprocess.DEVNULL, errors=log)
        try:
            while not process.has_ended and not self._is_crowded() and self._reactor.seconds() < give_up:
                await deferLater(self._reactor, LOOK_S)
            return not process.has_ended
        finally:
            self._calm_looks = 0
            await deferToThread(process.end, GRACE_S)

    def _players(self, challenge: Challenge) -> tuple[str, str]:
        """Return how the author's program and its opponent are given."""
        own, other = str(self._store.player_folder(challenge.author, challenge.version)), challenge.opponent
        return own, other if other.startswith("house:") else str(
            self._store.player_folder(challenge.author, int(other))
        )

    def _conclude(self, challenge: Challenge, trouble: str | None = None) -> None:
        self._challenges.save(replace(challenge, ended=wall_clock(), trouble=trouble))
        self._note("practice-over", author=challenge.author, number=challenge.number, trouble=trouble)


def _is_over(record: Record | None) -> TypeGuard[Record]:
    return record is not None and record.seal is not None


def _fits(plan: TournamentPlan) -> bool:
    """Tell whether a match can be played by a tournament's rules by itself: all its options can be said in a line."""
    return not plan.spec.options.keys() & installed().game(plan.spec.game).file_options


def _rules(name: str, plan: TournamentPlan) -> PracticeRules:
    known, game = installed(), plan.spec.game
    houses = sorted(house.name for house in known.players.values() if game in house.games)
    return PracticeRules(tournament=name, game=known.game(game).title, houses=houses)
