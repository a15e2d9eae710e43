"""Builds: once for each content of a folder, within bounds, and with a clear error when they fail."""

import json
import os
import shlex
import sys
from pathlib import Path

import pytest

from referee.programs import build
from referee.programs.build import Builds, content_hash
from referee.programs.confining import Confinement
from referee.programs.control_groups import find_control_groups
from referee.programs.player_spec import PlayerError, read_folder

from ..needs import require_sandbox


class Player:
    """A player's folder with a build."""

    def __init__(self, root: Path, build: str) -> None:
        self.cache = root / "logs" / ".builds"
        self.folder = root / "mine"
        self.folder.mkdir()
        toml = f'name = "mine"\nrun = "./made"\nbuild = {json.dumps(build)}\n'
        (self.folder / "player.toml").write_text(toml)
        self._builds = Builds(self.cache, Confinement(sandbox=require_sandbox(), groups=find_control_groups()))

    def build(self) -> bool:
        """Build if there is something to be built."""
        return self._builds.build(read_folder(self.folder))

    def failure(self) -> str:
        """Build without success, and return the error."""
        with pytest.raises(PlayerError) as caught:
            self.build()
        return str(caught.value)


def shell(script: str) -> str:
    """Return the command line of a script."""
    return shlex.join(["sh", "-c", script])


def test_a_build_is_run_once_for_each_content(tmp_path: Path) -> None:
    """It is run again after a changed file, a lost result, another command or a broken stamp."""
    player = Player(tmp_path, shell("echo built; date +%N >> made"))
    assert player.build()
    first = (player.folder / "made").read_text()
    assert not player.build()
    (player.folder / "source").write_text("new")
    assert player.build()
    assert (player.folder / "made").read_text().startswith(first)
    (player.folder / "made").unlink()
    assert player.build()
    toml = player.folder / "player.toml"
    toml.write_text(toml.read_text().replace("echo built", "echo again"))
    assert player.build()
    assert not player.build()
    (log,) = player.cache.glob("mine-*.log")
    assert log.read_text() == "again\n"
    (stamp,) = player.cache.glob("mine-*.built")
    stamp.write_bytes(b"\xff")
    assert player.build()


def test_a_folder_without_a_build_needs_none(tmp_path: Path) -> None:
    player = Player(tmp_path, "")
    assert not player.build()
    assert not player.cache.exists()


@pytest.mark.parametrize(
    ("build", "complaint"),
    [
        (shell("echo no compiler; exit 3"), "exit status 3 (all of it is in "),
        (shell("echo no compiler; exit 3"), ".log): no compiler"),
        (shell("exit 3"), "exit status 3"),
        (shell("ls ../logs"), "No such file or directory"),
        (shell("echo > /usr/beside"), "Read-only file system"),
        (shell("ln -s /etc/passwd made"), "outside of the player's folder"),
        (shlex.join([sys.executable, "-c", "import socket; socket.create_connection(('127.0.0.1', 9))"]), "refused"),
        ("no-such-compiler here", "can't start no-such-compiler here: No such file or directory: no-such-compiler"),
    ],
)
def test_a_build_that_fails_is_told(tmp_path: Path, build: str, complaint: str) -> None:
    """The error says how it ended, with the end of its output. It writes nowhere else, and is tried again."""
    player = Player(tmp_path, build)
    assert complaint in player.failure()
    assert list(player.cache.glob("*.built")) == []
    assert {"logs", "mine"} == {path.name for path in tmp_path.iterdir()}


def test_a_build_has_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that takes longer is ended with everything that it started."""
    monkeypatch.setattr(build, "BUILD_S", 0.3)
    player = Player(tmp_path, shell("sleep 1000 & sleep 1000"))
    assert "not done after 0.3 s" in player.failure()


@pytest.mark.parametrize(("script", "limit_s"), [("sleep 60 & touch made", 60.0), ("sleep 60", 0.1)])
def test_nobody_else_is_killed_with_a_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, limit_s: float
) -> None:
    """The number of its process group stays reserved until its status is collected, and is not used afterwards."""
    killed: list[bool] = []

    def _kill(group: int, number: int) -> None:
        killed.append(Path("/proc", str(group)).exists())
        kill(group, number)

    kill = os.killpg
    monkeypatch.setattr(os, "killpg", _kill)
    monkeypatch.setattr(build, "BUILD_S", limit_s)
    player = Player(tmp_path, shell(script))
    if limit_s < 1:
        player.failure()
    else:
        player.build()
    assert set(killed) == {True}


def test_a_build_may_print_much(tmp_path: Path) -> None:
    """The end of the output is kept."""
    player = Player(tmp_path, shell("head -c 5000000 /dev/zero | tr '\\0' x; echo; echo done; touch made"))
    assert player.build()
    (log,) = player.cache.glob("mine-*.log")
    assert log.read_text().endswith("x\ndone\n")
    assert log.stat().st_size < 70_000


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        (lambda folder: (folder / "a").write_text("other"), True),
        (lambda folder: (folder / "a").rename(folder / "b"), True),
        (lambda folder: (folder / "a").chmod(0o755), True),
        (lambda folder: (folder / "b").symlink_to("a"), True),
        (lambda folder: (folder / "empty").mkdir(), True),
        (lambda folder: (folder / "a").touch(), False),
        (lambda folder: (folder / "__pycache__").mkdir(), False),
    ],
)
def test_what_the_content_of_a_folder_is(tmp_path: Path, change: object, *, differs: bool) -> None:
    """It is names, bytes, links and executable bits, but not times of writing or files that a run leaves."""
    (tmp_path / "a").write_text("a")
    (tmp_path / "a").chmod(0o644)
    before = content_hash(tmp_path)
    assert callable(change)
    change(tmp_path)
    assert differs == (before != content_hash(tmp_path))
