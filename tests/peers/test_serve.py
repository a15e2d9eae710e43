"""A rogue at `referee serve`, as an organiser runs it: output, files, and the record as proof."""

import subprocess
import sys
from pathlib import Path

from ..cli.calling import played, referee
from .offences import OFFENCES, PASS, Offence
from .rogues import Honest, Rogue
from .test_offences import bring

SERVE = ("serve", "q", "--listen", "tcp:0:interface=127.0.0.1", "--min", "3", "--max", "3", "--time", "1")


def served(folder: Path, offence: Offence) -> str:
    """Serve a match of a rogue and two honest players, and return the command's output."""
    with subprocess.Popen(
        [sys.executable, "-m", "referee", *SERVE, "--key", "key.pem"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stderr is not None
        address = next(line.split()[-1] for line in server.stderr if "listens on" in line)
        rogue = Rogue(address)
        rogue.hello()
        players = [Honest(address, name, choose=lambda _view: PASS) for name in ("ada", "bob")]
        for player in players:
            player.start()
        bring(rogue, offence.stage)
        offence.do(rogue)
        rogue.last_words()
        for player in players:
            player.finish()
        printed, _ = server.communicate(timeout=30)
    assert server.returncode == 0
    return printed


def test_a_served_match_survives_a_rogue(tmp_path: Path) -> None:
    """The command prints the foul, the record holds by the referee's key, and explains the foul to its author."""
    offence = next(item for item in OFFENCES if item.name == "drips a byte every 10 ms")
    assert f"expelled: {offence.cause}" in served(tmp_path, offence)
    public = played(referee("key", "show", "--key", "key.pem", "--json", cwd=tmp_path))["public"]
    assert played(referee("audit", "logs", "--public-key", public, "--json", cwd=tmp_path))["broken"] == 0
    (record,) = (tmp_path / "logs").glob("*.jsonl")
    text = referee("explain", str(record), "rogue", cwd=tmp_path).stdout
    assert f"expelled in turn 1: {offence.cause}" in text
