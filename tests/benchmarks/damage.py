"""Damages the folder of a whole tournament at random, and counts the reports of an audit, and changes that people see.

A stranger changes any file. A dishonest organiser, who has the key, also chains and signs the changed records again. If
the changed tournament could have been played, the folder alone can't show the change; a comparison with published heads
must.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from referee.app.records.audit import audit_paths
from referee.app.records.audit_reports import AuditReport, Demands, SoundTournament
from referee.app.report import report_tournament
from referee.errors import BadRequest
from referee.pages.report_files import Targets
from referee.plugins import installed
from referee.record.reader import read_record
from referee.record.tournament_record import find_record, read_tournament, refold
from referee.tournament.history import History, new_tournament

from ..record.records import SEALER
from ..record.tournament_damage import HONEST, ORGANISERS, STRANGERS, Runs
from ..record.tournaments import play_cup

NAMED, SAME, HEADS = "named", "nothing changed that anybody is told", "shows against published heads alone"


def play_runs(folder: Path, seed: int) -> Runs:
    """Play a tournament twice, with all files that a referee leaves in its folder."""
    runs = Runs(folder / "one" / "cup", folder / "other" / "cup")
    for number, run in enumerate((runs.one, runs.other)):
        play_cup(run, seed + 2 * number)
        report_tournament(run, Targets(), 1)
        (run / "cup-00001.seat0.e0.stderr").write_bytes(b"hello\n")
    return runs


def audited(folder: Path, *heads: str) -> AuditReport | None:
    """Audit a folder; None if it has no records left."""
    try:
        return audit_paths([folder], Demands(keys=(SEALER.public,), heads=heads), 1, lambda *_: None)
    except BadRequest:
        return None


def told(folder: Path) -> Any:
    """Return everything that people see of the records."""
    path = find_record(folder)
    assert path is not None
    record = read_tournament(path)
    history = History(new_tournament(record.header.spec, installed().format("swiss"), record.header.salt))
    for _ in refold(record, history.take):
        pass
    matches = [read_record(folder / f"{match}.jsonl") for match in sorted(record.contexts)]
    played = [(match.header, match.transitions, match.result) for match in matches]
    tournament = history.tournament
    events = [step.event for step in record.transitions]
    return record.header, events, history.entries, tournament.rulings, tournament.standings(), played


def verdict(folder: Path, runs: Runs, expected: Any) -> str:
    """Return the audit's verdict on the damaged first run; heads of the second run are known."""
    report = audited(folder)
    if report is None or not report.holds:
        return NAMED
    sound = [tournament for tournament in report.tournaments if isinstance(tournament, SoundTournament)]
    if told(folder) == expected and all(
        _is_told_of(folder, runs.one, sound[0], name) for name in sorted(path.name for path in folder.iterdir())
    ):
        return SAME
    if sound[0].taken_on_trust or sound[0].without_proof:
        return NAMED
    by_head = audited(folder, read_tournament(runs.one / "cup.jsonl").chain.head)
    return HEADS if by_head is not None and not by_head.holds else "MISSED"


def is_late(folder: Path, runs: Runs) -> bool:
    """Return whether nothing before the last opening changed, or the whole record is that of the other run.

    The records of matches name only the head at their opening.
    """
    found, before, other = (read_tournament(each / "cup.jsonl") for each in (folder, runs.one, runs.other))
    return found.contexts == before.contexts or found.chain.lines == other.chain.lines


def _is_told_of(folder: Path, before: Path, sound: SoundTournament, name: str) -> bool:
    """Return whether a file is unchanged, or the audit names it as unverified."""
    path, old = folder / name, before / name
    parts = {name, f"{name}/"}
    is_same = path.is_file() and old.is_file() and path.read_bytes() == old.read_bytes()
    return is_same or not parts.isdisjoint(sound.unverified)


def main(arguments: list[str]) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="damage", description=__doc__)
    parser.add_argument("--damages", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    began, found, missed = time.monotonic(), Counter[tuple[str, str]](), []
    with tempfile.TemporaryDirectory() as scratch:
        runs = play_runs(Path(scratch), options.seed)
        expected = told(runs.one)
        report = audited(runs.one)
        assert report is not None
        assert report.holds, "the undamaged folder"
        for number in range(options.damages):
            random = Random(options.seed * 1_000_003 + number)
            damage = random.choice([*STRANGERS, *STRANGERS, *ORGANISERS, *HONEST])
            folder = Path(scratch) / "damaged" / "cup"
            shutil.copytree(runs.one, folder)
            damage(folder, runs, random)
            said = verdict(folder, runs, expected)
            found[damage.__name__, said] += 1
            if said == "MISSED" or (said == HEADS and damage not in HONEST and not is_late(folder, runs)):
                missed.append(f"{damage.__name__} {number}: {said}")
            shutil.rmtree(folder.parent)
    for (name, said), count in sorted(found.items()):
        print(f"{name:16} {said:45} {count:5}")
    print(
        f"{options.damages} damages in {time.monotonic() - began:.0f} s, {len(missed)} of them unnoticed {missed[:20]}"
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
