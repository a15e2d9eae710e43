"""House players are forked from one process, with the limits of any program."""

import errno
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from resource import RLIM_INFINITY
from typing import NoReturn

import pytest

from referee.plugins import installed
from referee.programs import fork_server
from referee.programs.confining import Confinement
from referee.programs.control_groups import find_control_groups
from referee.programs.environment import Invitation
from referee.programs.file_view import FileAccess
from referee.programs.fork_server import ForkServer
from referee.programs.house_process import ForkRequest
from referee.programs.limits import ProgramLimits
from referee.programs.player_spec import house_launch
from referee.programs.processes import find_marked
from referee.programs.program import POLL_S, Program

from ..needs import require_sandbox
from ..net.wires import fired
from .loop import Loop

FILES = 77


@pytest.fixture(params=["sandbox", "sandbox without groups", "neither"])
def confinement(request: pytest.FixtureRequest) -> Confinement:
    """Return the confinement of the fork server and of its children."""
    return Confinement(
        sandbox=require_sandbox() if request.param != "neither" else None,
        groups=find_control_groups() if request.param == "sandbox" else None,
        limits=ProgramLimits(open_files=FILES),
        fork_server=ForkServer(),
    )


class House:
    """House players, and their address of the referee."""

    def __init__(self, folder: Path, confinement: Confinement) -> None:
        installed()  # a sandbox shows the modules that the referee has imported
        self.loop = Loop()
        self._folder = folder
        self._confinement = confinement
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(folder / "door"))
        self._door.listen()
        self._door.settimeout(60)

    def start(self, name: str = "greedy") -> Program:
        """Start a house player."""
        is_boxed = self._confinement.sandbox is not None
        access = FileAccess(socket=self._folder / "door" if is_boxed else None)
        invitation = Invitation(address=f"unix:{self._folder / 'door'}", token="token", seed="00")
        output = self._folder / f"{name}.stderr"
        return Program(house_launch(name), invitation, output, self.loop, self._confinement, access)

    def seated(self, name: str = "greedy") -> tuple[Program, int, socket.socket]:
        """Start a house player, and wait for its hello; return its process's number and its connection."""
        program = self.start(name)
        connection, _ = self._door.accept()
        connection.settimeout(60)
        assert b"hello" in connection.recv(1000)
        (pid,) = find_marked(program.mark)
        return program, pid, connection

    def ended(self, program: Program) -> str:
        """Wait until nothing is left of a house player; return its status."""
        gone = fired(program.gone)
        while not gone:
            self.loop.look()
            self.loop.advance(POLL_S)
        assert find_marked(program.mark) == []
        assert program.status is not None
        return program.status

    def close(self) -> None:
        """Stop listening."""
        self._door.close()


@pytest.fixture
def house(tmp_path: Path, confinement: Confinement) -> Iterator[House]:
    """Yield house players that are confined."""
    house = House(tmp_path, confinement)
    yield house
    house.close()
    assert confinement.fork_server is not None
    confinement.fork_server.close()


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_each_is_a_program_of_its_own_within_its_bounds(house: House, confinement: Confinement) -> None:
    """It has its own session, mark, limits and groups, and ends independently."""
    (first, pid, line), (second, other_pid, other_line) = house.seated(), house.seated("random")
    assert _parent(pid) == _parent(other_pid)
    assert os.getsid(pid) == pid != os.getsid(other_pid)
    assert f"Max open files            {FILES}  " in Path(f"/proc/{pid}/limits").read_text()
    status = Path(f"/proc/{pid}/status").read_text()
    assert ("Seccomp:\t2" in status) == (confinement.sandbox is not None)
    groups, theirs, warm = (Path(f"/proc/{each}/cgroup").read_text() for each in (pid, other_pid, _parent(pid)))
    assert len({groups, theirs, warm}) == (3 if confinement.controllers else 1)
    line.close()
    assert house.ended(first) == "exit status 0"
    assert find_marked(second.mark) == [other_pid]
    second.end(0)
    assert house.ended(second) == "signal SIGTERM"
    other_line.close()


def test_what_it_says_last_is_its_own(house: House, tmp_path: Path) -> None:
    """The process that was forked for an unknown name reports it, as a program of its own would."""
    program, said = house.start("nobody"), "house player: there is no house player 'nobody'"
    assert house.ended(program).startswith(f"exit status 2: {said}")
    assert (tmp_path / "nobody.stderr").read_text().startswith(said)


def test_all_end_with_the_process_they_were_forked_from_and_the_next_one_has_another(house: House) -> None:
    """No process is left, nobody waits for a missing one, and the next one has a new parent."""
    program, pid, line = house.seated()
    warm = _parent(pid)
    os.kill(warm, signal.SIGKILL)
    assert house.ended(program) == "signal SIGKILL"
    second, pid, other_line = house.seated()
    assert _parent(pid) != warm
    other_line.close()
    assert house.ended(second) == "exit status 0"
    line.close()


def test_nothing_is_left_when_it_is_needed_no_more(house: House, confinement: Confinement) -> None:
    """Children end with the fork server, the fork server with its owner, and its groups are removed."""
    program, pid, line = house.seated()
    warm = Path("/proc", str(_parent(pid)))
    names = {Path(group).name for group in (warm / "cgroup").read_text().split() if "referee-" in group}
    assert confinement.fork_server is not None
    confinement.fork_server.close()
    assert house.ended(program) == "signal SIGKILL"
    assert not warm.exists()
    folders = () if confinement.groups is None else confinement.groups.folders.values()
    assert len(names) == bool(folders)
    assert not any((folder / name).exists() for folder in folders for name in names)
    line.close()


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [(RLIM_INFINITY, (4096, 8192)), (100_000, (4096, 8192)), (5000, (4096, 5000)), (100, (100, 100))],
)
def test_what_all_are_forked_from_is_bounded(
    monkeypatch: pytest.MonkeyPatch, allowed: int, expected: tuple[int, int]
) -> None:
    """It has these limits even if the referee has more, and never more than the referee has."""
    monkeypatch.setattr(fork_server, "getrlimit", lambda _: (1, allowed))
    limits = fork_server.limits_for_all(ProgramLimits(open_files=FILES))
    assert (limits.open_files, limits.processes) == expected


def test_a_fork_server_that_can_not_be_started_is_tried_again(tmp_path: Path) -> None:
    """The next house player tries again: the machine may have been in trouble for a moment."""
    server, tried = ForkServer(), list[int]()

    def _begin(descriptor: int) -> NoReturn:
        tried.append(descriptor)
        raise OSError(errno.EAGAIN, "no process left")

    request = ForkRequest(player="greedy", environment={}, open_files=FILES)
    with (tmp_path / "output").open("wb") as output:
        for _ in range(2):
            with pytest.raises(OSError, match="no process left"):
                server.fork(_begin, Loop(), request, output.fileno(), None, None)
    assert len(tried) == 2
    server.close()
