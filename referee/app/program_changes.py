"""Tells whose program is not what it was when a tournament was begun.

House players come with the referee, and what is behind a command or a remote entrant nobody can look into.
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from ..launch import PlayerError, content_hash
from ..record.programs import Programs, read_programs, write_programs
from ..tournament.spec import REMOTE, Participant
from .players import folder_of


def digests_of(entrants: Iterable[Participant]) -> dict[str, str]:
    """Return the SHA-256, in hex, of every entrant's folder, by name; who has none that can be read is left out."""
    found = {}
    for entrant in entrants:
        folder = None if entrant.player == REMOTE else folder_of(entrant.player)
        if folder is not None and folder.is_dir():
            with suppress(PlayerError):  # its build or its start fails for that, and says so
                found[entrant.name] = content_hash(folder)
    return found


def at_start(folder: Path, entrants: Iterable[Participant], at: str) -> list[str]:
    """Write down which programs play, and tell who has another one than the tournament was begun with.

    Args:
        folder: of the tournament.
        entrants: all of them.
        at: the time of day.

    Returns:
        A warning for each that has changed, in one line.

    Raises:
        BadJsonFile: the file of the programs is not what it should be.
        OSError: it can't be read or written.
    """
    kept = read_programs(folder) or Programs()
    now = _kept(folder, kept, kept.updated(digests_of(entrants), at))
    return [
        f"{name} has changed since the tournament was begun: "
        f"its matches from {since if kept.changed.get(name) == since else 'here'} on are another program's"
        for name, since in now.changed.items()
    ]


def at_end(folder: Path, entrants: Iterable[Participant], at: str, *, is_over: bool) -> list[str]:
    """Write down who has changed meanwhile, and when it was over.

    Args:
        folder: of the tournament.
        entrants: all of them.
        at: the time of day.
        is_over: whether nothing more is to be played; it was stopped else.

    Returns:
        A warning for each that changed while matches were played, in one line.

    Raises:
        BadJsonFile: the file of the programs is not what it should be.
        OSError: it can't be read or written.
    """
    kept = read_programs(folder) or Programs()
    now = kept.updated(digests_of(entrants), at)
    _kept(folder, kept, replace(now, over_at=at) if is_over else now)
    names = [name for name in now.changed if now.changed[name] != kept.changed.get(name)]
    return [f"{name} changed while matches were played: the last of them may be another program's" for name in names]


def _kept(folder: Path, old: Programs, new: Programs) -> Programs:
    if new != old:
        write_programs(folder, new)
    return new
