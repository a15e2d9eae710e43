"""Tries every channel by which sandboxed programs could talk in a match, or remember from one match to the next.

Each channel is tried round after round. A wall of the sandbox can be taken away, to check that an open channel is
found.
"""

import argparse
import sys
import time
from collections import Counter

from msgspec.structs import replace

from referee.programs.confining import Confinement
from referee.programs.control_groups import find_control_groups
from referee.programs.sandbox import find_sandbox

from .channels import UNHIDDEN, TriedChannel, tried

KNOWN = "open, as is known"
WITHOUT = ("filter", "groups", "sandbox")


def confinement(without: list[str]) -> Confinement:
    """Return the confinement of programs on this machine, without the named walls."""
    groups = None if "groups" in without else find_control_groups()
    if "sandbox" in without:
        return Confinement(groups=groups)
    return Confinement(sandbox=replace(find_sandbox(), is_filtered="filter" not in without), groups=groups)


def verdict(channel: TriedChannel) -> str:
    """Return the result of a channel in one round, in words."""
    if not channel.leaks:
        return f"closed: {channel.detail}" if channel.detail else "closed: nothing came"
    return KNOWN if channel.is_known else "LEAKS"


def main(arguments: list[str]) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="leaks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--without", action="append", choices=WITHOUT, default=[], help="what to take away")
    options = parser.parse_args(arguments)
    held, began, found = confinement(options.without), time.monotonic(), Counter[tuple[str, str, str]]()
    for _ in range(options.rounds):
        found.update((each.together, each.name, verdict(each)) for each in tried(held))
    for (together, name, said), count in found.items():
        print(f"{together:20} {name:32} {said:40} {count:3}")
    leaks = {(together, name) for together, name, said in found if said == "LEAKS"}
    known = {name for _, name, said in found if said == KNOWN}
    print(f"{len(leaks)} channels leak, {len(known)} more can't be closed: {', '.join(sorted(known))}")
    print(f"{options.rounds} rounds in {time.monotonic() - began:.0f} s")
    print(f"No sandbox hides {UNHIDDEN}.")
    return 1 if leaks else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
