"""Small tournaments of house players under a real referee, and what their records say of them."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from protocol.client import ClientError
from protocol.client import run as play
from referee.record.reader import read_record

from ... import warm
from .in_memory import lines_of

PLAYERS = ("dag", "ldasg")
"""House players whose moves follow from what they see, whenever they were started."""


def write_toml(folder: Path, format_: str, *, tables: int, size: int = 4) -> Path:
    """Write the file of a tournament into a folder, and return its path."""
    entrants = "".join(
        f'[[entrants]]\nname = "p{number}"\nplayer = "house:{PLAYERS[number % 2]}"\n' for number in range(size)
    )
    path = folder / "cup.toml"
    path.write_text(f'game = "q"\nseed = 6\ntables = {tables}\nsandbox = "off"\n{entrants}[format]\n{format_}\n')
    return path


def run(path: Path, *options: str) -> str:
    """Run a tournament, or go on with it, to its end; return what was printed."""
    done = warm.run(["tournament", str(path), "--json", *options], cwd=path.parent)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def play_remotely(port: int, token: str) -> None:
    """Play every match that is offered on one connection."""
    with suppress(ClientError):  # the tournament is over
        play(_passing, address=f"tcp:127.0.0.1:{port}", token=token, say=None)


def _passing(view: Any) -> Any:
    """Exchange as long as that is allowed."""
    return {"action": "exchange" if len(view["hand"]) <= view["tiles_left"] else "pass"}


def audit(folder: Path) -> str:
    """Audit a tournament, and return what was printed; nothing if it holds."""
    done = warm.run(["audit", str(folder)])
    return "" if done.returncode == 0 else done.stdout[-2000:] + done.stderr[-2000:]


def outcome(record: Path) -> dict[str, Any]:
    """Return what a tournament came to: deals and results by match, and the standings.

    Values that depend on the time of day, or on the order in which parallel matches end, are left out.
    """
    matches = {}
    for line in lines_of(record):
        event = line.get("event", {})
        if event.get("event") == "match-closed":
            entry = event["entry"]
            match = entry["fixture"]["match"]
            seed = read_record(record.with_name(f"{match}.jsonl")).seed
            matches[match] = seed, {key: value for key, value in entry.items() if key not in ("head", "used_ms")}
    ends = [command for line in lines_of(record) for command in line.get("commands", ())]
    return {"matches": matches, "standings": [end for end in ends if end["command"] == "end-tournament"][-1]}
