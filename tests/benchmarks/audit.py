"""How much faster than its match a record is audited, with players that answer in 10 ms, and what sealing costs.

The time of a turn is measured: real programs play a few such matches over TCP, and their records have the times. The
floor is the time to read the same files and hash their lines, in the same run.
"""

import argparse
import gc
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import repeat
from pathlib import Path

from referee import chance
from referee.app.records.audit import examine
from referee.app.records.audit_reports import Demands
from referee.games.q.game import QGame
from referee.match.machine import Match
from referee.match.setup import MatchSetup
from referee.plugins import find_game
from referee.record.audit.chance import check_shuffle
from referee.record.audit.evidence import check_evidence, no_dialects
from referee.record.audit.match import open_match, prove
from referee.record.audit.times import check_book
from referee.record.key import RECORD_PURPOSE, Sealer, is_signed
from referee.record.reader import Record, read_record
from referee.record.writer import RecordWriter
from referee.testing import ScriptedSeat
from sample_players.python.q_simple import make_dag

from ..driving import drive
from . import steady

ANSWER_MS = 10.0
SEATS = 4
PLAYED = 3
"""Matches over TCP."""
_SEALS = 200


def write_record(path: Path, number: int, sealer: Sealer) -> int:
    """Play a match between two house players (dag) without a network, and write its record.

    Returns:
        The number of its turns.
    """
    seed = chance.seed_from_number(number)
    names = tuple(f"p{seat}" for seat in range(SEATS))
    setup = MatchSetup(match=f"m{number}", game="q", names=names, commitment=chance.commitment(seed))
    match = Match(QGame(), setup, seed)
    writer = RecordWriter(path, sealer)
    writer.write_header(setup, seed, is_fixed=False, referee="benchmark", opened="")
    for event, commands in drive(match, [ScriptedSeat(make_dag(), takes_ms=ANSWER_MS) for _ in names]):
        writer.write_transition(event, commands)
    assert match.result is not None
    writer.end(match)
    writer.close()
    return match.turn


def turn_s(folder: Path) -> float:
    """Play matches between programs that answer in 10 ms; return the mean time of a turn after the deal.

    Starting the programs is not counted.
    """
    player = f"cmd:{sys.executable} -m {steady.__name__}"
    spent_ms, turns = 0.0, 0
    for number in range(PLAYED):
        logs = folder / f"played{number}"
        argv = [
            "play",
            "q",
            *[player] * SEATS,
            "--seed",
            str(number),
            "--sandbox",
            "off",
            "--logs",
            str(logs),
            "--json",
        ]
        subprocess.run([sys.executable, "-m", "referee", *argv], check=True, capture_output=True)
        (path,) = logs.glob("*.jsonl")
        steps = read_record(path).transitions
        asked = [
            step.event.at_ms for step in steps if any(command["command"] == "ask-move" for command in step.commands)
        ]
        spent_ms += steps[-1].event.at_ms - asked[0]
        turns += len(asked)
    return spent_ms / turns / 1000


def _read(path: Path) -> None:
    for line in path.read_bytes().split(b"\n"):
        hashlib.sha256(line).digest()


def _audit(path: Path) -> None:
    assert examine(path, Demands()).report.holds


def _stages(paths: list[Path]) -> dict[str, float]:
    """Return how long each part of the audits takes on its own."""
    opened = partial(open_match, find_game=find_game)
    proofs: list[tuple[Record, Match] | None] = []
    proven_s = _timed(lambda: proofs.extend(prove(path, opened) for path in paths))
    assert None not in proofs, "all of them hold"
    records = [proof[0] for proof in proofs if proof]
    return {
        "proof": proven_s,
        "of it the fold": _timed(lambda: list(map(_fold, records, map(opened, records)))),
        "times": _timed(lambda: list(map(check_book, records))),
        "deal": _timed(lambda: list(map(check_shuffle, records, repeat(QGame())))),
        "evidence": _timed(lambda: list(map(check_evidence, records, repeat(no_dialects)))),
    }


def _fold(record: Record, match: Match | None) -> None:
    assert match is not None, "each tells its seed"
    for step in record.transitions:
        match.handle(step.event)


def _timed(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    begun = clock()
    work()
    return clock() - begun


def main(arguments: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks audit", description=__doc__)
    parser.add_argument("--records", type=int, default=60, help="matches to audit")
    options = parser.parse_args(arguments)
    jobs, sealer = os.cpu_count() or 1, Sealer.new()
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.jsonl" for number in range(options.records)]
        turns = sum(write_record(path, number, sealer) for number, path in enumerate(paths))
        size = sum(path.stat().st_size for path in paths)
        print(f"{len(paths)} records of {SEATS} seats, {turns} turns, {size / 1e6:.1f} MB")
        gc.disable()  # as the command `audit` does
        each_s = turn_s(Path(folder))
        played_s = turns * each_s
        print(f"a turn of a match over TCP took {each_s * 1000:.2f} ms, {ANSWER_MS:g} ms of it the player's")
        print("processor time of what one process does, and for several the time that passed")
        _audit(paths[0])  # this finds the installed games
        rows = {"floor: read and hash the lines": _timed(lambda: list(map(_read, paths)))}
        rows["audit, one process"] = _timed(lambda: list(map(_audit, paths)))
        stages = _stages(paths)
        with ProcessPoolExecutor(jobs, initializer=gc.disable) as pool:
            list(pool.map(_audit, paths[:jobs]))  # warms up
            rows[f"audit, {jobs} processes"] = _timed(
                lambda: list(pool.map(_audit, paths, chunksize=4)), time.perf_counter
            )
    for name, seconds in rows.items():
        ratio = f"{played_s / seconds:8.0f} times faster than the matches"
        print(f"  {name:<32} {seconds:7.2f} s {seconds / turns * 1e6:8.1f} us a turn {ratio}")
    for name, seconds in stages.items():
        print(f"    {name:<30} {seconds:7.2f} s {seconds / turns * 1e6:8.1f} us a turn")
    signature = sealer.sign(RECORD_PURPOSE, "00" * 32)
    sign = _timed(lambda: [sealer.sign(RECORD_PURPOSE, "00" * 32) for _ in range(_SEALS)]) / _SEALS
    check = (
        _timed(lambda: [is_signed(sealer.public, RECORD_PURPOSE, "00" * 32, signature) for _ in range(_SEALS)]) / _SEALS
    )
    print(f"  the seal of a record: {sign * 1e6:.0f} us to sign, {check * 1e6:.0f} us to check")
    return 0
