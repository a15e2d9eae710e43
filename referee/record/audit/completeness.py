"""Whether the records of a tournament are all there, by what their headers say of each other.

Knows the charter's file and first lines. Refuses to look further into a record (audit.py), and can't miss the matches
that were opened last, of which no other header tells: for these there is the manifest.
"""

from pathlib import Path

from ...tournament.match_context import Occasion
from ..json_file import BadFounding
from ..match_entries import gaps
from ..reader import RecordError, read_header
from ..spec_file import FILE, read_founding
from ..tournament_folder import has_line


def check_course(folder: Path) -> dict[str, Occasion]:
    """Check that no record is missing between those of a folder's tournament.

    Args:
        folder: which has a charter.

    Returns:
        Match -> what it was opened for.

    Raises:
        RecordError: one is missing, or there twice, or has no header; or the charter is none. Line 0 for the folder.
    """
    path = folder / FILE
    try:
        founding = read_founding(folder)
        files = [one for one in sorted(folder.glob("*.jsonl")) if has_line(one)]
    except BadFounding as error:
        raise RecordError(path, 0, "the charter of a tournament", str(error)) from None
    except OSError as error:
        raise RecordError(path, 0, "a readable folder", error.strerror or str(error)) from None
    if founding is None:
        raise RecordError(path, 0, "the charter of a tournament", "none")
    found: dict[str, Occasion] = {}
    for one in files:
        header = read_header(one)
        if header.occasion is None or header.occasion.tournament != founding.charter.name:
            continue
        if header.setup.match in found:
            raise RecordError(one, 1, "one record of each match", f"another one of {header.setup.match}")
        found[header.setup.match] = header.occasion
    if missing := gaps(found):
        raise RecordError(path, 0, "the records of all matches that were opened", "; ".join(missing))
    return found
