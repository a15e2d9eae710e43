"""Measures the processor time that a sandboxed program takes from others by kernel work outside of its control group.

Forty processes make the same request to the kernel again and again. Meanwhile, a program in its own control group
computes for a tenth of a second at a time, as an honest player would. Each burden is compared with processes that
request nothing. Compared are the honest program's slowdown, and the time that kernel threads and interrupts took.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from msgspec.structs import replace

from referee.programs.control_groups import Group, find_control_groups
from referee.programs.file_view import FileView, own_runtime
from referee.programs.limits import ProgramLimits
from referee.programs.sandbox import Sandbox, find_sandbox

from ..peers import burden

PROCESSES = 40
SHARE = 0.1
"""Share of one core above which additional kernel work counts as a burden."""
TICKS_S = os.sysconf("SC_CLK_TCK")
KTHREADD = b"2"
"""Number of the process that is the parent of all kernel threads."""
COMPUTE = """
import sys, time
end, took = time.monotonic() + float(sys.argv[1]), []
while time.monotonic() < end:
    began, used = time.monotonic(), time.process_time()
    while time.process_time() < used + 0.1:
        pass
    took.append(time.monotonic() - began)
print(sorted(took)[len(took) // 2])
"""
"""Program that computes for a tenth of a second at a time, and prints the median duration."""


def kernel_s() -> float:
    """Return the time that kernel threads and interrupts have worked, in seconds of one core."""
    ticks = sum(map(int, Path("/proc/stat").read_bytes().split(b"\n", 1)[0].split()[6:8]))
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_bytes().rsplit(b")", 1)[1].split()
        except OSError:  # it has ended
            continue
        if fields[1] == KTHREADD:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / TICKS_S


def bear(sandbox: Sandbox, what: str, seconds: float) -> tuple[float, float]:
    """Let one program burden the kernel while another one computes.

    Returns:
        The seconds in which the honest program did its tenth of a second of work, and the kernel's share of a core.
    """
    groups, limits = find_control_groups(), ProgramLimits()
    script = Path(burden.__file__)
    argv = [sys.executable, "-I", "-S", str(script), what, str(PROCESSES), str(seconds)]
    view = FileView(where=Path("/tmp"), shown=(*own_runtime(), script))
    attacker, honest = Group(groups, limits), Group(groups, limits)
    before_s, began_s = kernel_s(), time.monotonic()
    try:
        with (
            sandbox.wrap(argv, view, limits) as command,
            subprocess.Popen(
                [*attacker.joining(), *command.argv], pass_fds=command.pass_fds, stdout=subprocess.DEVNULL
            ),
        ):
            own = [sys.executable, "-I", "-S", "-c", COMPUTE, str(seconds)]
            took_s = float(subprocess.check_output([*honest.joining(), *own]))
        return took_s, (kernel_s() - before_s) / (time.monotonic() - began_s)
    finally:
        attacker.end()
        honest.end()


def main(arguments: list[str]) -> int:
    """Run the benchmark.

    Returns:
        1 if the kernel works for a program outside of its group, else 0.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks burdens", description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each burden")
    parser.add_argument("--without-filter", action="store_true", help="to see what the filter holds off")
    parser.add_argument("burdens", nargs="*", help=f"which of {', '.join(burden.BURDENS)}; all if none is named")
    options = parser.parse_args(arguments)
    sandbox = replace(find_sandbox(), is_filtered=not options.without_filter)
    _, usual_share = bear(sandbox, burden.ask_nothing.__name__, options.seconds)
    heavy = 0
    for what in options.burdens or burden.BURDENS:
        took_s, share = bear(sandbox, what, options.seconds)
        is_heavy = share > usual_share + SHARE
        heavy += is_heavy
        print(f"{what:20} 0.1 s of computing took {took_s:.2f} s; the kernel worked {share:4.0%}", end="")
        print(" of a core: A BURDEN" if is_heavy else " of a core", flush=True)
    return int(heavy > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
