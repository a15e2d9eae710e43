"""Practice matches of an author (a version, or the author in person) against a house player or another own version."""

# Rated matches come first. A practice match has a process of its own, and runs only while rated matches leave a
# processor core free. If they need the core, the practice match is stopped, and continues later from its record.
# Programs play one practice match at a time. Persons leave their core idle most of the time, so they play as many
# matches as there are free cores. The records are next to those of the tournaments, but belong to none of them.
#
# Every wait has an end (`until`), so that no author waits for a match that is never played. A match is given up after a
# day without a free core, after half an hour without the person, or after MAX_ATTEMPTS.

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import DEVNULL
from typing import Any, TypeGuard

from msgspec import Struct
from msgspec.structs import replace
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThread

from ...app.tournament_file.plan import TournamentPlan
from ...clock import wall_clock
from ...observers import Note
from ...pages.replay_frames import fold_record
from ...pages.replay_page import replay_page
from ...plugins import installed
from ...programs.processes import OwnProcess
from ...record.reader import Record, RecordError, read_record
from ...settings import MOVE_S, word_options
from ...text import counted
from ..submissions.challenges import PERSON, PRACTICE, Challenge, ChallengeRefused, Challenges, PracticeRules
from ..submissions.store import Store, VersionState
from .contest_file import Contest
from .intake import LOGS
from .seats import HostedSeat, HostedSeats

PERSON_S = 180.0
"""Shortest limit for a move in a match with a person, in seconds."""
_REPLAY_TOP = "../../../"
"""Relative path from the replay of a practice match to the first page of the site."""
_DIGITS = 6
LOOK_S = 1.0
"""Seconds between two looks for a match to play, or for rated matches that need the core."""
CALM_LOOKS = 5
"""Number of looks in a row that must find a free core during a tournament; a tournament refills a free table sooner."""
LIMIT_S = 1800.0
"""Longest time for a match of programs, in seconds, counted from its start or its last continuation."""
PERSON_LIMIT_S = 3600.0
"""Longest match with a person in seconds."""
MOST_PERSONS = 8
"""Most persons who play at a time, however many cores there are."""
AWAY_S = 1800.0
"""Seconds after which a person who has left loses the seat."""
WAIT = timedelta(days=1)
"""Time after which an unfinished match is given up because other matches took the cores."""
GRACE_S = 10.0
"""Seconds between asking a match to stop and killing it. It writes its record and ends its programs in this time."""
RETRY_S = 30.0
"""Seconds to wait after an error of this machine."""
MAX_ATTEMPTS = 3
"""Most attempts at a match that ended when the server crashed: the match may be the cause of the crashes."""


class PracticeRequests:
    """Checks requests for practice matches.

    Args:
        contest: settings of the contest.
        store: versions of all authors.
    """

    def __init__(self, contest: Contest, store: Store) -> None:
        allowed = [tournament for tournament in contest.tournaments if contest.practice and _fits(tournament.plan)]
        self.plans = {tournament.series or tournament.name: tournament.plan for tournament in allowed}
        self.store = store

    def rules(self) -> Sequence[PracticeRules]:
        """Return the tournaments whose rules may be used; empty if the organiser allows no practice matches."""
        return [_rules(name, plan) for name, plan in self.plans.items()]

    def title(self, tournament: str) -> str:
        """Return the title of the game of a tournament."""
        plan = self.plans.get(tournament)
        return "Practice match" if plan is None else installed().game(plan.spec.game).title

    async def challenge(self, author: str, tournament: str, version: str | None, opponent: str) -> Challenge:
        """Return a requested match, without a number.

        Args:
            author: author who requests the match.
            tournament: tournament whose rules are used.
            version: number of the author's version that plays; None: the author plays in person.
            opponent: `house:NAME`, or the number of one of the author's other versions.

        Raises:
            ChallengeRefused: the match can't be played.
        """
        plan = self.plans.get(tournament)
        if plan is None:
            raise ChallengeRefused("there is no such tournament to practise for", "choose a tournament from the list")
        if opponent.startswith("house:"):
            houses = _rules(tournament, plan).houses
            if opponent.removeprefix("house:") not in houses:
                names = ", ".join(houses) or "none"
                raise ChallengeRefused(f"that house player does not play {plan.spec.game}", f"choose one of: {names}")
        else:
            opponent = str(await deferToThread(self._find_passing, author, opponent))
        return Challenge(
            author=author,
            number=0,
            tournament=tournament,
            version=None if version is None else await deferToThread(self._find_passing, author, version),
            opponent=opponent,
            asked=wall_clock(),
        )

    def _find_passing(self, author: str, number: str) -> int:
        is_number = number.isascii() and number.isdecimal() and len(number) <= _DIGITS
        version = self.store.version(author, int(number)) if is_number else None
        if version is None or version.state is not VersionState.PASSED:
            raise ChallengeRefused("you have no such version that has passed its check", "choose a version that has")
        return version.number


def _fits(plan: TournamentPlan) -> bool:
    """Return whether `referee play` can play by a tournament's rules, because no option needs a file."""
    return not plan.spec.options.keys() & installed().game(plan.spec.game).file_options


def _rules(name: str, plan: TournamentPlan) -> PracticeRules:
    registry, game = installed(), plan.spec.game
    houses = sorted(house.name for house in registry.players.values() if not house.games or game in house.games)
    return PracticeRules(tournament=name, game=registry.game(game).title, houses=houses)


def match_options(plan: TournamentPlan, challenge: Challenge, store: Store, folder: Path) -> Iterator[str]:
    """Yield the arguments with which `referee play` plays a match by the rules of a tournament.

    Args:
        plan: plan of the tournament.
        challenge: match to play. Seats are drawn by lot; a person gets more time for each move.
        store: versions of all authors.
        folder: folder for the record.
    """
    spec, choices = plan.spec, replace(plan.choices, seed=None)
    players = _players(challenge, store)
    yield from (spec.game, *players, *[players[-1]] * (spec.seats - len(players)), "--lot", "--logs", str(folder))
    for name, value in spec.options.items():
        yield f"--option={name}={json.dumps(value)}"
    if challenge.is_in_person:
        move_s = max(choices.move_s or MOVE_S, PERSON_S)
        choices = replace(choices, move_s=move_s, bank_s=None, increment_s=0.0)
    yield from word_options(choices)


def _players(challenge: Challenge, store: Store) -> Sequence[str]:
    """Return the arguments of `referee play` for the author's seat and for all other seats."""

    def _version(number: int) -> str:
        return str(store.player_folder(challenge.author, number))

    version, other = challenge.version, challenge.opponent
    return (
        f"{PERSON}{challenge.author}" if version is None else _version(version),
        other if other.startswith("house:") else _version(int(other)),
    )


def find_record(folder: Path) -> Record | None:
    """Return the record in a match's folder; None if there is none."""
    for path in folder.glob("*.jsonl"):
        with contextlib.suppress(RecordError):
            return read_record(path)
    return None


def is_over(record: Record | None) -> TypeGuard[Record]:
    """Return whether a match is over, that is, whether its record has a seal."""
    return record is not None and record.seal is not None


class RefereeProgram(Struct, frozen=True):
    """The command line of this program, for tournaments and matches in processes of their own."""

    referee: Sequence[str]
    options: Sequence[str]
    """Options that the processes of tournaments and of practice matches get."""


class Practice:
    """The practice matches of a contest.

    Args:
        reactor: Twisted's reactor.
        contest: settings of the contest.
        requests: checks requests.
        program: plays matches.
        rated: returns the number of open rated matches; None if no tournament could begin a match now.
        changed: called with an author whose practice matches have changed.
        note: logs what happens.

    Raises:
        StoreError: the challenges can't be read.
    """

    def __init__(
        self,
        reactor: Any,
        contest: Contest,
        requests: PracticeRequests,
        program: RefereeProgram,
        rated: Callable[[], int | None],
        changed: Callable[[str], None],
        note: Note,
    ) -> None:
        self._logs = contest.folder / LOGS
        self.taken_challenges = Challenges(self._logs / PRACTICE)
        self._reactor = reactor
        self._requests = requests
        self._program = program
        self._rated = rated
        self._changed = changed
        self._note = note
        self._cores = os.cpu_count() or 1
        self._playing: dict[str, Challenge] = {}
        """Place of an open match -> the match."""
        self._left: dict[str, str] = {}
        """Place of a match that is being stopped because its author has left -> reason."""
        self._seats = HostedSeats(reactor, lambda challenge: requests.title(challenge.tournament), self._why_person)

    # --- authors

    def rules(self) -> Sequence[PracticeRules]:
        """Return the tournaments whose rules may be used; empty if the organiser allows no practice matches."""
        return self._requests.rules()

    def challenges(self, author: str) -> Sequence[Challenge]:
        """Return the matches that an author has requested, the latest first."""
        return self.taken_challenges.list_own(author)[::-1]

    def waiting(self) -> Sequence[tuple[Challenge, str]]:
        """Return every match that is not over, in order, each with words for why it waits, or that it is played."""
        waiting = self.taken_challenges.waiting()
        programs = [challenge.place for challenge in waiting if not challenge.is_in_person]
        return [(challenge, self._find_reason(challenge, programs)) for challenge in waiting]

    def _find_reason(self, challenge: Challenge, programs: Sequence[str]) -> str:
        if challenge.is_in_person:
            return self._why_person(challenge)
        return self._why(challenge, programs.index(challenge.place))

    def until(self, challenge: Challenge) -> datetime:
        """Return the latest time at which a match that is not over is given up."""
        if challenge.place in self._playing and challenge.begun is not None:
            return datetime.fromisoformat(challenge.begun) + timedelta(seconds=_limit_s(challenge))
        away_s = self._away_s(challenge)
        if away_s and not self._plays(challenge.author):
            return datetime.now(UTC) + timedelta(seconds=AWAY_S - away_s)
        return datetime.fromisoformat(challenge.asked) + WAIT

    def _why(self, challenge: Challenge, ahead: int) -> str:
        """Return in words the state of a version's match, with `ahead` other matches before it."""
        if challenge.place in self._playing:
            return "is played now"
        if ahead:
            return f"waits for {counted(ahead, 'match', 'matches')} before it: programs play one match at a time"
        return self._when(0)

    def _why_person(self, challenge: Challenge) -> str:
        now = self.taken_challenges.latest(challenge)
        if now.place in self._playing:
            return "is played now"
        if self._away_s(now):
            return f"begins when {now.author} takes the seat"
        if self._plays(now.author):
            return f"waits for the match that {now.author} plays now"
        return self._when(sum(challenge.is_in_person for challenge in self._playing.values()))

    def _when(self, others: int) -> str:
        if self._lacks_core(others):
            return f"waits until a core is free: other matches take all {self._cores}"
        return "begins within seconds, unless rated matches take all cores"

    async def challenge(self, author: str, tournament: str, version: str | None, opponent: str) -> int:
        """Request a practice match, and return its number.

        Args:
            author: author who requests the match.
            tournament: tournament whose settings apply.
            version: number of the author's version that plays; None: the author plays in person.
            opponent: `house:NAME`, or the number of one of the author's other versions.

        Raises:
            ChallengeRefused: the match can't be played, or too many of the author's matches are waiting.
            OSError: the request can't be written.
        """
        request = await self._requests.challenge(author, tournament, version, opponent)
        challenge = self.taken_challenges.add(request)
        self._announce(challenge)
        return challenge.number

    def give_up(self, author: str, number: str) -> None:
        """Give up an author's seat. An open match ends; a waiting match is not played.

        Raises:
            ChallengeRefused: the author has no such seat now.
            OSError: the outcome can't be written.
        """
        challenge = self._find(author, number)
        if challenge is None or not challenge.is_in_person or challenge.ended is not None:
            raise ChallengeRefused("you have no such seat now", "load the list again")
        why = f"{author} has left the table"
        if challenge.place in self._playing:
            self._left[challenge.place] = why
            self._seats.find(challenge).conclude(why)
        else:
            self._conclude(challenge, why)
            self._announce(challenge)

    def replay(self, author: str, number: str) -> str | None:
        """Return the replay of an author's match; None if the match does not exist or is not over.

        Raises:
            RecordError: the match's record does not hold.
        """
        challenge = self._find(author, number)
        record = None if challenge is None else find_record(self.taken_challenges.folder(challenge))
        return replay_page(fold_record(record, installed().game), site=_REPLAY_TOP) if is_over(record) else None

    def seat(self, author: str, number: str) -> HostedSeat | None:
        """Return an author's seat in a match that the author plays in person; None if there is no such match."""
        challenge = self._find(author, number)
        return None if challenge is None or not challenge.is_in_person else self._seats.find(challenge)

    def leave(self, author: str) -> None:
        """Disconnect the pages of an author who has signed out in one of them."""
        self._seats.leave(author)

    def _find(self, author: str, number: str) -> Challenge | None:
        return next((each for each in self.taken_challenges.list_own(author) if str(each.number) == number), None)

    # --- playing

    def begin(self) -> "list[Deferred[None]]":
        """Play matches until the returned Deferreds are cancelled. An open match then continues in the next run.

        Returns:
            Deferreds that fire when their last process has ended.
        """
        # A lane plays one match after the other. Lane k for persons begins a match only if more than k cores are free,
        # so the lanes share the cores.
        lanes = [self._run(in_person=False, others=0)]
        lanes += [self._run(in_person=True, others=others) for others in range(min(self._cores, MOST_PERSONS))]
        running = [Deferred.fromCoroutine(playing) for playing in lanes]
        for lane in running:
            lane.addErrback(lambda failure: failure.trap(CancelledError))
        return running

    async def _run(self, *, in_person: bool, others: int) -> None:
        """Play one match after the other.

        Args:
            in_person: true for matches of persons, false for matches of programs.
            others: number of other matches of persons that may run at the same time, each on a core of its own.
        """
        calm_looks = 0
        while True:
            await deferLater(self._reactor, LOOK_S)
            calm_looks = 0 if self._lacks_core(others) else calm_looks + 1
            wanted = 1 if self._rated() is None else CALM_LOOKS
            due = self._due(in_person=in_person, is_calm=calm_looks >= wanted)
            if due is not None:
                await self._play_safely(due, others)
                calm_looks = 0

    def _due(self, *, in_person: bool, is_calm: bool) -> Challenge | None:
        """Return the next match to give up or, if a core is free, to play."""
        now = datetime.now(UTC)
        for challenge in self.taken_challenges.waiting():
            if challenge.is_in_person is not in_person or challenge.place in self._playing:
                continue
            if self.until(challenge) <= now or (is_calm and self._is_ready(challenge)):
                return challenge
        return None

    def _is_ready(self, challenge: Challenge) -> bool:
        return not (challenge.is_in_person and (self._plays(challenge.author) or self._away_s(challenge)))

    def _away_s(self, challenge: Challenge) -> float:
        """Return for how many seconds the author has been away; 0 if the author is there, or programs play."""
        return self._seats.find(challenge).away_s if challenge.is_in_person else 0.0

    def _plays(self, author: str) -> bool:
        """Return whether an author is playing a match in person."""
        return any(playing.is_in_person and playing.author == author for playing in self._playing.values())

    def _lacks_core(self, others: int) -> bool:
        """Return whether no core is free next to rated matches and a number of other practice matches."""
        return (self._rated() or 0) + others >= self._cores

    async def _play_safely(self, challenge: Challenge, others: int) -> None:
        self._playing[challenge.place] = challenge
        try:
            await self._play(challenge, others)
        except CancelledError:
            raise
        except Exception as error:  # noqa: BLE001  # whatever happened, go on with the matches of other authors
            self._note("practice-failed", author=challenge.author, number=challenge.number, error=repr(error))
            await deferLater(self._reactor, RETRY_S)
        finally:
            del self._playing[challenge.place]
            self._left.pop(challenge.place, None)
            if challenge.is_in_person:
                self._seats.find(challenge).rest()
            self._announce(challenge)

    async def _play(self, challenge: Challenge, others: int) -> None:
        """Play a match or the rest of it, or give it up with a reason."""
        folder = self.taken_challenges.folder(challenge)
        record = await deferToThread(find_record, folder)
        plan = self._requests.plans.get(challenge.tournament)
        if is_over(record):
            self._conclude(challenge)
        elif plan is None:
            self._conclude(challenge, "its tournament is no longer in the contest, or practice matches are not allowed")
        elif challenge.attempts >= MAX_ATTEMPTS:
            self._conclude(challenge, f"the server crashed {MAX_ATTEMPTS} times during it")
        elif self._away_s(challenge) >= AWAY_S:
            self._conclude(challenge, f"the seat was not taken for {AWAY_S / 60:.0f} minutes")
        elif datetime.now(UTC) >= datetime.fromisoformat(challenge.asked) + WAIT:
            self._conclude(challenge, f"no core was free for long enough within {WAIT / timedelta(hours=1):.0f} hours")
        else:
            await self._continue_match(replace(challenge, begun=wall_clock()), plan, record, others)

    async def _continue_match(
        self, challenge: Challenge, plan: TournamentPlan, record: Record | None, others: int
    ) -> None:
        """Play a match from its beginning or from its record, until it is over or stopped."""
        self.taken_challenges.save(replace(challenge, attempts=challenge.attempts + 1))
        self._announce(challenge)
        folder = self.taken_challenges.folder(challenge)
        begins = match_options(plan, challenge, self._requests.store, folder)
        source = begins if record is None else ("--resume", str(record.path))
        options = (*source, "--json", *word_options(plan.terms), *self._program.options)
        give_up = self._reactor.seconds() + _limit_s(challenge)
        try:
            process = self._start_process(challenge, [*self._program.referee, "play", *options])
            is_stopped = await self._await_end(challenge, process, give_up, others)
        finally:
            self.taken_challenges.save(challenge)  # this process did not crash, so the attempt does not count
        if is_over(await deferToThread(find_record, folder)):
            self._conclude(challenge)
        elif challenge.place in self._left:
            self._conclude(challenge, self._left[challenge.place])
        elif not is_stopped:
            self._conclude(challenge, "the referee could not play it: hand this version in again, or ask the organiser")
        elif self._reactor.seconds() >= give_up:
            self._conclude(challenge, f"it was not over after {_limit_s(challenge) / 60:.0f} minutes")

    def _start_process(self, challenge: Challenge, command: list[str]) -> OwnProcess:
        """Start the process of a match, with a socket to the seat of an author who plays in person."""
        with ExitStack() as stack:
            descriptors = tuple[int, ...]()
            if challenge.is_in_person:
                descriptors = (stack.enter_context(self._seats.find(challenge).invite()).fileno(),)
            relays = (f"--relay={challenge.author}={descriptor}" for descriptor in descriptors)
            log = stack.enter_context((self._logs / f"{PRACTICE}.log").open("ab"))
            return OwnProcess([*command, *relays], output=DEVNULL, errors=log, pass_fds=descriptors)

    async def _await_end(self, challenge: Challenge, process: OwnProcess, give_up: float, others: int) -> bool:
        """Wait for a match to end, and return whether it was stopped: after its time, or without a core or a person."""
        try:
            while not (
                process.has_ended
                or challenge.place in self._left
                or self._lacks_core(others)
                or self._reactor.seconds() >= give_up
            ):
                await deferLater(self._reactor, LOOK_S)
            return not process.has_ended
        finally:
            await deferToThread(process.end, GRACE_S)

    def _conclude(self, challenge: Challenge, trouble: str | None = None) -> None:
        self.taken_challenges.save(replace(challenge, ended=wall_clock(), trouble=trouble))
        self._note("practice-over", author=challenge.author, number=challenge.number, trouble=trouble)
        if challenge.is_in_person:
            self._seats.find(challenge).conclude(trouble)

    def _announce(self, challenge: Challenge) -> None:
        """Update the pages of a match's author, and the pages of all seats."""
        self._changed(challenge.author)
        self._seats.notify()


def _limit_s(challenge: Challenge) -> float:
    return PERSON_LIMIT_S if challenge.is_in_person else LIMIT_S
