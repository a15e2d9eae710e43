"""Harmful builds: they cost only their own player, and nothing harmful gets into the folder."""

import os
import shlex
import stat
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from referee.files.scratch import remove
from referee.programs.build import Builds, content_hash
from referee.programs.confining import Confinement
from referee.programs.control_groups import find_control_groups
from referee.programs.player_spec import PlayerError, read_folder
from referee.programs.sandbox import Sandbox

from ..needs import require_sandbox

PYTHON = shlex.quote(sys.executable)
NEST = "import os\nfor _ in range(1500):\n    os.mkdir('deep')\n    os.chdir('deep')\n"
MODES = "import os\nopen('made', 'w').close()\nos.chmod('made', 0o6755)\nos.mkdir('d')\nos.chmod('d', 0o3777)\n"
SPECIAL = (
    "import os, socket\nos.mkfifo('pipe')\nsocket.socket(socket.AF_UNIX).bind('socket')\nopen('made', 'w').close()\n"
)
CHAIN = "import os\nopen('l0', 'w').close()\nfor n in range(1500):\n    os.symlink(f'l{n}', f'l{n + 1}')\n"
FILL = (
    "import os\nfiles = []\n"
    "while len(files) < 40:\n"
    "    files.append(open('f', 'wb'))\n    os.unlink('f')\n    files[-1].write(bytes(100_000_000))\n"
)


def made(folder: Path, build: str, sandbox: Sandbox | None) -> None:
    """Make a player's folder, and build it."""
    folder.mkdir()
    (folder / "script.py").write_text(build)
    (folder / "player.toml").write_text(f'name = "mine"\nrun = "./made"\nbuild = {PYTHON + " script.py"!r}\n')
    builds = Builds(folder.parent / "builds", Confinement(sandbox=sandbox, groups=find_control_groups()))
    builds.build(read_folder(folder))


@pytest.fixture(params=["sandbox", "bare"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox | None:
    """Return the sandbox of builds: one case with it, one without."""
    return require_sandbox() if request.param == "sandbox" else None


BAD = {
    "deep": (NEST, "folders more than 64 deep"),
    "sparse": (
        "for n in range(20):\n    with open(f'{n}', 'w') as file:\n        file.truncate(500_000_000)\n",
        "more than 512 MiB together",
    ),
    "unreadable": (
        "import os\nopen('secret', 'w').close()\nos.chmod('secret', 0)\n",
        "secret can't be read: its mode is",
    ),
    "unreadable folder": ("import os\nos.makedirs('secret/in')\nos.chmod('secret', 0)\n", "secret can't be read"),
    "link": ("import os\nos.makedirs('a/b')\nos.symlink('../../../x', 'a/b/c')\n", "outside of the player's folder"),
    "link by a link": (
        "import os\nos.makedirs('a/b')\nos.symlink('a/b', 'd')\nos.symlink('d/../../..', 'e')\n",
        "e is a link to d/../../.., outside",
    ),
}


@pytest.mark.parametrize(("script", "complaint"), BAD.values(), ids=BAD)
def test_what_a_build_may_not_leave(tmp_path: Path, sandbox: Sandbox | None, script: str, complaint: str) -> None:
    """The error is the player's, nothing gets into the folder, and nothing is left elsewhere."""
    folder = tmp_path / "mine"
    with pytest.raises(PlayerError, match=complaint):
        made(folder, script, sandbox)
    assert {path.name for path in folder.iterdir()} == {"player.toml", "script.py"}
    assert [path.name for path in (tmp_path / "builds").iterdir() if path.suffix not in (".log", ".lock")] == []
    assert len(content_hash(folder)) == 64


def test_a_build_may_not_leave_any_number_of_files(tmp_path: Path) -> None:
    """Even small files: walking through the folder would take as long as the build wants."""
    with pytest.raises(PlayerError, match="more than 50000 files and folders in it"):
        made(tmp_path / "mine", "for n in range(50_001):\n    open(f'{n}', 'w').close()\n", require_sandbox())


def test_nothing_lends_its_owners_rights(tmp_path: Path, sandbox: Sandbox | None) -> None:
    """Setuid, setgid, sticky and write bits for others are removed; all files belong to the referee's user."""
    folder = tmp_path / "mine"
    made(folder, MODES, sandbox)
    found = {path.name: path.stat() for path in folder.iterdir()}
    assert {name: stat.S_IMODE(found[name].st_mode) for name in ("made", "d")} == {"made": 0o755, "d": 0o755}
    assert {(status.st_uid, status.st_gid) for status in found.values()} == {(os.geteuid(), os.getegid())}


def test_pipes_and_sockets_stay_behind(tmp_path: Path, sandbox: Sandbox | None) -> None:
    """Only other files are copied into the folder, because a reader of a pipe would wait."""
    folder = tmp_path / "mine"
    made(folder, SPECIAL, sandbox)
    assert {path.name for path in folder.iterdir()} == {"player.toml", "script.py", "made"}


def test_a_long_chain_of_links_is_followed_as_far_as_the_kernel_does(tmp_path: Path, sandbox: Sandbox | None) -> None:
    """Finding where a long chain of links leads does not recurse."""
    folder = tmp_path / "mine"
    made(folder, CHAIN, sandbox)
    assert read_folder(folder).name == "mine"


def test_a_build_can_fill_its_own_folder_only(tmp_path: Path) -> None:
    """Its files are bounded while it runs, even those that it has removed but still has open."""
    with pytest.raises(PlayerError, match=r"No space left on device|out of memory"):
        made(tmp_path / "mine", FILL, require_sandbox())
    assert {path.name for path in (tmp_path / "mine").iterdir()} == {"player.toml", "script.py"}


@pytest.mark.skipif(os.geteuid() != 0, reason="a referee that is not root has no other user to take")
def test_a_build_of_roots_runs_as_nobody(tmp_path: Path) -> None:
    """It has no rights and can make no user namespace; its folder, its home and /tmp are its own."""
    script = (
        "import os, pathlib, subprocess\n"
        "caps = [line for line in open('/proc/self/status') if line.startswith(('CapEff', 'CapPrm'))]\n"
        "assert all(int(line.split()[1], 16) == 0 for line in caps), caps\n"
        "assert os.getresuid() == os.getresgid() == (1000,) * 3 and not os.getgroups(), os.getresuid()\n"
        "assert subprocess.run(['unshare', '--user', 'true'], capture_output=True).returncode\n"
        "for place in ('.', '/tmp', pathlib.Path.home(), '/dev/shm'):\n"
        "    pathlib.Path(place, 'made').write_text('1')\n"
        "assert pathlib.Path('script.py').stat().st_uid == 1000\n"
        "pathlib.Path('uid').write_text(pathlib.Path('/proc/self/uid_map').read_text())\n"
    )
    made(tmp_path / "mine", script, require_sandbox())
    maps = [line.split() for line in (tmp_path / "mine" / "uid").read_text().splitlines()]
    assert maps == [["0", "0", "1"], ["1000", "65533", "1"]]


def test_a_build_changes_its_folder_file_by_file(tmp_path: Path, sandbox: Sandbox | None) -> None:
    """Files that it made, changed, removed and exchanged are updated; all others stay the very same files."""
    folder = tmp_path / "mine"
    script = (
        "import os, pathlib, shutil\n"
        "if os.path.exists('old'):\n"
        "    pathlib.Path('old').unlink(); shutil.rmtree('tree'); pathlib.Path('link').unlink()\n"
        "    pathlib.Path('tree').write_text('now a file'); pathlib.Path('link').mkdir(); os.symlink('tree', 'new')\n"
        "    pathlib.Path('changed').write_text('after')\n"
    )
    made(folder, script, sandbox)
    (folder / "old").write_text("old")
    (folder / "tree/in/in").mkdir(parents=True)
    (folder / "link").symlink_to("old")
    (folder / "changed").write_text("befor")
    kept = (folder / "script.py").stat()
    Builds(tmp_path / "builds", Confinement(sandbox=sandbox)).build(read_folder(folder))
    assert {path.name for path in folder.iterdir()} == {"player.toml", "script.py", "tree", "link", "new", "changed"}
    assert ((folder / "tree").read_text(), (folder / "changed").read_text()) == ("now a file", "after")
    assert ((folder / "link").is_dir(), (folder / "new").readlink()) == (True, Path("tree"))
    assert (folder / "script.py").stat() == kept


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("os.makedirs('in/logs', exist_ok=True)\nopen('in/logs/m.txt', 'w').write('forged')\n", ""),
        ("shutil.rmtree('in', ignore_errors=True)\n", ""),
        ("shutil.rmtree('in', ignore_errors=True)\nopen('in', 'w').close()\n", "Directory not empty"),
    ],
)
def test_what_is_hidden_from_a_player_is_no_part_of_its_build(
    tmp_path: Path, sandbox: Sandbox | None, script: str, complaint: str
) -> None:
    """Records in its folder are not shown to the build, not changed and not removed."""
    folder = tmp_path / "mine"
    (folder / "in" / "logs").mkdir(parents=True)
    (folder / "in" / "logs" / "m.txt").write_text("mine")
    seen = "import os, shutil\nassert not os.path.exists('in/logs/m.txt')\n"
    (folder / "script.py").write_text(seen + script)
    (folder / "player.toml").write_text(f'name = "mine"\nrun = "./made"\nbuild = {PYTHON + " script.py"!r}\n')
    confinement = Confinement(sandbox=sandbox, hidden=(folder / "in" / "logs",))
    with pytest.raises(PlayerError, match=complaint) if complaint else nullcontext():
        Builds(tmp_path / "builds", confinement).build(read_folder(folder))
    assert (folder / "in" / "logs" / "m.txt").read_text() == "mine"


def test_a_private_folder_is_private_and_gone(tmp_path: Path) -> None:
    """Without a sandbox: nobody else can enter it, it has the content of the player's folder, and it is removed."""
    script = (
        "import os, stat, sys\n"
        "assert stat.S_IMODE(os.stat('..').st_mode) == 0o700\n"
        "assert sorted(os.listdir()) == ['player.toml', 'script.py']\n"
        "if not os.path.exists('/proc/self/cwd/../left'):\n    open('../left', 'w').close()\n    sys.exit('once')\n"
    )
    for _ in range(2):
        with pytest.raises(PlayerError, match="once"):
            made(tmp_path / "mine", script, None)
        remove(tmp_path / "mine")
    assert list((tmp_path / "builds").glob("*.work")) == []


def test_a_folder_is_removed_whatever_is_in_it(tmp_path: Path) -> None:
    """Even if it is deeper than any path is long, closed to its owner, or has a link out of it."""
    (tmp_path / "kept").write_text("kept")
    bad = tmp_path / "bad"
    bad.mkdir()
    within = os.open(bad, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("a long name, so that the path is too long", dir_fd=within)
        os.symlink(tmp_path, "link", dir_fd=within)
        inner = os.open("a long name, so that the path is too long", os.O_RDONLY, dir_fd=within)
        os.close(within)
        within = inner
    os.close(within)
    next(bad.iterdir()).chmod(0)
    bad.chmod(0)
    remove(bad)
    remove(bad)
    assert {path.name for path in tmp_path.iterdir()} == {"kept"}
