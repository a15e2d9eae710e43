"""A process with the referee's own code: how it ends, and that nothing of its group outlives it."""

import select
import signal
import subprocess
from collections.abc import Callable

import pytest

from referee.programs.processes import OwnProcess

FOR_EVER = "tail -f /dev/null & echo begun; wait"
LEFT = "tail -f /dev/null & echo begun; exit 3"
CASES: dict[str, tuple[str, Callable[[OwnProcess], object], int]] = {
    "it ends by itself": ("echo begun; exit 3", OwnProcess.wait, 3),
    "it leaves something behind": (LEFT, OwnProcess.wait, 3),
    "it tidies up when it is asked": (f'trap "exit 7" TERM; {FOR_EVER}', lambda process: process.end(60.0), 7),
    "it does not listen": (f'trap "" TERM; {FOR_EVER}', lambda process: process.end(0.0), -signal.SIGKILL),
}


@pytest.mark.parametrize(("script", "end", "status"), CASES.values(), ids=CASES)
def test_it_ends_with_all_that_is_in_its_group(
    script: str, end: Callable[[OwnProcess], object], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any remaining process of the group would hold the pipe open. The process never gets a user's token."""
    monkeypatch.setenv("REFEREE_TOKEN", "a user's")
    command = ("/bin/sh", "-c", f'echo "$REFEREE_TOKEN$OWN"; {script}')
    process = OwnProcess(command, output=subprocess.PIPE, errors=subprocess.STDOUT, env={"OWN": "own"})
    assert process.output is not None
    with process.output as told:
        assert [told.readline(), told.readline()] == [b"own\n", b"begun\n"]
        end(process)
        assert (process.has_ended, process.wait()) == (True, status)
        assert select.select([told], [], [], 30)[0]
        assert told.read() == b""
