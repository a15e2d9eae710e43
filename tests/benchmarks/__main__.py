"""`python -m tests.benchmarks NAME`: runs one benchmark."""

import sys
from importlib import import_module

BENCHMARKS = (
    "audit",
    "burdens",
    "chess",
    "cluster",
    "crowd",
    "damage",
    "fairness",
    "fuzz",
    "host_kills",
    "hostile_visitors",
    "hosts",
    "kills",
    "leaks",
    "learning",
    "looks",
    "many_hosts",
    "mutations",
    "pages",
    "pairing",
    "python_chess",
    "ratings",
    "rules",
    "season",
    "spectators",
    "starts",
    "storm",
    "strength",
    "swiss",
    "swiss40",
    "tables",
    "throughput",
    "tournament",
    "way",
    "wire",
)
"""Each is a module of this folder; only the requested one is imported."""


def main(arguments: list[str]) -> int:
    """Run the named benchmark with the rest of the arguments."""
    if not arguments or arguments[0] not in BENCHMARKS:
        print(f"usage: python -m tests.benchmarks {{{','.join(BENCHMARKS)}}}", file=sys.stderr)
        return 2
    status: int = import_module(f".{arguments[0]}", __package__).main(arguments[1:])
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
