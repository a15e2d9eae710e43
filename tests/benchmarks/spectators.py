"""Measures what spectators who follow a contest's tables during 16 matches cost the players, and the host.

The site has its own process, and its load must not reach the matches. Printed are the lag in their records, verdicts
that were voided because of lag, and expulsions for time. There must be no such verdict or expulsion.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from msgspec import Struct

from referee.cli.commands.fairness import measure_fairness
from referee.cli.commands.new import make_player
from referee.web.contest.contest_file import CONTEST

TABLES = 16
OF_ADDRESS = 50
"""Spectators of one address: fewer than the site's limit."""
THINKS_MS = 300
FILE = """\
name = "load"
game = "quincy"
seats = 2
tables = {tables}
sandbox = "off"
entrants = [{entrants}]
[format]
name = "roundrobin"
cycles = 50
"""


class Seen(Struct):
    """The events that spectators got."""

    events: int = 0
    mebibytes: float = 0.0
    lost: int = 0
    """Connections that were cut, or never made."""


def main(arguments: list[str]) -> int:
    """Host a contest, follow it, and print the cost.

    Returns:
        0 if nobody was expelled, no verdict was voided and no spectator was lost.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks spectators", description=__doc__)
    parser.add_argument("--spectators", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        contest = Path(name)
        _prepare(contest)
        told = _measured(contest, given.spectators, given.seconds)
        found = measure_fairness([contest / "logs" / "load"])
    total = found.total
    told |= {
        "answers": total.answers,
        "lag of an answer, ms, 99 of 100": total.lag.p99_ms,
        "lag of an answer, ms, at most": total.lag.most_ms,
        "expelled for time": len(total.late),
        "verdicts voided": len(total.voided),
    }
    print(json.dumps(told, indent=1))
    return int(bool(told["spectators lost"] or total.late or total.voided))


def _prepare(contest: Path) -> None:
    """Write a contest whose programs think about each move, as real ones do."""
    player = contest / "player"
    make_player("c", player)
    code = (player / "player.c").read_text()
    begin = "static void choose(const char *game, const struct value *view, struct buffer *move) {\n"
    assert begin in code
    (player / "player.c").write_text(
        code.replace(begin, f"#include <unistd.h>\n{begin}    usleep({THINKS_MS * 1000});\n")
    )
    entrants = ", ".join(f'{{name = "e{number}", player = "player"}}' for number in range(2 * TABLES))
    (contest / "load.toml").write_text(FILE.format(tables=TABLES, entrants=entrants))
    (contest / CONTEST).write_text('title = "Load"\nspectators = "board only"\n[[tournaments]]\nfile = "load.toml"\n')


def _measured(contest: Path, spectators: int, seconds: float) -> dict[str, float]:
    command = [sys.executable, "-m", "referee", "host", str(contest), "--listen", "tcp:0:interface=127.0.0.1"]
    with subprocess.Popen([*command, "--key", str(contest / "key.pem")], stderr=subprocess.PIPE, text=True) as host:
        assert host.stderr is not None
        while "site is on" not in (line := host.stderr.readline()):
            assert line, "the host ended before it listened"
        port = int(line.rpartition(":")[2])
        records = contest / "logs" / "load"
        while len(list(records.glob("load-*.jsonl"))) < TABLES:
            time.sleep(0.2)
        before, cpu_s = _memory_kib(host.pid), _cpu_s(host.pid)
        seen, memory = asyncio.run(_look_on(port, spectators, seconds, host.pid))
        told = {
            "spectators": spectators,
            "spectators lost": seen.lost,
            "events for each": round(seen.events / spectators, 1),
            "MiB for each": round(seen.mebibytes / spectators, 2),
            "KiB of memory for each": round((memory - before) / spectators, 1),
            "share of a core that the site took": round((_cpu_s(host.pid) - cpu_s) / seconds, 2),
        }
        host.terminate()
        host.stderr.read()
    return told


async def _look_on(port: int, spectators: int, seconds: float, host: int) -> tuple[Seen, int]:
    """Let spectators follow for some time; return their events, and the host's memory at the end."""
    seen = Seen()
    looking = [asyncio.create_task(_spectator(port, number, seen)) for number in range(spectators)]
    await asyncio.sleep(seconds)
    memory = _memory_kib(host)
    seen.lost = sum(task.done() for task in looking)
    for task in looking:
        task.cancel()
    await asyncio.gather(*looking, return_exceptions=True)
    return seen, memory


async def _spectator(port: int, number: int, seen: Seen) -> None:
    own = f"127.0.{1 + number // OF_ADDRESS}.1"
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(own, 0))
    writer.write(b"GET /api/live/events HTTP/1.1\r\nHost: x\r\n\r\n")
    try:
        while data := await reader.read(1 << 18):
            seen.events += data.count(b"data: ")
            seen.mebibytes += len(data) / (1 << 20)
    finally:
        writer.close()


def _memory_kib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100
