"""A rogue at `referee serve` as an organiser runs it: what it prints, leaves behind, and proves afterwards."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ..cli.test_commands import played, referee
from . import offences
from .offences import Offence, Stage
from .rogues import Honest, Rogue
from .test_offences import bring

_BY_NAME = {offence.name: offence for offence in offences.OFFENCES}
SERVE = ("serve", "q", "--listen", "tcp:0:interface=127.0.0.1", "--min", "3", "--max", "3", "--time", "1", "--json")


def served(folder: Path, offence: Offence) -> Any:
    """Serve a match of a rogue and two honest players, and return what the command printed."""
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
        players = [Honest(address, name) for name in ("ada", "bob")]
        for player in players:
            player.start()
        bring(rogue, offence.stage)
        offence.do(rogue)
        rogue.last_words()
        for player in players:
            player.finish()
        printed, _ = server.communicate(timeout=30)
    assert server.returncode == 0
    return json.loads(printed)


@pytest.mark.parametrize("name", ["drips a byte every 10 ms", "resets in the middle of a frame", "says hello again"])
def test_a_served_match_survives_a_rogue(tmp_path: Path, name: str) -> None:
    """The command prints the foul, the record holds by the referee's key, and explains the foul to its author."""
    offence = _BY_NAME[name]
    assert offence.stage is Stage.ASKED
    found = served(tmp_path, offence)
    fouls = [(foul["seat"], foul["cause"], foul["code"]) for foul in found["result"]["fouls"]]
    assert fouls == [(0, str(offence.cause), offence.code)]
    public = played(referee("key", "show", "--key", "key.pem", "--json", cwd=tmp_path))["public"]
    assert played(referee("audit", "logs", "--key", public, "--json", cwd=tmp_path))["broken"] == 0
    text = referee("explain", found["record"], cwd=tmp_path).stdout
    assert f"expelled in turn 1: {offence.cause}" in text
