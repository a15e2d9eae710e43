"""Control groups, in folders that stand in for the kernel's and, if this machine has them, in real ones."""

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from referee.programs import control_groups
from referee.programs.control_groups import (
    ControlGroups,
    Group,
    clear_groups,
    find_control_groups,
    list_members,
    own_prefix,
    remove_groups,
)
from referee.programs.limits import CLEAR_S, ProgramLimits

LIMITS = ProgramLimits(memory_mib=100, processes=5)
HUNDRED_MIB = "104857600"


def first_version(root: Path) -> Path:
    """Make the tree of version 1: a folder for each controller; return the file that names a process's groups."""
    for folder in ("memory/own", "pids", "cpu"):
        (root / folder).mkdir(parents=True)
    for folder in ("memory", "memory/own", "pids", "cpu"):
        (root / folder / "cgroup.procs").touch()
    own = root / "own"
    own.write_text("9:name=systemd:/\n8:pids:/\n4:memory:/own\n1:cpu,cpuacct:/elsewhere\n0::/\n")
    return own


def second_version(root: Path, handed_on: str, own_hands_on: str = "") -> Path:
    """Make the tree of version 2: one folder, with a group for this process below a user's group."""
    group = root / "user" / "terminal"
    group.mkdir(parents=True)
    (root / "cgroup.controllers").touch()
    for folder, names in ((root / "user", handed_on), (group, own_hands_on)):
        (folder / "cgroup.subtree_control").write_text(names)
        (folder / "cgroup.procs").touch()
    own = root / "own"
    own.write_text("0::/user/terminal\n")
    return own


def found_in(root: Path, own: Path, monkeypatch: pytest.MonkeyPatch) -> ControlGroups:
    """Find where groups can be made in a tree, given the file that names this process's groups."""
    monkeypatch.setattr(control_groups, "ROOT", root)
    monkeypatch.setattr(control_groups, "OWN", own)
    return find_control_groups()


def test_the_first_version_has_a_group_for_each_controller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is below the process's own group or, where that is not mounted, below the mounted one."""
    found = found_in(tmp_path, first_version(tmp_path), monkeypatch)
    folders = {"memory": tmp_path / "memory" / "own", "pids": tmp_path / "pids", "cpu": tmp_path / "cpu"}
    assert ControlGroups(version=1, folders=folders) == found


@pytest.mark.parametrize(
    ("handed_on", "own_hands_on", "expected"),
    [
        ("cpu memory pids", "", dict.fromkeys(("memory", "pids", "cpu"), "user")),
        ("cpu memory pids", "memory", {"memory": "user/terminal"}),
        ("cpu", "", {}),
        ("", "", {}),
    ],
)
def test_the_second_version_needs_a_group_that_hands_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, handed_on: str, own_hands_on: str, expected: dict[str, str]
) -> None:
    """That is the process's own group, or the one around it; if neither passes on a controller, nothing is limited."""
    found = found_in(tmp_path, second_version(tmp_path, handed_on, own_hands_on), monkeypatch)
    assert ControlGroups(version=2, folders={name: tmp_path / folder for name, folder in expected.items()}) == found


def test_where_there_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without control groups limits nothing, and that is no error."""
    assert ControlGroups(version=1, folders={}) == found_in(tmp_path, tmp_path / "nowhere", monkeypatch)


@pytest.mark.parametrize(
    ("version", "files"),
    [
        (
            1,
            {
                "memory.limit_in_bytes": HUNDRED_MIB,
                "memory.memsw.limit_in_bytes": HUNDRED_MIB,
                "pids.max": "8",
            },
        ),
        (2, {"memory.max": HUNDRED_MIB, "memory.swap.max": "0", "pids.max": "8"}),
    ],
)
def test_limits_are_written(tmp_path: Path, version: int, files: dict[str, str]) -> None:
    """Memory limits are in bytes, with swap. Processes that start the program are added to the limit of processes."""
    Group(ControlGroups(version=version, folders={"memory": tmp_path, "pids": tmp_path}), LIMITS)
    (made,) = tmp_path.iterdir()
    assert files == {path.name: path.read_text() for path in made.iterdir()}


@pytest.mark.parametrize(
    ("version", "name", "content", "expected"),
    [
        (1, "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n", False),
        (1, "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n", True),
        (2, "memory.events", "low 0\nhigh 0\nmax 7\noom 1\noom_kill 0\n", False),
        (2, "memory.events", "low 0\nhigh 0\nmax 7\noom 1\noom_kill 1\n", True),
        (2, "elsewhere", "oom_kill 1\n", False),
    ],
)
def test_the_kernel_tells_who_ran_out_of_memory(
    tmp_path: Path, *, version: int, name: str, content: str, expected: bool
) -> None:
    """Only a killed process counts, not one that had to wait for memory."""
    group = Group(ControlGroups(version=version, folders={"memory": tmp_path}), LIMITS)
    (made,) = tmp_path.iterdir()
    (made / name).write_text(content)
    assert expected == group.ran_out_of_memory


def name_of(pid: int, *, started: int | None = None) -> str:
    """Return the name of a group of another process, which began at another time if that is given."""
    namespace, mine, ticks = own_prefix().split("-")[1:4]
    assert int(mine, 16) == os.getpid()
    began = int(Path("/proc", str(pid), "stat").read_text().split()[21]) if started is None else started
    assert pid != os.getpid() or int(ticks, 16) == began
    return f"referee-{namespace}-{pid:x}-{began:x}-1"


def test_groups_of_a_killed_referee_are_told_from_those_of_others(tmp_path: Path) -> None:
    """The process is gone, or its number belongs to another one. Live or invisible processes keep their groups."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    dead = [name_of(gone.pid, started=7), name_of(os.getppid(), started=7)]
    gone.wait()
    elsewhere = name_of(gone.pid, started=7).replace("referee-", "referee-1")
    others = [name_of(os.getpid()), name_of(os.getppid()), elsewhere, "referee-other", f"referee-{gone.pid}-1"]
    for name in (*dead, *others):
        (tmp_path / name).mkdir()
    clear_groups(ControlGroups(version=2, folders={"cpu": tmp_path, "memory": tmp_path}))
    assert set(others) == {path.name for path in tmp_path.iterdir()}


def test_what_is_left_of_many_programs_is_waited_for_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All groups are killed first, by any of their controllers, even if many can't be removed."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    names = [name_of(gone.pid, started=number) for number in (7, 8, 9)]
    gone.wait()
    memory, pids = tmp_path / "memory", tmp_path / "pids"
    for name in names:
        (pids / name / "inside").mkdir(parents=True)
        (pids / name / "cgroup.procs").write_text("0\n")
        (pids / name / "cgroup.kill").touch()
    memory.mkdir()  # a group that its referee could not make, but this one could
    now_s = [0.0]

    def _sleep(seconds: float) -> None:
        now_s[0] += seconds

    monkeypatch.setattr(control_groups, "time", SimpleNamespace(monotonic=lambda: now_s[0], sleep=_sleep))
    clear_groups(ControlGroups(version=1, folders={"memory": memory, "pids": pids}))
    assert now_s[0] == pytest.approx(CLEAR_S, abs=0.02)
    assert [(pids / name / "cgroup.kill").read_text() for name in names] == ["1"] * len(names)


def test_what_a_killed_referee_left_running_is_killed() -> None:
    """In a real group: first the processes are killed, then the group is removed."""
    groups = find_control_groups()
    if not groups.folders:
        pytest.skip("this machine lets nobody make control groups")
    script = "import json; from referee.programs.control_groups import *\n"
    script += "print(json.dumps(Group(find_control_groups(), ProgramLimits()).joining()), flush=True); input()"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", script], stdin=pipe, stdout=pipe, text=True) as referee:
        assert referee.stdout is not None
        joining = json.loads(referee.stdout.readline())
        argv = [*joining, "/bin/sh", "-c", "echo up; setsid sleep 1000 & wait"]
        with subprocess.Popen(argv, stdout=pipe, text=True) as left:
            assert left.stdout is not None
            assert left.stdout.readline() == "up\n"
            referee.kill()  # only now: the next referee that starts removes what is left
            referee.wait()
            clear_groups(groups)
            assert left.wait(timeout=60) == -9
    clear_groups(groups)
    assert [path for path in joining if path.startswith("/sys/") and Path(path).exists()] == []


def test_a_real_group_is_joined_killed_and_remove() -> None:
    """A process is inside from its first instant, is killed with its children, and its group is removed."""
    groups = find_control_groups()
    if not groups.folders:
        pytest.skip("this machine lets nobody make control groups")
    group = Group(groups, LIMITS)
    script = "sleep 1000 & cat /proc/self/cgroup; exec sleep 1000"
    with subprocess.Popen([*group.joining(), "/bin/sh", "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in Path("/proc/self/cgroup").read_text().splitlines()]
        assert len(groups.folders) == sum(f"/{own_prefix()}" in line for line in lines)
        assert not group.remove()
        ends = {os.pidfd_open(pid) for path in group.paths for pid in list_members(path)}
        group.kill()
        assert process.wait(timeout=30) == -9
    for descriptor in ends:
        assert select.select([descriptor], [], [], 60)[0]
        os.close(descriptor)
    group.end()
    assert group.remove()


@pytest.mark.parametrize(("version", "name"), [(1, "memory.force_empty"), (2, "memory.reclaim")])
@pytest.mark.parametrize("running", ["", "17\n"])
def test_what_it_read_is_forgotten_once_it_is_gone(tmp_path: Path, *, version: int, name: str, running: str) -> None:
    """The kernel is asked to drop it from memory before the group is removed."""
    Group(ControlGroups(version=version, folders={"memory": tmp_path}), LIMITS)
    (made,) = tmp_path.iterdir()
    for file, text in (("cgroup.procs", running), ("memory.current", "4096\n"), (name, "")):
        (made / file).write_text(text)
    assert not remove_groups([str(made)])  # the files here are not the kernel's
    assert (made / name).read_text().strip() == ("" if running else {1: "0", 2: "4096"}[version])
