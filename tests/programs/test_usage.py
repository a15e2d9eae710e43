"""The use of a program's processes is measured from outside."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from referee.programs.usage import ProcessorUse, measure_peak_memory, measure_processor_use

COMPUTE = "while True: pass"
WAIT = "sum(range(5_000_000)); input()"  # long enough to show in the kernel's ticks of 10 ms
COMPUTE_IN_A_THREAD = "import threading; threading.Thread(target=exec, args=('while True: pass',)).start()"
LIMIT_S = 20.0


@contextmanager
def running(code: str) -> Iterator[int]:
    """Run a program of Python, and yield the number of its process."""
    with subprocess.Popen((sys.executable, "-c", code), stdin=subprocess.PIPE) as process:
        try:
            yield process.pid
        finally:
            process.kill()


def await_state(pid: int, *, is_computing: bool, least_ms: float) -> ProcessorUse:
    """Return the use of a process once it is in a state, after the start of Python itself."""
    end_s = time.monotonic() + LIMIT_S
    while (use := measure_processor_use([pid])) is None or use.used_ms < least_ms or use.is_computing != is_computing:
        assert time.monotonic() < end_s, use
    return use


def test_a_program_that_computes_is_told_from_one_that_waits() -> None:
    """The state of its threads counts, not its earlier use."""
    with running(COMPUTE) as busy, running(WAIT) as idle, running(COMPUTE_IN_A_THREAD) as threaded:
        for pid in (busy, threaded):
            assert await_state(pid, is_computing=True, least_ms=300).used_ms >= 300
        waiting = await_state(idle, is_computing=False, least_ms=10)
        assert measure_processor_use([idle]) == waiting
        both = measure_processor_use([busy, idle])
        assert both is not None
        assert both.is_computing
        assert both.used_ms >= 300 + waiting.used_ms


def test_the_peak_of_memory_is_that_of_all_processes() -> None:
    """A process that is gone uses nothing."""
    with running("data = b'x' * 50_000_000; input()") as large, running(WAIT) as small:
        end_s = time.monotonic() + LIMIT_S
        while (peak_bytes := measure_peak_memory([large])) <= 50_000_000:
            assert time.monotonic() < end_s, peak_bytes
        assert measure_peak_memory([large, small]) > 50_000_000
    assert measure_peak_memory([large]) == 0


def test_what_is_gone_is_not_known() -> None:
    """No number is invented for a program that has ended."""
    with running("pass") as pid:
        pass
    assert measure_processor_use([pid]) is None
