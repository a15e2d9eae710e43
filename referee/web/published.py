"""Which files of a tournament everybody may have: its report, and of its records those that are over."""

import re
from pathlib import Path

from ..pages.verifying import PAGE, verifying_link

_REPORT = re.compile(r"report\.html|(entrants|replays)/[\w.-]+\.html|(standings|crosstable)\.csv")
_RECORD = re.compile(r"([\w.-]+)\.jsonl")
_OVER = re.compile(r"tournament\.(json|trf)|matches\.(csv|pgn|txt)|fouls\.csv")
"""They tell of all matches, also of those whose deal is still to be played from other seats."""
_MOST_OF_PATH = 200
"""Bytes of a path in a tournament's folder; the system refuses to look for a file with a name of 256."""
HEADS = "heads"
"""Address of the heads of a tournament's records, those of running matches, too."""


def heads_of(folder: Path) -> Path:
    """Return the file with the heads of a tournament's records, which lies beside the folder of the records."""
    return folder.with_name(f"{folder.name}.heads")


def find_published(folder: Path, path: str, *, is_over: bool) -> Path | None:
    """Return a file of a tournament that everybody may have; None if there is none, or not for everybody.

    Args:
        folder: of the tournament's records.
        path: seen from there, as an address names it.
        is_over: whether the tournament is.
    """
    if len(path.encode()) > _MOST_OF_PATH:
        return None
    found, may_have = folder / path, path == HEADS
    if path == HEADS:
        found = heads_of(folder)
    elif record := _RECORD.fullmatch(path):
        may_have = is_over if record[1] == folder.name else (folder / "replays" / f"{record[1]}.html").is_file()
    else:
        may_have = _REPORT.fullmatch(path) is not None or (is_over and _OVER.fullmatch(path) is not None)
    return found if may_have and ".." not in path and found.is_file() and not found.is_symlink() else None


def has_replay(folder: Path, match: str) -> bool:
    """Tell whether everybody may see the replay of a match."""
    return find_published(folder, f"replays/{match}.html", is_over=False) is not None


def verifier_of(folder: Path, head: str, *, is_over: bool) -> str:
    """Return the address of what verifies a tournament's record, seen from its folder; empty if nothing does.

    Args:
        folder: of the tournament's records.
        head: of its record.
        is_over: whether the tournament is; its record is for nobody before.
    """
    is_there = is_over and find_published(folder, f"replays/{PAGE}", is_over=True) is not None
    return f"replays/{verifying_link(f'{folder.name}.jsonl', head)}" if is_there else ""
