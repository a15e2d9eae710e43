"""Write the golden records of the present format: `python -m tests.record.make_golden`, once when a format is new.

Knows which stories they tell. Refuses to write over those that there are.
"""

import sys

from referee.record.schema import FORMAT

from .records import SEALER, STORIES, record_of
from .test_golden import GOLDEN

LEFT_OUT = ("unfinished", "not begun", "acknowledged")
"""Stories without an end, and those that differ from another one in their confirmations alone."""
KEPT = ("acknowledged", "late start, acknowledged", "late draw, acknowledged", "dealt, acknowledged")


def main() -> int:
    """Write them.

    Returns:
        0, or 1 if there are records of this format already.
    """
    folder = GOLDEN / f"format{FORMAT}"
    if folder.exists():
        print(f"{folder} exists; golden records are never written anew", file=sys.stderr)
        return 1
    folder.mkdir(parents=True)
    for name in STORIES:
        if name in KEPT or not any(word in name for word in LEFT_OUT):
            (folder / (name.replace(", ", "--").replace(" ", "-") + ".jsonl")).write_bytes(record_of(name))
    (folder / "referee.pub").write_text(SEALER.public + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
