"""The queue of a contest: everything that is waiting, with the reasons, and the next matches of each tournament."""

# The queue is not stored. It is computed from the checks, the practice matches and the tournaments whenever somebody
# looks, so it can't differ from them. Each line has the reason for the wait and its latest end, because an author could
# take a wait without a reason for a fault.

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from math import inf

from msgspec import Struct

from ...pages.tournament_json import ReportedDue, TournamentReport
from ...text import counted
from ..contest_json import Coming, ComingMatch
from ..sessions import Person, SiteRole
from ..submissions.check_queue import CHECK_S, CheckQueue
from .practice import Practice
from .tournament_runs import RunState, TournamentRun

RECENT_S = 0.25
"""Seconds for which a computed queue is used again: less than the time between two events of a page that shows it."""
MOST_LINES = 500
"""Most lines of the queue to show to an organiser."""
SHOWN = 8
"""Most coming matches of a tournament to show on the first page."""
_WAITS = {
    RunState.WAITING: "It begins at a set time:",
    RunState.INTERRUPTED: "Its process has crashed, and will be started again.",
    RunState.STOPPING: "Its matches are being stopped.",
    RunState.PAUSED: "The organiser has paused it, and will start it again.",
    RunState.ELSEWHERE: "Another referee plays it; this page follows its record.",
    RunState.FAILED: "It can't start until the organiser has fixed its file.",
}
"""State of a tournament in which no match begins -> reason, as a sentence for everybody."""
_WHY = {
    RunState.WAITING: "its start is later",
    RunState.INTERRUPTED: "its process has crashed, and will be started again",
    RunState.STOPPING: "its matches are being stopped",
    RunState.PAUSED: "the organiser has paused it",
    RunState.ELSEWHERE: "another referee plays it; this server will continue when that referee has stopped",
    RunState.FAILED: "its file has mistakes; fix it, then start the tournament",
}
"""State of a tournament that waits -> reason, for the queue."""
_FOR_ORGANISER = (RunState.PAUSED, RunState.FAILED)


class QueueLine(Struct, frozen=True, kw_only=True):
    """A check, a match or a tournament that is waiting, or whose turn has come."""

    what: str
    author: str | None
    """Author to whom it belongs; None if it belongs to everybody."""
    why: str
    """Reason why it is waiting."""
    since: str | None
    """Beginning of the wait, ISO 8601 in UTC; None if it is not known."""
    until: str | None
    """Latest end of the wait, ISO 8601 in UTC; None if it is within a minute, or depends on the organiser, or is not
    known."""
    waits_for_organiser: bool
    """True if it waits for the organiser; everything else happens by itself."""
    has_no_limit: bool = False
    """True if the length of the wait is not known."""


def select_lines(person: Person, lines: Sequence[QueueLine]) -> list[QueueLine]:
    """Return the lines of the queue that a person may see.

    An author sees its own lines, then the lines that belong to everybody. About other authors it only learns how many
    are before it. Organisers see the first MOST_LINES of all lines.
    """
    if person.role is SiteRole.ORGANISER:
        return list(lines[:MOST_LINES])
    own_lines = [line for line in lines if line.author == person.name]
    return [*own_lines, *(line for line in lines if line.author is None)]


class RecentQueue:
    """Computes the queue again only after RECENT_S, because each open page of a member asks for it again and again.

    Args:
        queue: returns everything that is waiting.
        now: returns monotonic seconds.
    """

    def __init__(self, queue: Callable[[], Sequence[QueueLine]], now: Callable[[], float]) -> None:
        self._queue = queue
        self._now = now
        self._looked = -inf
        self._lines: Sequence[QueueLine] = ()
        self._of_author: dict[str | None, list[QueueLine]] = {}
        """Author -> lines; None -> lines that belong to everybody."""

    def show(self, person: Person) -> list[QueueLine]:
        """Return the lines that a person may see; see `select_lines`."""
        if self._now() - self._looked >= RECENT_S:
            self._looked, self._lines, self._of_author = self._now(), self._queue(), {}
            for line in self._lines:
                self._of_author.setdefault(line.author, []).append(line)
        if person.role is SiteRole.ORGANISER:
            return select_lines(person, self._lines)
        return [*self._of_author.get(person.name, ()), *self._of_author.get(None, ())]


def describe_coming(run: TournamentRun, report: TournamentReport | None) -> Coming | None:
    """Return the next matches of a tournament; None if it is over.

    Args:
        run: runs of the tournament.
        report: report of the tournament; None if there is none yet.
    """
    if run.state is RunState.OVER:
        return None
    waiting = list_waiting(run, report)
    matches = [
        ComingMatch(
            round=fixture.round,
            table=fixture.table,
            names=fixture.names,
            addresses=run.find_addresses(fixture.names),
        )
        for fixture in islice(waiting, SHOWN)
    ]
    return Coming(
        matches=matches,
        left_out=len(waiting) - len(matches),
        why=_why(run, has_matches=bool(matches)),
        at=None if run.due is None else run.due.astimezone(UTC).isoformat(timespec="seconds"),
    )


def list_waiting(run: TournamentRun, report: TournamentReport | None) -> list[ReportedDue]:
    """Return the waiting matches of a tournament, in the order in which they will begin.

    Args:
        run: runs of the tournament.
        report: report of the tournament, which may be out of date; None if there is none yet.
    """
    due = () if report is None else report.due
    return [fixture for fixture in due if fixture.match not in run.open_matches]


def _why(run: TournamentRun, *, has_matches: bool) -> str:
    """Return a sentence that says when the next matches begin, or why none begins."""
    if run.state in _WAITS:
        return _WAITS[run.state]
    if has_matches:
        return "Each begins as soon as a table and its players are free."
    if run.open_matches:
        rounds = {context.round for context in run.open_matches.values()}
        last = f", the last of round {min(rounds)}" if len(rounds) == 1 else ""
        return f"The next matches depend on the open matches{last}."
    return "The next matches are being paired."


def waiting_checks(checks: CheckQueue) -> Iterator[QueueLine]:
    """Yield the current check and the waiting checks in their order, each with its latest end."""
    first = () if checks.current is None else (checks.current,)
    for ahead, (author, number) in enumerate([*first, *checks.waiting()]):
        since = checks.since(author, number)
        limit = f"a check takes {CHECK_S / 60:.0f} minutes at most"
        why = (
            f"waits for {counted(ahead, 'check')} before it: checks run one at a time, and {limit}"
            if ahead
            else f"runs now; {limit}"
        )
        most = max(ahead, 1) * timedelta(seconds=CHECK_S)
        until = None if checks.begun is None else datetime.fromisoformat(checks.begun) + most
        yield _line(f"check of version {number}", author, why, since, until)


def waiting_practice(practice: Practice) -> Iterator[QueueLine]:
    """Yield the open and the waiting practice matches, in their order."""
    for challenge, why in practice.waiting():
        what, until = f"practice match {challenge.number}", practice.until(challenge)
        yield _line(what, challenge.author, why, challenge.asked, until)


def waiting_tournaments(runs: Iterable[TournamentRun]) -> Iterator[QueueLine]:
    """Yield the waiting tournaments."""
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


class NextMatch(Struct, frozen=True, kw_only=True):
    """The next match of an entrant in a tournament that is not over."""

    tournament: str
    names: Sequence[str]
    """Names of the players, by seat; empty if the entrant's next match is not paired yet."""
    why: str
    """Sentence that says when the match begins, or why it does not begin."""
    at: str | None
    """Time at which the tournament begins or continues, ISO 8601 in UTC; None if no time is set."""


def list_next(
    author: str, runs: Iterable[TournamentRun], report: Callable[[str], TournamentReport | None]
) -> list[NextMatch]:
    """Return the next match of an author's program in each of its tournaments that is not over."""
    coming = []
    for run in runs:
        spec = run.scheduled.plan.spec
        if run.state is RunState.OVER or author not in (entrant.name for entrant in spec.entrants):
            continue
        waiting = (fixture.names for fixture in list_waiting(run, report(spec.name)) if author in fixture.names)
        names = next(waiting, ())
        why, at = _why(run, has_matches=bool(names)), None if run.due is None else _moment(run.due.astimezone(UTC))
        coming.append(NextMatch(tournament=spec.name, names=names, why=why, at=at))
    return coming


def waiting_matches(
    runs: Iterable[TournamentRun], report: Callable[[str], TournamentReport | None]
) -> Iterator[QueueLine]:
    """Yield a line for each entrant of each waiting rated match, in the order in which the matches will begin."""
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
