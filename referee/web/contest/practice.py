"""Practice matches: an author's program, or the author in person, against a house player or a version of the author's.

Each is played in a process of its own, and only while the rated matches leave a core: one that is in their way is
stopped, and goes on from its record. Of programs one is played at a time; of persons, who leave a core idle for most of
the time, as many as cores are free. Their records lie beside those of the tournaments, and are part of none.
"""

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
from ..submissions.challenges import PERSON, PRACTICE, Challenge, ChallengeRefused, Challenges, PracticeRules
from ..submissions.store import Store, VersionState
from .contest_file import Contest
from .intake import LOGS
from .seats import HostedSeat, HostedSeats

PERSON_S = 180.0
"""For a move where a person plays, unless the tournament gives more: who has gone away is not waited for longer."""
_S = 1000.0
_DIGITS = 6
LOOK_S = 1.0
"""Between two looks at what there is to play, and whether it is in the way of rated matches."""
CALM_LOOKS = 5
"""So many in a row have found a core free before a match begins while a tournament is played: it fills a table again
within that."""
LIMIT_S = 1800.0
"""For a match of programs, from its beginning or from when it went on."""
PERSON_LIMIT_S = 3600.0
"""The same where a person plays."""
MOST_PERSONS = 8
"""Most persons who play at a time, however many cores there are."""
AWAY_S = 1800.0
"""A seat that nobody has taken for so long is given up."""
WAIT = timedelta(days=1)
"""A match that did not come to its end for so long, as others took the cores, is given up."""
GRACE_S = 10.0
"""Between asking a match to stop and killing it: it writes its record and ends its programs."""
RETRY_S = 30.0
"""After a trouble of this machine's."""
MAX_ATTEMPTS = 3
"""Most attempts at a match that ended together with the server: the match may be what takes the machine down."""


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


class RefereeProgram(Struct, frozen=True):
    """This program, for what has a process of its own."""

    referee: Sequence[str]
    options: Sequence[str]
    """Options for tournaments that hold for the process of a practice match as well."""


class Practice:
    """The practice matches of a contest.

    Args:
        reactor: Twisted's.
        contest: what its file says.
        requests: looks at what is asked for.
        program: plays matches.
        rated: returns how many rated matches are played now; None: no tournament is, that might begin one.
        changed: called with an author when something about its practice matches is another.
        note: takes note of what happens.

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
        self._challenges = Challenges(self._logs / PRACTICE)
        self._reactor = reactor
        self._requests = requests
        self._program = program
        self._rated = rated
        self._changed = changed
        self._note = note
        self._cores = os.cpu_count() or 1
        self._playing: dict[str, Challenge] = {}
        """Place of a match -> match that is played now."""
        self._left: dict[str, str] = {}
        """Place of what is played though somebody has left -> what is told of that."""
        self._seats = HostedSeats(reactor, lambda challenge: requests.title(challenge.tournament), self._why_person)

    # --- what authors see and do

    def rules(self) -> Sequence[PracticeRules]:
        """Return by whose rules may be played; none, if the organiser allows no practice matches."""
        return self._requests.rules()

    def challenges(self, author: str) -> Sequence[Challenge]:
        """Return an author's challenges, the latest first."""
        return self._challenges.of(author)[::-1]

    def waiting(self) -> Sequence[tuple[Challenge, str]]:
        """Return all that are not over, in their order, each with why it waits, or that it is played."""
        waiting = self._challenges.waiting()
        programs = [challenge.place for challenge in waiting if not challenge.is_in_person]
        return [(challenge, self._told_why(challenge, programs)) for challenge in waiting]

    def _told_why(self, challenge: Challenge, programs: Sequence[str]) -> str:
        if challenge.is_in_person:
            return self._why_person(challenge)
        return self._why(challenge, programs.index(challenge.place))

    def until(self, challenge: Challenge) -> datetime:
        """Return when a match that is played, or that waits, is given up at the latest."""
        if challenge.place in self._playing and challenge.begun is not None:
            return datetime.fromisoformat(challenge.begun) + timedelta(seconds=_limit_s(challenge))
        away_s = self._away_s(challenge)
        if away_s and not self._plays(challenge.author):
            return datetime.now(UTC) + timedelta(seconds=AWAY_S - away_s)
        return datetime.fromisoformat(challenge.asked) + WAIT

    def _why(self, challenge: Challenge, ahead: int) -> str:
        """Return how a challenge of a program stands that has so many before it."""
        if challenge.place in self._playing:
            return "is played now"
        if ahead:
            return f"waits for the {ahead} before it: one is played at a time"
        return self._when(0)

    def _why_person(self, challenge: Challenge) -> str:
        now = self._challenges.latest(challenge)
        if now.place in self._playing:
            return "is played now"
        if self._away_s(now):
            return f"begins when {now.author} takes the seat"
        if self._plays(now.author):
            return f"waits for the one that {now.author} plays now"
        return self._when(sum(challenge.is_in_person for challenge in self._playing.values()))

    def _when(self, others: int) -> str:
        if self._lacks_core(others):
            return f"waits until a core is free: others' matches take all {self._cores}"
        return "begins within seconds, unless rated matches take all cores"

    async def challenge(self, author: str, tournament: str, version: str | None, opponent: str) -> int:
        """Ask for a practice match, and return its number.

        Args:
            author: who asks.
            tournament: by whose rules.
            version: number of the author's version that plays; None: the author plays in person.
            opponent: `house:NAME`, or the number of another version of the author's.

        Raises:
            ChallengeRefused: it can't be played, or too many of the author's wait.
            OSError: the disk can't take it.
        """
        asked = await self._requests.challenge(author, tournament, version, opponent)
        taken = self._challenges.add(asked)
        self._tell(taken)
        return taken.number

    def give_up(self, author: str, number: str) -> None:
        """Give an author's seat up: the match ends, or is not played.

        Raises:
            ChallengeRefused: there is no such seat, or not any more.
            OSError: the disk can't take it.
        """
        found = self._find(author, number)
        if found is None or not found.is_in_person or found.ended is not None:
            raise ChallengeRefused("there is no such seat, or not any more", "look at the list again")
        why = f"{author} has left the table"
        if found.place in self._playing:
            self._left[found.place] = why
            self._seats.find(found).conclude(why)
        else:
            self._conclude(found, why)
            self._tell(found)

    def replay(self, author: str, number: str) -> str | None:
        """Return the page that shows a match of the author's again; None if there is none that is over.

        Raises:
            RecordError: its record does not hold.
        """
        found = self._find(author, number)
        record = None if found is None else find_record(self._challenges.folder(found))
        return replay_page(fold_record(record, installed().game)) if is_over(record) else None

    def seat(self, author: str, number: str) -> HostedSeat | None:
        """Return an author's own seat in a match; None if there is none."""
        found = self._find(author, number)
        return None if found is None or not found.is_in_person else self._seats.find(found)

    def leave(self, author: str) -> None:
        """Tell an author nothing any more: nobody knows which of its windows has signed out."""
        self._seats.leave(author)

    def _find(self, author: str, number: str) -> Challenge | None:
        return next((own for own in self._challenges.of(author) if str(own.number) == number), None)

    # --- playing

    def begin(self) -> "list[Deferred[None]]":
        """Play what there is to play; what is played when that is cancelled goes on in the next run.

        Returns:
            What is to be cancelled, and fires once all is ended.
        """
        lanes = [self._run(in_person=False, others=0)]
        lanes += [self._run(in_person=True, others=others) for others in range(min(self._cores, MOST_PERSONS))]
        running = [Deferred.fromCoroutine(playing) for playing in lanes]
        for lane in running:
            lane.addErrback(lambda failure: failure.trap(CancelledError))
        return running

    async def _run(self, *, in_person: bool, others: int) -> None:
        """Play one match after the other.

        Args:
            in_person: whether those of persons, or of programs.
            others: so many other matches of persons may be played at the time, which take a core each.
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
        """Return what is to be given up, or, if there is a core, to be played next."""
        now = datetime.now(UTC)
        for challenge in self._challenges.waiting():
            if challenge.is_in_person is not in_person or challenge.place in self._playing:
                continue
            if self.until(challenge) <= now or (is_calm and self._is_ready(challenge)):
                return challenge
        return None

    def _is_ready(self, challenge: Challenge) -> bool:
        return not (challenge.is_in_person and (self._plays(challenge.author) or self._away_s(challenge)))

    def _away_s(self, challenge: Challenge) -> float:
        """Return for how long the author has not been at the seat; 0: the author is there, or programs play."""
        return self._seats.find(challenge).away_s if challenge.is_in_person else 0.0

    def _plays(self, author: str) -> bool:
        """Tell whether an author plays a match in person now."""
        return any(playing.is_in_person and playing.author == author for playing in self._playing.values())

    def _lacks_core(self, others: int) -> bool:
        """Tell whether no core is free, if so many other practice matches take one."""
        return (self._rated() or 0) + others >= self._cores

    async def _play_safely(self, challenge: Challenge, others: int) -> None:
        self._playing[challenge.place] = challenge
        try:
            await self._play(challenge, others)
        except CancelledError:
            raise
        except Exception as error:  # noqa: BLE001  # whatever it is, the other authors' matches are played
            self._note("practice-failed", author=challenge.author, number=challenge.number, error=repr(error))
            await deferLater(self._reactor, RETRY_S)
        finally:
            del self._playing[challenge.place]
            self._left.pop(challenge.place, None)
            if challenge.is_in_person:
                self._seats.find(challenge).rest()
            self._tell(challenge)

    async def _play(self, challenge: Challenge, others: int) -> None:
        """Play a match, or the rest of it, unless rated matches need its core."""
        folder = self._challenges.folder(challenge)
        record = await deferToThread(find_record, folder)
        plan = self._requests.plans.get(challenge.tournament)
        if is_over(record):
            self._conclude(challenge)
        elif plan is None:
            self._conclude(challenge, "its tournament is not played any more, or practice matches are not allowed")
        elif challenge.attempts >= MAX_ATTEMPTS:
            self._conclude(challenge, f"it was cut off {MAX_ATTEMPTS} times, with the referee itself")
        elif self._away_s(challenge) >= AWAY_S:
            self._conclude(challenge, f"a seat was not taken for {AWAY_S / 60:.0f} minutes")
        elif datetime.now(UTC) >= datetime.fromisoformat(challenge.asked) + WAIT:
            self._conclude(challenge, f"no core was free for long enough within {WAIT / timedelta(hours=1):.0f} hours")
        else:
            await self._continue_match(replace(challenge, begun=wall_clock()), plan, record, others)

    async def _continue_match(
        self, challenge: Challenge, plan: TournamentPlan, record: Record | None, others: int
    ) -> None:
        """Play a match, or go on from its record, until it is over, or stopped."""
        self._challenges.save(replace(challenge, attempts=challenge.attempts + 1))
        self._tell(challenge)
        folder = self._challenges.folder(challenge)
        begins = match_options(plan, challenge, self._requests.store, folder)
        how = begins if record is None else ("--resume", str(record.path))
        options = (*how, "--json", *confinement_options(plan), *self._program.options)
        give_up = self._reactor.seconds() + _limit_s(challenge)
        try:
            process = self._start_process(challenge, [*self._program.referee, "play", *options])
            is_stopped = await self._await_end(challenge, process, give_up, others)
        finally:
            self._challenges.save(challenge)  # it was not the host that ended
        if is_over(await deferToThread(find_record, folder)):
            self._conclude(challenge)
        elif challenge.place in self._left:
            self._conclude(challenge, self._left[challenge.place])
        elif not is_stopped:
            self._conclude(challenge, "the referee could not play it: check this version again, or ask the organiser")
        elif self._reactor.seconds() >= give_up:
            self._conclude(challenge, f"it was not over after {_limit_s(challenge) / 60:.0f} minutes")

    def _start_process(self, challenge: Challenge, command: list[str]) -> OwnProcess:
        """Begin to play a match, or go on; its process has a socket to the seat of an author who plays in person."""
        with ExitStack() as stack:
            descriptors = tuple[int, ...]()
            if challenge.is_in_person:
                descriptors = (stack.enter_context(self._seats.find(challenge).invite()).fileno(),)
            relays = (f"--relay={challenge.author}={descriptor}" for descriptor in descriptors)
            log = stack.enter_context((self._logs / f"{PRACTICE}.log").open("ab"))
            return OwnProcess([*command, *relays], output=DEVNULL, errors=log, pass_fds=descriptors)

    async def _await_end(self, challenge: Challenge, process: OwnProcess, give_up: float, others: int) -> bool:
        """Have a match played; return whether it was stopped before: somebody left, for rated ones, after its time."""
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
        self._challenges.save(replace(challenge, ended=wall_clock(), trouble=trouble))
        self._note("practice-over", author=challenge.author, number=challenge.number, trouble=trouble)
        if challenge.is_in_person:
            self._seats.find(challenge).conclude(trouble)

    def _tell(self, challenge: Challenge) -> None:
        """Tell that something is another: the author of it, and persons who wait why they do."""
        self._changed(challenge.author)
        self._seats.notify()


def _limit_s(challenge: Challenge) -> float:
    return PERSON_LIMIT_S if challenge.is_in_person else LIMIT_S
