"""All that waits in a contest, with the reasons, and what comes next; why practice matches do: practice.py."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from math import inf

from msgspec import Struct

from ...pages.tournament_json import ReportedDue, TournamentReport
from ..cards import Coming, ComingMatch
from ..sessions import Person, SiteRole
from ..submissions.check_queue import CHECK_S, CheckQueue
from .practice import Practice
from .tournament_runs import RunState, TournamentRun

RECENT_S = 0.25
"""Seconds for which a look at the queue is reused: fewer than between two events of a page that shows it."""
MOST_LINES = 500
"""Most lines of the queue that an organiser is shown."""
SHOWN = 8
"""Matches."""
_WAITS = {
    RunState.WAITING: "It begins at a set time:",
    RunState.INTERRUPTED: "Its process ended by a fault, and is begun again.",
    RunState.STOPPING: "Its matches are being stopped.",
    RunState.PAUSED: "The organiser has paused it, and starts it again.",
    RunState.ELSEWHERE: "Another referee plays it; this page shows its record as it grows.",
    RunState.FAILED: "It can't be started before the organiser has fixed its file.",
}
"""State of a tournament in which no match begins -> why none does."""
_WHY = {
    RunState.WAITING: "its time has not come",
    RunState.INTERRUPTED: "its process ended by a fault, and is begun again",
    RunState.STOPPING: "its matches are being stopped",
    RunState.PAUSED: "the organiser has paused it",
    RunState.ELSEWHERE: "another referee plays it; this host goes on with it once that referee has stopped",
    RunState.FAILED: "its file is wrong: fix it, and start it",
}
"""State of a tournament that waits -> why."""
_FOR_ORGANISER = (RunState.PAUSED, RunState.FAILED)


class QueueLine(Struct, frozen=True, kw_only=True):
    """Something that waits, or is done now as its turn came: a check, a match, a tournament."""

    what: str
    author: str | None
    """Whose; None: it is everybody's."""
    why: str
    """It waits."""
    since: str | None
    """When it began to, ISO 8601 in UTC; None: that is not known."""
    until: str | None
    """When that ends at the latest, as above; None: when somebody does something, within a minute, or nobody knows."""
    waits_for_organiser: bool
    """True if it waits until the organiser does something; everything else happens by itself."""
    has_no_limit: bool = False
    """True if nobody can say how long it waits."""


def select_lines(person: Person, lines: Sequence[QueueLine]) -> list[QueueLine]:
    """Return what somebody is shown of all that waits: authors all their own, then what is everybody's.

    Of others' an author learns no more than how many are before its own. Organisers are shown the first MOST_LINES.
    """
    if person.role is SiteRole.ORGANISER:
        return list(lines[:MOST_LINES])
    own = [line for line in lines if line.author == person.name]
    return [*own, *(line for line in lines if line.author is None)]


class RecentQueue:
    """The queue as it was a moment ago.

    Args:
        queue: returns what waits, of everybody.
        now: monotonic seconds.
    """

    def __init__(self, queue: Callable[[], Sequence[QueueLine]], now: Callable[[], float]) -> None:
        self._queue = queue
        self._now = now
        self._looked = -inf
        self._lines: Sequence[QueueLine] = ()
        self._of_author: dict[str | None, list[QueueLine]] = {}
        """Lines by author; of None those that are everybody's."""

    def show(self, person: Person) -> list[QueueLine]:
        """Return what somebody is shown of it, as select_lines has it."""
        if self._now() - self._looked >= RECENT_S:
            self._looked, self._lines, self._of_author = self._now(), self._queue(), {}
            for line in self._lines:
                self._of_author.setdefault(line.author, []).append(line)
        if person.role is SiteRole.ORGANISER:
            return select_lines(person, self._lines)
        return [*self._of_author.get(person.name, ()), *self._of_author.get(None, ())]


def describe_coming(run: TournamentRun, report: TournamentReport | None) -> Coming | None:
    """Return what comes next in a tournament; None if nothing does.

    Args:
        run: of the tournament.
        report: its report; None: there is none yet.
    """
    if run.state is RunState.OVER:
        return None
    waiting = list_waiting(run, report)
    matches = [
        ComingMatch(round=fixture.round, table=fixture.table, names=fixture.names) for fixture in islice(waiting, SHOWN)
    ]
    return Coming(
        matches=matches,
        left_out=len(waiting) - len(matches),
        why=_why(run, has_matches=bool(matches)),
        at=None if run.due is None else run.due.astimezone(UTC).isoformat(timespec="seconds"),
    )


def list_waiting(run: TournamentRun, report: TournamentReport | None) -> list[ReportedDue]:
    """Return the matches of a tournament that may be played, and are not, in the order in which they begin.

    Args:
        run: of the tournament.
        report: its report, which may be older; None: there is none yet.
    """
    due = () if report is None else report.due
    return [fixture for fixture in due if fixture.match not in run.open_matches]


def _why(run: TournamentRun, *, has_matches: bool) -> str:
    """Return when it goes on, or why it does not, in a sentence."""
    if run.state in _WAITS:
        return _WAITS[run.state]
    if has_matches:
        return "Each begins as soon as a table and its players are free."
    if run.open_matches:
        rounds = {context.round for context in run.open_matches.values()}
        last = f", the last of round {min(rounds)}" if len(rounds) == 1 else ""
        return f"What comes next follows from the matches that are played now{last}."
    return "The next matches are being settled."


def waiting_checks(checks: CheckQueue) -> Iterator[QueueLine]:
    """Yield the check that is made, and those that wait, in their order; each with when that is over at the latest."""
    first = () if checks.current is None else (checks.current,)
    for ahead, (author, number) in enumerate([*first, *checks.waiting()]):
        since = checks.since(author, number)
        limit = f"a check takes {CHECK_S / 60:.0f} minutes at most"
        why = (
            f"waits for the {ahead} before it: one is made at a time, and {limit}" if ahead else f"is made now; {limit}"
        )
        most = max(ahead, 1) * timedelta(seconds=CHECK_S)
        until = None if checks.begun is None else datetime.fromisoformat(checks.begun) + most
        yield _line(f"check of version {number}", author, why, since, until)


def waiting_practice(practice: Practice) -> Iterator[QueueLine]:
    """Yield the practice match that is played, and those that wait, in their order."""
    for challenge, why in practice.waiting():
        what, until = f"practice match {challenge.number}", practice.until(challenge)
        yield _line(what, challenge.author, why, challenge.asked, until)


def waiting_tournaments(runs: Iterable[TournamentRun]) -> Iterator[QueueLine]:
    """Yield the tournaments that are not over, and not played now."""
    for run in runs:
        if run.state in _WHY:
            yield QueueLine(
                what=f"tournament {run.scheduled.name}",
                author=None,
                why=_WHY[run.state],
                since=run.since.isoformat(timespec="seconds"),
                until=_moment(run.due),
                waits_for_organiser=run.state in _FOR_ORGANISER,
                has_no_limit=run.state is RunState.ELSEWHERE,
            )


def waiting_matches(
    runs: Iterable[TournamentRun], report: Callable[[str], TournamentReport | None]
) -> Iterator[QueueLine]:
    """Yield the rated matches that wait to be played, in the order in which they begin; one for each entrant."""
    for run in runs:
        if run.state is RunState.OVER:
            continue
        tournament, why = run.scheduled.name, _WHY.get(run.state)
        for fixture in list_waiting(run, report(tournament)):
            for author in fixture.names:
                yield QueueLine(
                    what=f"tournament {tournament}, round {fixture.round}: {', '.join(fixture.names)}",
                    author=author,
                    why=f"its tournament waits: {why}" if why else "begins as soon as a table and its players are free",
                    since=fixture.since,
                    until=None,
                    waits_for_organiser=run.state in _FOR_ORGANISER,
                    has_no_limit=True,
                )


def _line(what: str, author: str, why: str, since: str, until: datetime | None) -> QueueLine:
    return QueueLine(what=what, author=author, why=why, since=since, until=_moment(until), waits_for_organiser=False)


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat(timespec="seconds")
