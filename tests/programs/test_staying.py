"""Programs that stay: paused between matches, and watched for their use. Real processes, in control groups."""

import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.programs.confining import Confinement
from referee.programs.control_groups import ControlGroups, find_control_groups
from referee.programs.limits import GRACE_S, ProgramLimits

from .test_program import Running


def is_stopped(pid: int) -> bool:
    """Return whether a process is stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


@pytest.mark.parametrize("groups", [find_control_groups(), None], ids=["groups", "no groups"])
def test_a_stopped_program_does_nothing_until_it_may(tmp_path: Path, groups: ControlGroups | None) -> None:
    """Its children do nothing, either; in a control group, those that have left its session are paused, too."""
    script = (
        "import os, subprocess, sys\n"
        "others = [subprocess.Popen(['sleep', '1000'], start_new_session=leaves) for leaves in (False, True)]\n"
        "print(os.getpid(), *(other.pid for other in others), 'here', flush=True)\n"
        "others[0].wait()\n"
    )
    running = Running(tmp_path, script, confinement=Confinement(groups=groups))
    running.said("here")
    own, child, leaver = map(int, running.program.output.tail.content.split()[:3])
    held = [own, child, leaver] if groups is not None and groups.folders else [own, child]
    running.program.stop()
    running.until(lambda: all(map(is_stopped, held)))
    running.program.resume()
    running.until(lambda: not any(map(is_stopped, held)))
    running.program.stop()
    running.program.resume()
    running.program.end(0.0)
    running.clock.advance(0)
    running.clock.advance(GRACE_S)
    assert "signal" in running.ended()


@pytest.mark.parametrize("groups", [find_control_groups(), None], ids=["groups", "no groups"])
def test_who_may_go_on_is_told_once(
    tmp_path: Path, groups: ControlGroups | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that is running again is not interrupted by a second signal."""
    sent: Counter[tuple[int, int]] = Counter()

    def counted(send: Callable[[int, int], None]) -> Callable[[int, int], None]:
        def _send(pid: int, number: int) -> None:
            sent[pid, number] += 1
            send(pid, number)

        return _send

    running = Running(
        tmp_path, "import time; print('here', flush=True); time.sleep(1000)", confinement=Confinement(groups=groups)
    )
    running.said("here")
    monkeypatch.setattr(os, "kill", counted(os.kill))
    monkeypatch.setattr(os, "killpg", counted(os.killpg))
    running.program.stop()
    running.program.resume()
    monkeypatch.undo()
    assert [(number, count) for (_, number), count in sent.items()] == [(signal.SIGSTOP, 1), (signal.SIGCONT, 1)]
    running.program.end(0.0)
    running.clock.advance(0)
    running.clock.advance(GRACE_S)
    assert "signal" in running.ended()


def test_who_fills_its_limits_is_known(tmp_path: Path) -> None:
    """In control groups, the larger share of memory or processes counts."""
    groups = find_control_groups()
    script = "import time; data = b'x' * (60 << 20); print('here', flush=True); time.sleep(1000)"
    limits = ProgramLimits(memory_mib=100)
    running = Running(tmp_path, script, confinement=Confinement(groups=groups, limits=limits))
    running.said("here")
    assert (running.program.uses_at_least(0.5), running.program.uses_at_least(0.99)) == (
        "memory" in groups.folders,
        False,
    )
    running.program.end(0.0)
    running.clock.advance(0)
    running.clock.advance(GRACE_S)
    assert "signal" in running.ended()
