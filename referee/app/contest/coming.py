"""What comes next in a tournament of a contest, as everybody may know it: matches, and when, or why they wait."""

from datetime import UTC
from itertools import islice

from ...site.cards import Coming, ComingMatch
from ...site.reported import ReportedDue, TournamentReport
from .tournament_runs import RunState, TournamentRun

SHOWN = 8
"""Matches."""
_WAITS = {
    RunState.WAITING: "It begins at a set time:",
    RunState.INTERRUPTED: "Its process ended by a fault, and is begun again.",
    RunState.STOPPING: "Its matches are being stopped.",
    RunState.PAUSED: "The organiser has paused it, and starts it again.",
    RunState.FAILED: "It can't be started before the organiser has mended its file.",
}
"""State of a tournament in which no match begins -> why none does."""


def coming_in(run: TournamentRun, report: TournamentReport | None) -> Coming | None:
    """Return what comes next in a tournament; None if nothing does."""
    if run.state is RunState.OVER:
        return None
    waiting = waiting_in(run, report)
    matches = [
        ComingMatch(round=fixture.round, table=fixture.table, names=fixture.names) for fixture in islice(waiting, SHOWN)
    ]
    return Coming(
        matches=matches,
        left_out=len(waiting) - len(matches),
        why=_why(run, has_matches=bool(matches)),
        at=None if run.due is None else run.due.astimezone(UTC).isoformat(timespec="seconds"),
    )


def waiting_in(run: TournamentRun, report: TournamentReport | None) -> list[ReportedDue]:
    """Return the matches of a tournament that may be played, and are not, in the order in which they begin.

    Args:
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
        rounds = {each.round for each in run.open_matches.values()}
        last = f", the last of round {min(rounds)}" if len(rounds) == 1 else ""
        return f"What comes next follows from the matches that are played now{last}."
    return "The next matches are being settled."
