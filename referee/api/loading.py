"""Reads what was played: the record of a match, or the folder of a tournament."""

from pathlib import Path

from ..errors import BadRequest
from ..record.reader import read_record
from ..record.tournament_record import is_tournament
from .match import Match
from .paths import read_path
from .tournament import Tournament


def load(path: str | Path) -> Match | Tournament:
    """Read the record of a match or of a tournament.

    Its chain, its numbers and its seal are checked; `audit` verifies all the rest.

    Args:
        path: of a match's record (`NAME.jsonl`), of a tournament's record, or of a tournament's folder.

    Returns:
        The match, or the tournament.

    Raises:
        RefereeError: there is no record, or it is damaged; the text names the first line that does not hold.
    """
    found = read_path("path", path)
    try:
        is_folder = found.is_dir()
    except OSError as error:
        raise BadRequest(f"can't read {found}: {error.strerror}") from None
    if is_folder:
        return Tournament(found)
    return Tournament(found.parent) if found.exists() and is_tournament(found) else Match(read_record(found))
