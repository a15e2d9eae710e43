"""`python -m tests.benchmarks NAME`: runs one benchmark."""

import sys

from . import (
    audit,
    crowd,
    damage,
    fairness,
    fuzz,
    kills,
    pairing,
    ratings,
    rules,
    storm,
    strength,
    swiss,
    tournament,
    wire,
)

BENCHMARKS = {
    "audit": audit.main,
    "fairness": fairness.main,
    "fuzz": fuzz.main,
    "pairing": pairing.main,
    "ratings": ratings.main,
    "rules": rules.main,
    "storm": storm.main,
    "strength": strength.main,
    "swiss": swiss.main,
    "tournament": tournament.main,
    "wire": wire.main,
    "kills": kills.main,
    "crowd": crowd.main,
    "damage": damage.main,
}


def main(arguments: list[str]) -> int:
    """Run the benchmark named first; the rest of the arguments are its own."""
    if not arguments or arguments[0] not in BENCHMARKS:
        print(f"usage: python -m tests.benchmarks {{{','.join(BENCHMARKS)}}}", file=sys.stderr)
        return 2
    return BENCHMARKS[arguments[0]](arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
