"""Whether the records of a tournament are all there, by what their headers say of each other.

Knows the spec's file and first lines. Refuses to look further into a record (audit.py), and can't miss the matches
that were opened last, of which no other header tells: for these there is the manifest.
"""

from pathlib import Path

from ...tournament.match_context import MatchContext
from ..json_file import BadJsonFile
from ..match_entries import gaps
from ..reader import RecordError, read_header
from ..spec_file import FILE, read_spec_file
from ..tournament_folder import has_line


def check_course(folder: Path) -> dict[str, MatchContext]:
    """Check that no record is missing between those of a folder's tournament.

    Args:
        folder: which has a spec.

    Returns:
        Match -> what it was opened for.

    Raises:
        RecordError: one is missing, or there twice, or has no header; or the spec is none. Line 0 for the folder.
    """
    path = folder / FILE
    try:
        spec_file = read_spec_file(folder)
        files = [file for file in sorted(folder.glob("*.jsonl")) if has_line(file)]
    except BadJsonFile as error:
        raise RecordError(path, 0, "the spec of a tournament", str(error)) from None
    except OSError as error:
        raise RecordError(path, 0, "a readable folder", error.strerror or str(error)) from None
    if spec_file is None:
        raise RecordError(path, 0, "the spec of a tournament", "none")
    found: dict[str, MatchContext] = {}
    for file in files:
        header = read_header(file)
        if header.context is None or header.context.tournament != spec_file.spec.name:
            continue
        if header.setup.match in found:
            raise RecordError(file, 1, "one record of each match", f"another one of {header.setup.match}")
        found[header.setup.match] = header.context
    if missing := gaps(found):
        raise RecordError(path, 0, "the records of all matches that were opened", "; ".join(missing))
    return found
