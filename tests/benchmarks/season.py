"""Measures a season, a ladder of many matches with new entrants and new versions: its memory, and its resumption.

Nobody plays: results are random and go through the tournament's logic into its record. Then the record is read and its
events are applied again, as when a referee resumes it. Reports the memory at intervals, and processor
seconds: other work on the machine does not count.
"""

import argparse
import gc
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from random import Random

from referee.record.key import Sealer
from referee.record.tournament_record import TournamentWriter, read_tournament, refold
from referee.tournament import events as e
from referee.tournament.machine import Tournament
from referee.tournament.spec import Participant, TournamentSpec

from ..tournament.playing import AT, SALT, Troubles, events_of, spec_of, tournament_of

FOUNDERS = 20
TABLES = 8
TROUBLES = Troubles(void=0.002, failed=0.0005)
LOOKS = 10
"""Number of looks at the memory."""
MOST_GROWTH_MIB = 24.0
"""Growth of the memory that is allowed from half of the season to its end."""
MOST_RESUME_S = 5.0
_PAGE_MIB = os.sysconf("SC_PAGE_SIZE") / (1 << 20)


class UnsyncedWriter(TournamentWriter):
    """Syncs nothing, because the time of a sync depends only on the disk."""

    def sync(self) -> None:
        """Do nothing."""


def main(arguments: list[str]) -> int:
    """Play a season, resume it, and print the costs.

    Returns:
        0 if memory does not grow, and the season is resumed soon enough.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks season", description=__doc__)
    parser.add_argument("--matches", type=int, default=20_000)
    parser.add_argument("--joining", type=int, default=50, help="half of them new entrants, half new versions")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        path = Path(folder) / "season.jsonl"
        growth_mib = pool.apply(play, (path, chosen.matches, chosen.joining))
        resume_s = pool.apply(resume, (path,))
    return 0 if growth_mib <= MOST_GROWTH_MIB and resume_s <= MOST_RESUME_S else 1


def season_of(matches: int) -> TournamentSpec:
    """Return the spec."""
    return spec_of(FOUNDERS, "ladder", name="season", format_options={"matches": matches, "at_once": TABLES})


def play(path: Path, matches: int, joining: int) -> float:
    """Play a season with random results into a record.

    Returns:
        Growth of the memory in its second half, in MiB.
    """
    tournament, seen = tournament_of(season_of(matches)), []
    begun = time.process_time()
    with closing(UnsyncedWriter(path, Sealer.new())) as writer:
        writer.write_header(tournament.spec, SALT, {}, referee="benchmark", opened=AT)
        for event in play_season(tournament, matches, joining):
            writer.write_transition(event, tournament.handle(event))
            if isinstance(event, e.MatchClosed) and tournament.played % (matches // LOOKS) == 0:
                seen.append(memory_mib())
                print(f"{tournament.played:6} matches: {seen[-1]:6.1f} MiB", flush=True)
        writer.write_transition(e.Finished(at=AT), tournament.handle(e.Finished(at=AT)))
        writer.seal()
    spent_s = time.process_time() - begun
    entrants = len(tournament.spec.entrants)
    print(f"{matches} matches, {entrants} entrants, {writer.count} lines: {path.stat().st_size / 1e6:.1f} MB of record")
    print(f"fold and record: {spent_s:.1f} s of processor, {spent_s / matches * 1e6:.0f} us a match, not synced")
    return seen[-1] - seen[len(seen) // 2 - 1]


def play_season(tournament: Tournament, matches: int, joining: int) -> Iterator[e.TournamentEvent]:
    """Yield the events of a season; the tournament must take each event before the next is asked for."""
    random, arrived = Random(1), 0
    yield e.Begun(at=AT)
    for event in events_of(tournament, random, tables=TABLES, troubles=TROUBLES):
        yield event
        if arrived < joining and tournament.played >= (arrived + 1) * matches / (joining + 1):
            arrived += 1
            yield newcomer(tournament, random, arrived)


def newcomer(tournament: Tournament, random: Random, number: int) -> e.TournamentEvent:
    """Return the event that an entrant joins, or has a new version."""
    if number % 2:
        name = Participant(name=f"late{number}", player="house:dag")
        return e.EntrantJoined(at=AT, participant=name, digest=f"{number:064x}")
    entrant = random.randrange(len(tournament.spec.entrants))
    return e.ProgramChanged(at=AT, entrant=entrant, digest=f"{number:064x}")


def resume(path: Path) -> float:
    """Read a season and apply its events again; return the seconds of processor time."""
    before_mib, begun = memory_mib(), time.process_time()
    record = read_tournament(path)
    read_s = time.process_time() - begun
    tournament = tournament_of(record.header.spec)
    for _ in refold(record, tournament.handle):
        pass
    resume_s = time.process_time() - begun
    used_mib = memory_mib() - before_mib
    print(f"resumed in {resume_s:.2f} s of processor, {read_s:.2f} s of it to read; {used_mib:.0f} MiB")
    begun = time.process_time()
    tournament.standings()
    print(f"standings: {(time.process_time() - begun) * 1000:.0f} ms")
    return resume_s


def memory_mib() -> float:
    """Return the memory of this process, in MiB."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_MIB


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
