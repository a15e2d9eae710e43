"""Harmful programs as real processes in a real sandbox: who is expelled for what, and that nothing is left."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from referee.programs.control_groups import find_control_groups
from referee.programs.output import KEPT_BYTES
from referee.record.key import VARIABLE

from ..needs import require
from . import harm

HELD = find_control_groups().folders
"""Limits that control groups enforce on this machine."""
IS_COUNTED = "pids" in HELD or os.getuid() != 0
"""Only control groups count root's processes."""
NO_MEMORY = r"out of memory \(limit 512 MiB\)" if "memory" in HELD else "MemoryError"
Row = tuple[str, str | None, str]
MATCHES: tuple[tuple[str, tuple[Row, ...]], ...] = (
    (
        "required",
        (
            ("fork", "crashed" if IS_COUNTED else None, "exit status 1: .*BlockingIOError"),
            ("remember", "crashed", NO_MEMORY),
            ("spin", "timeout", "no complete answer"),
        ),
    ),
    ("required", (("deaf", "timeout", "no complete answer"), ("mute", None, ""), ("shout", None, ""))),
    (
        "required",
        (
            ("escape bare", None, ""),
            ("fill", "crashed", "exit status 1: .*No space left on device"),
        ),
    ),
    ("off", (("escape" if not HELD else "escape bare", None, ""), ("deaf", "timeout", ""), ("mute", None, ""))),
)
"""(sandbox, (the player's deed, its foul, text in the foul's detail)).

Without sandbox and control groups, a process that changes its environment escapes.
"""


TIME_S = "4"
"""Time for a move; a program needs a second to fill its memory on a busy machine."""


class Scene:
    """A folder with players in folders of their own, and everything that a referee leaves on its machine."""

    def __init__(self, root: Path, harms: tuple[str, ...]) -> None:
        self.root = root
        self.tmp = root / "tmp"
        self.tmp.mkdir()
        self.key = root / "key.pem"
        for seat, what in enumerate(harms):
            folder = root / f"p{seat}"
            folder.mkdir()
            script = shutil.copy(harm.__file__, folder / "harm.py")
            toml = f'name = "bad{seat}"\nrun = "{sys.executable} {script} {what}"\n'
            (folder / "player.toml").write_text(toml)
        self.players = [f"p{seat}" for seat in range(len(harms))]

    def play(self, sandbox: str) -> Any:
        """Play against a house player to the end; return the output of `play --json`."""
        if sandbox == "required":
            require("bwrap")
        command = [
            "play",
            "q",
            *self.players,
            "house:dag",
            "--sandbox",
            sandbox,
            "--time",
            TIME_S,
            "--seed",
            "7",
            "--json",
        ]
        environment = {**os.environ, "TMPDIR": str(self.tmp), VARIABLE: str(self.key)}
        with subprocess.Popen(
            [sys.executable, "-m", "referee", *command],
            cwd=self.root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as referee:
            out, err = referee.communicate(timeout=120)
            self.pid = referee.pid
        assert referee.returncode == 0, err
        return json.loads(out)

    def left_behind(self) -> list[str]:
        """Return the leftovers that should be gone: processes, control groups, and temporary files."""
        processes = [path.parent.name for path in Path("/proc").glob("[0-9]*/cmdline") if self._is_ours(path)]
        groups = [str(path) for folder in HELD.values() for path in folder.glob(f"referee-*-{self.pid:x}-*")]
        return [*processes, *groups, *(str(path) for path in self.tmp.iterdir())]

    def _is_ours(self, cmdline: Path) -> bool:
        try:
            return str(self.root).encode() in cmdline.read_bytes()
        except OSError:
            return False  # gone


@pytest.mark.parametrize(("sandbox", "rows"), MATCHES, ids=["bombs", "noise", "escape", "no sandbox"])
def test_harm_is_its_authors_only(
    tmp_path_factory: pytest.TempPathFactory, sandbox: str, rows: tuple[Row, ...]
) -> None:
    """Each is expelled for its deed or plays on, the honest player plays to the end, and nothing is left."""
    scene = Scene(tmp_path_factory.mktemp("h"), tuple(what for what, _, _ in rows))
    result = scene.play(sandbox)["result"]
    fouls = {foul["seat"]: foul for foul in result["fouls"]}
    assert (result["void"], len(rows) in fouls) == (None, False)
    assert [cause for _, cause, _ in rows] == [fouls.get(seat, {}).get("cause") for seat in range(len(rows))]
    for seat, (_, cause, detail) in enumerate(rows):
        assert cause is None or re.search(detail, fouls[seat]["detail"])
    assert scene.left_behind() == []
    assert all(path.stat().st_size <= KEPT_BYTES + 100 for path in (scene.root / "logs").glob("*.stderr"))
    if "shout" in str(rows):
        (words,) = (scene.root / "logs").glob("*.seat2.*.stderr")
        assert words.read_text().startswith(f"[{harm.SHOUTED // 65_536 * 65_536 + 13 - KEPT_BYTES} bytes before")
        assert words.read_text().endswith("xx\nthat was all\n")


OPEN = {
    "records": [],
    "home": [],
    "tmp": "FileNotFoundError",
    "kernel": False,
    "processes": True,
    "environment": [
        *("HOME", "REFEREE_ADDRESS", "REFEREE_MEMORY_MIB", "REFEREE_NAME", "REFEREE_PLAYER_SEED"),
        *("REFEREE_PROGRAM", "REFEREE_TOKEN"),
    ],
}
"""Things that a program in a sandbox can see; everything else that it tries fails."""
WHERE_TOOLS_ARE = {"VIRTUAL_ENV", "RUSTUP_HOME"}
FORBIDDEN = {
    "key": "FileNotFoundError",
    "old record": "FileNotFoundError",
    "other player": "FileNotFoundError",
    "own folder": "OSError",
    "system": "OSError",
    "root": "OSError",
    "network": "OSError",
    "keyring": "OSError",
    "host": "OSError",
    "lease": "PermissionError",
    "first process": False,
    "first process's stdin": "OSError",
}


def test_a_spy_finds_nothing(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A program in a sandbox reads and writes only its own files, and sees no network and no process."""
    scene = Scene(tmp_path_factory.mktemp("h"), ("spy", "mute"))
    found = spied(scene, ["p0", "p1"])
    expected = {**FORBIDDEN, "records": "FileNotFoundError"}
    assert expected == {name: found[name] for name in expected}
    check_open(found, without="records")
    assert scene.left_behind() == []


def test_a_command_line_sees_its_folder_without_secrets(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A `cmd:` player reads the folder that it is started in, except for records, the key and other players."""
    scene = Scene(tmp_path_factory.mktemp("h"), ("spy", "mute"))
    shutil.copy(harm.__file__, scene.root)
    found = spied(scene, [f"cmd:{sys.executable} harm.py spy", "p1"], folder=scene.root)
    masked = {"key": "PermissionError", "other player": []}
    expected = {**FORBIDDEN, **masked}
    assert expected == {name: found[name] for name in expected}
    check_open(found, without="tmp")
    assert scene.left_behind() == []


def spied(scene: Scene, players: list[str], folder: Path | None = None) -> Any:
    """Let a spy in seat 0 play; return its findings."""
    old = scene.root / "old.jsonl"
    old.write_text('{"n":0,"prev":"00"}\n')
    with socket.create_server(("127.0.0.1", 0)) as server:
        aims = {
            "key": str(scene.key),
            "old": str(old),
            "logs": str(scene.root / "logs"),
            "other": str(scene.root / "p1"),
            "tmp": str(scene.tmp),
            "port": server.getsockname()[1],
        }
        (folder or scene.root / "p0").joinpath("aims.json").write_text(json.dumps(aims))
        scene.players = players
        result = scene.play("required")["result"]
    old.unlink()
    assert result["fouls"] == []
    (words,) = (scene.root / "logs").glob("*.seat0.*.stderr")
    return json.loads(words.read_text().splitlines()[-1])


def check_open(found: Any, without: str) -> None:
    """Compare what every program in a sandbox finds."""
    expected = {name: value for name, value in OPEN.items() if name != without}
    found["environment"] = [name for name in found["environment"] if name not in WHERE_TOOLS_ARE]
    assert expected == {name: found[name] for name in expected}
    assert found["namespace"] != 0
