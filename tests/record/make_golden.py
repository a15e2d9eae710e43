"""Write the golden records: `python -m tests.record.make_golden`, once when the format of records is new.

It never overwrites existing ones.
"""

import sys
from pathlib import Path

from .records import SEALER, STORIES, record_of

GOLDEN = Path(__file__).parents[1] / "golden"
LEFT_OUT = ("unfinished", "not begun", "acknowledged")
"""Stories without an end, and those that differ from another one only in their confirmations."""
KEPT = ("acknowledged", "late start, acknowledged", "late draw, acknowledged", "dealt, acknowledged")


def main() -> int:
    """Write them.

    Returns:
        0, or 1 if there are some already.
    """
    if GOLDEN.exists():
        print(f"{GOLDEN} exists; golden records are written anew only when their format is", file=sys.stderr)
        return 1
    GOLDEN.mkdir()
    for name in STORIES:
        if name in KEPT or not any(word in name for word in LEFT_OUT):
            (GOLDEN / (name.replace(", ", "--").replace(" ", "-") + ".jsonl")).write_bytes(record_of(name))
    (GOLDEN / "referee.pub").write_text(SEALER.public + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
