"""What one program is shown of the file system: its own files and what it runs from, without records and keys.

Knows how players are given, and what the referee keeps to itself. Refuses to know how anything is shown or hidden
(sandbox.py).

A folder in which records lie is covered as a whole, however many there are and will be. In a folder that the program
needs itself, such as the one that the referee was started in, each entry is shown by itself but for records and other
files of the referee: what is written there later is not to be seen.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from ..record.record_files import besides_records, record_folders
from .player_spec import Launch, PlayerError
from .visible_paths import is_shared, is_within, named, own_runtime, runtimes

MAX_COVERED = 20
"""Folders with records in one folder that are covered one by one; of more, that folder is covered or sifted itself."""
MAX_SIFTED = 200
"""Entries of a folder that are shown one by one: that takes 0.1 s, and the time grows with their square."""


class Workspace(Struct, frozen=True, kw_only=True):
    """A working directory of a program's own: empty at first, in memory, and gone with the program."""

    size_bytes: int
    """How much may be written into it."""
    told: int
    """Descriptor on which bubblewrap tells the program's process id."""
    users: int | None = None
    """Descriptor of a user namespace for it, in which it may change its user; None: it has the referee's."""


class FileView(Struct, frozen=True, kw_only=True):
    """What one program is shown."""

    where: Path
    """Its working directory, absolute."""
    shown: tuple[Path, ...]
    """Folders and files to read, absolute, besides the system's; an outer one before those inside of it."""
    hidden: tuple[Path, ...] = ()
    """Of these, what is not to be read, whatever will be in it."""
    sifted: Mapping[Path, tuple[str, ...]] = {}
    """Folder among them, or inside of one, links resolved -> the names of all that is shown of it, now and later."""
    socket: Path | None = None
    """The referee's; None: there is none."""
    workspace: Workspace | None = None
    """What is in the place of the working directory; None: that itself, to read."""


def view_of(
    launch: Launch, argv: Sequence[str], *, hidden: Sequence[Path], others: Sequence[Path], socket: Path | None
) -> FileView:
    """Return what a program is to be shown.

    Args:
        launch: how it is started.
        argv: its command line, the program by its whole path.
        hidden: folders and files that it must never read; those that it is not shown anyway do no harm.
        others: folders of other players, hidden as well unless the program runs in them or its command line names them.
        socket: the referee's.

    Raises:
        PlayerError: it would have to read what must stay hidden.
    """
    where = launch.where
    own = [] if launch.is_house else _own_files(launch, argv)
    for path in hidden:
        if where in own and where.resolve().is_relative_to(path.resolve()):
            detail = f"{launch.name} runs in {where}, and {path} must stay hidden from it"
            raise PlayerError(f"{detail}; keep records and players apart (--logs), or use --sandbox off")
    theirs = [folder for folder in others if not any(path.is_relative_to(folder) for path in own)]
    covered = {path.resolve() for path in (*hidden, *theirs)}
    records = {folder for path in own for folder in record_folders(path.resolve(), covered)}
    places = [path.resolve() for path in own]
    away, sifted = _covered_and_sifted(records, places)
    sifted |= {folder for folder in _to_be_written(covered) if is_within(folder, places) and folder not in away}
    shown = {*own_runtime(), *runtimes(Path(argv[0]), launch.folder and where), *own}
    return FileView(
        where=where,
        shown=tuple(sorted(path for path in shown if not is_within(path.resolve(), covered))),
        hidden=(*hidden, *theirs, *_outermost(away, sifted)),
        sifted={folder: _sifted(folder, covered | away, launch.name) for folder in sorted(sifted)},
        socket=socket,
    )


def _covered_and_sifted(records: Iterable[Path], own: Sequence[Path]) -> tuple[set[Path], set[Path]]:
    """Tell folders in which records lie, at whatever depth, into those that the program can do without and the rest."""
    away: set[Path] = set()
    sifted: set[Path] = set()
    new = set(records)
    while new:
        needed = {folder for folder in new if any(path.is_relative_to(folder) for path in own)}
        sifted |= needed
        away |= new - needed
        crowded = {folder for folder, count in Counter(path.parent for path in away).items() if count > MAX_COVERED}
        new = crowded - sifted - away
    return away, sifted


def _outermost(away: set[Path], sifted: set[Path]) -> list[Path]:
    """Return what is to be covered by itself: what lies in no other such folder, and in none that is sifted."""
    return sorted(folder for folder in away if folder.parent not in sifted and away.isdisjoint(folder.parents))


def _to_be_written(hidden: Iterable[Path]) -> Iterator[Path]:
    """Yield the folders of what must be hidden and is not there yet: it can't be covered by itself."""
    for path in hidden:
        if not path.exists():
            yield next(folder for folder in path.parents if folder.is_dir())


def _sifted(folder: Path, hidden: Iterable[Path], name: str) -> tuple[str, ...]:
    """Return what is shown of a folder in which records or the referee's files lie.

    Raises:
        PlayerError: it is too much; each of it is shown by itself, so that nothing else ever is.
    """
    names = besides_records(folder, {path.name for path in hidden if path.parent == folder})
    if len(names) > MAX_SIFTED:
        detail = f"{name}: {folder} holds records or other files of the referee, and {len(names)} entries besides"
        raise PlayerError(f"{detail}; put the program into a folder of its own")
    return names


def _own_files(launch: Launch, argv: Sequence[str]) -> list[Path]:
    """Return the working directory, unless it is shared with other things, and what the command line names."""
    where = launch.where
    own = [] if is_shared(where) else [where]
    if launch.folder is None:
        return [*own, *named(argv[1:], where)]
    if not own:
        raise PlayerError(f"{launch.name}: {where} is no folder of the player's own; put its files into one")
    return own
