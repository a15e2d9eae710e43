"""What the hosts of a cluster did for a tournament: a line for each, for its report and for other programs."""

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from ..tournament.events import HostCame
from ..tournament.host_class import Calibration, is_void_for
from ..tournament.match_context import MatchEntry
from .match_summary import MatchSummary


class HostLine(Struct, frozen=True, kw_only=True):
    """One host."""

    host: str
    calibration: Calibration
    """When it came last."""
    matches: int = 0
    """That it has begun."""
    void: int = 0
    """That are void, some of which it had not begun."""
    lag_ms: float = 0.0
    """The most that the referee had there in an answer."""
    standstills: int = 0
    """Requests during which it stood still there."""


def host_lines(
    hosts: Iterable[HostCame], entries: Iterable[MatchEntry], match_summaries: Mapping[str, MatchSummary]
) -> list[HostLine]:
    """Return a line for each host, in the order in which they came first."""
    processes, lines = {}, dict[str, HostLine]()
    for came in hosts:
        processes[came.process] = came.host
        lines[came.host] = HostLine(host=came.host, calibration=came.calibration)
    for entry in entries if lines else ():
        match = match_summaries.get(entry.match)
        told = {processes.get(time.process): time for time in match.fairness.processes} if match is not None else {}
        for host, time in told.items():
            if host is not None:
                line = lines[host]
                lines[host] = replace(
                    line,
                    matches=line.matches + 1,
                    lag_ms=max(line.lag_ms, time.lag_ms),
                    standstills=line.standstills + time.standstills,
                )
        for host in lines if entry.void is not None else ():
            if host in told or is_void_for(host, entry.void or ""):
                lines[host] = replace(lines[host], void=lines[host].void + 1)
    return list(lines.values())
