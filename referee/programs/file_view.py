"""What one program is shown of the file system: its own files and what it runs from, without records and keys.

What it runs from is the system, and the runtimes that its command line names. How that is shown and hidden is for
sandbox.py to say. What records look like is for the caller: a function tells the names of what is private in a folder.
A folder with private files is covered as a whole, however many there are and will be. In a folder that the program
needs itself, such as the one that the referee was started in, each entry is shown by itself but for what is private and
for other files of the referee: what is written there later is not to be seen.
"""

import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

import protocol

from ..files.copies import LeftOut
from ..files.small import read_small
from .player_spec import Launch, PlayerError

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""What the distribution installs: the same for everybody, and no secret."""
SETTINGS = (
    "alternatives",
    "java*",  # Debian keeps files there without which Java does not start
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mono/config",  # where Mono's own libraries are
    "nsswitch.conf",
    "ssl/openssl.cnf",
)
"""Of /etc, what programs need to start; the rest says who uses this machine and how."""
_FOR_ALL = (Path("/home"), Path("/opt"), Path("/srv"), Path("/tmp"), Path("/var"), Path("/var/tmp"))  # noqa: S108  # compared
_KERNEL = ("/dev", "/etc", "/proc", "/run", "/sys")
"""What a program is not shown, though its command line may name or lead through something in it."""
_ROOT = Path("/")
_PROGRAMS = ("bin", "sbin", "shims")
_RUNTIME = ("pyvenv.cfg", "lib", "libexec")
"""What stands beside the programs of a runtime that is installed in a folder of its own."""
_MAX_HOPS = 16
"""From link to link and from script to interpreter; the kernel allows 40 links and 4 interpreters."""


def is_within(path: Path, folders: Iterable[Path]) -> bool:
    """Tell whether a path is one of some folders or inside of one; all are absolute."""
    place = f"{path}/"  # as text: in parts, that takes ten times as long, and each start of a program asks often
    return any(place.startswith(f"{folder}/" if folder != _ROOT else "/") for folder in folders)


def is_shared(folder: Path) -> bool:
    """Tell whether a folder holds more than one thing's files: a home, what holds a home, /tmp, the root."""
    return folder.resolve() in _shared(Path.home(), tempfile.gettempdir()) or folder.name == ".local"


@cache
def _shared(home: Path, temporary: str) -> set[Path]:
    real = home.resolve()
    return {real, *real.parents, Path(temporary).resolve(), *_FOR_ALL}


@cache
def runtimes(program: Path, own: Path | None = None) -> tuple[Path, ...]:
    """Return what must be readable, besides the system, for a program to run: itself, its interpreter, its runtime.

    Runtimes stay where they are while matches are played, and every program of a match may have the same one.

    Args:
        program: absolute path.
        own: the player's folder, which is shown as a whole, if its author has named the program; None: the organiser
            has.

    Raises:
        PlayerError: what the author has named, or what a file in the folder names, is a program of somebody else.
    """
    found: dict[Path, None] = {}
    for path in _hops(program, own):
        if is_within(path, map(Path, _KERNEL)) and not path.is_symlink() and not _is_in(path, own):
            raise PlayerError(f"{path} is to be run, and a sandbox does not show it; install it in /usr or /opt")
        if not is_within(path, map(Path, (*SYSTEM, *_KERNEL))) and not _is_in(path, own):
            found[_prefix(path) or path] = None
        if path.name == "rustup":  # `cargo` starts `rustc`, its neighbour
            found |= dict.fromkeys((path.parent, rustup_home()))
    return tuple(found)


def rustup_home() -> Path:
    """Return where rustup keeps the compilers that `cargo` and `rustc` stand for; it is no folder of theirs."""
    return Path(os.environ.get("RUSTUP_HOME") or Path.home() / ".rustup").absolute()


def _hops(program: Path, own: Path | None) -> Iterator[Path]:
    """Yield a program, what it is a link to, and what runs it if it is a script, over again.

    A program of this machine is believed in what it names; a player's file is only if it names one of these.
    """
    waiting = [(program, own is None)]
    for _ in range(_MAX_HOPS):
        if not waiting:
            return
        path, is_believed = waiting.pop()
        if not _can_run(path):
            continue
        is_believed = is_believed or _is_of_this_machine(path)
        if not is_believed and not _is_in(path, own):
            detail = f"{path} is to be run, and is neither in the player's folder nor a program of this machine"
            raise PlayerError(f"{detail}; put it into the folder, or into a folder of the referee's PATH")
        yield path
        if path.is_symlink():
            named_next = [Path(os.path.normpath(path.parent / path.readlink()))]
        else:
            named_next = _interpreter(path)
        base = _base_of_environment(path)
        waiting += [(named, is_believed) for named in (*named_next, *filter(None, (base,)))]


def _is_in(path: Path, own: Path | None) -> bool:
    """Tell whether a program is in a player's folder: its place, whatever it is a link to."""
    return own is not None and (path.parent.resolve() / path.name).is_relative_to(own.resolve())


def _is_of_this_machine(path: Path) -> bool:
    """Tell whether a program is one that the system or the organiser has put there for all."""
    place = path.parent.resolve()
    on_path = {folder.resolve() for folder in map(Path, os.get_exec_path()) if folder.is_absolute()}
    for_all = (*map(Path, SYSTEM), *own_runtime())
    return place in on_path or is_within(place, (top.resolve() for top in for_all))


def _can_run(path: Path) -> bool:
    """Tell whether a path is a program's: a player's files may name any file, and what runs nothing stays unseen."""
    return "\0" not in str(path) and path.is_file() and os.access(path, os.X_OK)


def _interpreter(script: Path) -> list[Path]:
    """Return what runs a script that names its interpreter in its first line."""
    try:
        with script.open("rb") as file:
            first = file.readline(256)
    except OSError:
        return []
    words = first[2:].decode(errors="replace").split() if first.startswith(b"#!") else []
    if len(words) > 1 and Path(words[0]).name == "env":
        words = [found for word in words[1:] if (found := shutil.which(word))]
    return [Path(words[0]).absolute()] if words else []


def _prefix(program: Path) -> Path | None:
    """Return the folder of the runtime that a program belongs to, or None if it stands alone."""
    prefix = program.parent.parent
    if program.parent.name not in _PROGRAMS or is_shared(prefix):
        return None
    return prefix if any((prefix / name).exists() for name in _RUNTIME) else None


def _base_of_environment(program: Path) -> Path | None:
    """Return the interpreter that a virtual environment was made from."""
    try:
        lines = read_small(program.parent.parent / "pyvenv.cfg").decode(errors="replace").splitlines()
    except OSError:
        return None
    homes = [value.strip() for key, _, value in (line.partition("=") for line in lines) if key.strip() == "home"]
    return Path(homes[0], program.name) if homes else None


def named(words: Iterable[str], where: Path) -> list[Path]:
    """Return the folders that words of a command line name, or name a file in; of a shared folder the file alone.

    Args:
        words: the command line without its program.
        where: the working directory, absolute.
    """
    found = []
    for word in words:
        path = os.path.normpath(where / word)
        if word.startswith("-") or not (os.path.isdir(path) or os.path.isfile(path)):  # noqa: PTH112, PTH113  # any text
            continue
        file = Path(path)
        folder = file if file.is_dir() else file.parent
        best = file if is_shared(folder) else folder
        if not is_within(best, map(Path, (*SYSTEM, *_KERNEL))) and not is_shared(best):
            found.append(best)
    return found


def real_place(path: Path) -> Path:
    """Return what a path is without links; of what this program runs from, that stays the same."""
    return _kept(path) if path in own_runtime() else path.resolve()


@cache
def _kept(path: Path) -> Path:
    return path.resolve()


def own_runtime() -> tuple[Path, ...]:
    """Return what this very program runs from: its interpreter, and the packages that it and its plugins come from."""
    return _runtime_with(len(sys.modules))


@lru_cache(maxsize=1)
def _runtime_with(_modules: int) -> tuple[Path, ...]:
    """Return what this program runs from, given how many modules it has imported; it does not forget any."""
    interpreter = runtimes(Path(sys.executable).absolute())
    shown = tuple(f"{path}{os.sep}" for path in (*SYSTEM, *interpreter))
    top_level = [module for name, module in sys.modules.items() if "." not in name and not name.startswith("_")]
    places = {place for module in (protocol, *top_level) for place in getattr(module, "__path__", ())}
    return (*interpreter, *(Path(place) for place in places if not place.startswith(shown) and Path(place).is_dir()))


MAX_DEPTH = 2
"""Folders below a program's own in which private files are looked for: those of --logs and of a tournament."""
MAX_COVERED = 20
"""Folders with private files in one folder that are covered one by one; of more, that folder itself is."""
MAX_SIFTED = 200
"""Entries of a folder that are shown one by one: that takes 0.1 s, and the time grows with their square."""
_ANY_COPY = Path("/copy")
"""Stands for a copy where it is all one which."""

PrivateNames = Callable[[Path], Collection[str]]
"""Returns the names of what no program may read in a folder, wherever that is: of records, for instance."""


def nothing_private(_folder: Path) -> Collection[str]:
    """Return no names: nothing in any folder is private but what is hidden by its path."""
    return ()


class FileAccess(Struct, frozen=True, kw_only=True):
    """What one program may not read, and where it finds the referee."""

    hidden: tuple[Path, ...] = ()
    """Folders and files that it must never read; those that it is not shown anyway do no harm."""
    private_names: PrivateNames = nothing_private
    others: tuple[Path, ...] = ()
    """Folders of other players, hidden as well unless the program runs in them or its command line names them."""
    socket: Path | None = None
    """The referee's, for a program in a sandbox; what else is in its folder is hidden as well."""
    own_copy: Path | None = None
    """What it is shown in the place of its folder; None: that itself."""


class Workspace(Struct, frozen=True, kw_only=True):
    """A working directory of a program's own: empty at first, in memory, and gone with the program."""

    size_bytes: int
    """How much may be written into it."""
    users: int | None = None
    """Descriptor of a user namespace for it, in which it may change its user; None: it has the referee's."""


class FileView(Struct, frozen=True, kw_only=True):
    """What one program is shown."""

    where: Path
    """Its working directory, absolute."""
    shown: tuple[Path, ...]
    """Folders and files to read, absolute, besides the system's; an outer one before those inside of it."""
    hidden: tuple[Path, ...] = ()
    """Of these, what is not to be read, whatever will be in it; links resolved."""
    sifted: tuple[tuple[Path, tuple[str, ...]], ...] = ()
    """Folders among them, or inside of one, links resolved, with the names of all that is shown of each from now on."""
    socket: Path | None = None
    """The referee's; None: there is none."""
    workspace: Workspace | None = None
    """What is in the place of the working directory, to be written to; None: that itself, or a copy, to read."""
    own_copy: Path | None = None
    """What is in the place of the working directory, to read; None: that itself, or a workspace."""
    told: int | None = None
    """Descriptor on which bubblewrap tells the process id of the sandbox's first process; None: nobody asks."""
    found: tuple[object, ...] = ()
    """What was in the places that it was made for; nothing that is made from it holds longer than that does."""


def view_of(launch: Launch, argv: Sequence[str], access: FileAccess) -> FileView:
    """Return what a program is to be shown.

    Args:
        launch: how it is started.
        argv: its command line, the program by its whole path.
        access: what it may not read.

    Raises:
        PlayerError: it would have to read what must stay hidden.
    """
    beside = () if access.socket is None else (access.socket.parent,)  # other programs' sockets
    whole = replace(access, hidden=(*access.hidden, *beside))
    if access.own_copy is None:
        return _view_of(launch, argv, whole)
    found = (own_runtime(), *(_found(path) for path in (*access.hidden, *access.others)))
    view, real = _view_of_copy(launch, tuple(argv), replace(access, socket=None, own_copy=_ANY_COPY), found)
    if any(is_within(_top(path.parent) / path.name, real) for path in beside):
        return _view_of(launch, argv, whole)
    return replace(view, socket=access.socket, own_copy=access.own_copy)


@cache
def _top(folder: Path) -> Path:
    """Return where the folder is, without links, in which those of sockets are made: it stays the same."""
    return folder.resolve()


@lru_cache(maxsize=256)
def _view_of_copy(
    launch: Launch, argv: Sequence[str], access: FileAccess, found: tuple[object, ...]
) -> tuple[FileView, Sequence[Path]]:
    """Return what a program with a copy is shown, and where that is without links.

    From match to match, it is the same if the same is found on the disk.
    """
    view = replace(_view_of(launch, argv, access), found=found)
    return view, (*map(real_place, view.shown), *map(Path, SYSTEM))


def _found(path: Path) -> tuple[int, int, int] | None:
    """Return what tells what is in a place from anything else that might be there; None if nothing is."""
    try:
        status = os.stat(path)  # noqa: PTH116  # the quicker one
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_mode


def _view_of(launch: Launch, argv: Sequence[str], access: FileAccess) -> FileView:
    where = launch.where
    own = [] if launch.is_house else _own_files(launch, argv)
    secret = {path.resolve(): path for path in access.hidden}
    inmost = where.resolve() if where in own else None
    for real, path in secret.items():
        if inmost is not None and is_within(inmost, (real,)):
            detail = f"{launch.name} runs in {launch.place}, and {path} must stay hidden from it"
            raise PlayerError(f"{detail}; keep records and players apart (--logs), or use --sandbox off")
    theirs = [folder.resolve() for folder in access.others if not any(is_within(path, (folder,)) for path in own)]
    covered = {*secret, *theirs}
    places = [path.resolve() for path in own] if access.own_copy is None else []  # a copy has nothing private
    private = {folder for path in places for folder in private_folders(path, covered, access.private_names)}
    away, sifted = _covered_and_sifted(private, places)
    sifted |= {folder for folder in _to_be_written(covered) if is_within(folder, places) and folder not in away}
    shown = {*own_runtime(), *runtimes(Path(argv[0]), launch.folder and where), *own}
    return FileView(
        where=where,
        shown=tuple(sorted(path for path in shown if not is_within(real_place(path), covered))),
        hidden=(*secret, *theirs, *_outermost(away, sifted)),
        sifted=tuple((folder, _sifted(folder, covered | away, launch.name, access)) for folder in sorted(sifted)),
        socket=access.socket,
        own_copy=access.own_copy,
    )


def private_to(folder: Path, hidden: Iterable[Path], private_names: PrivateNames) -> LeftOut:
    """Return what tells which parts of a player's folder are none of its player's: what is hidden or private in it.

    Args:
        folder: the player's.
        hidden: what it may not read, wherever that is.
        private_names: tells what is private.
    """
    where = folder.resolve()
    covered = {path.resolve() for path in hidden}
    private = {path for path in covered if path.is_relative_to(where)}
    for within in private_folders(where, covered, private_names):
        private |= {within / name for name in private_names(within)}
    inside = {str(path.relative_to(where)) for path in private}
    return lambda node: node.path in inside


def private_folders(
    folder: Path, left_out: Container[Path], private_names: PrivateNames, depth: int = MAX_DEPTH
) -> Iterator[Path]:
    """Yield the folders with private files: a folder, and those just below it.

    Args:
        folder: where to look.
        left_out: folders not to look into, besides those whose name begins with a dot.
        private_names: tells what is private.
        depth: how many folders deep to look.
    """
    if folder in left_out:
        return
    if private_names(folder):
        yield folder
    for entry in _entries(folder) if depth else ():
        if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
            yield from private_folders(Path(entry.path), left_out, private_names, depth - 1)


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        return sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []


def _covered_and_sifted(private: Iterable[Path], own: Sequence[Path]) -> tuple[set[Path], set[Path]]:
    """Tell folders with private files, at whatever depth, into those that the program can do without and the rest."""
    away: set[Path] = set()
    sifted: set[Path] = set()
    new = set(private)
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


def _sifted(folder: Path, hidden: Iterable[Path], name: str, access: FileAccess) -> tuple[str, ...]:
    """Return what is shown of a folder in which records or the referee's files lie.

    Raises:
        PlayerError: it is too much; each of it is shown by itself, so that nothing else ever is.
    """
    entries = _entries(folder)  # before it is asked what is private: what comes to be meanwhile is not shown
    left_out = {*access.private_names(folder), *(path.name for path in hidden if path.parent == folder)}
    names = tuple(entry.name for entry in entries if entry.name not in left_out)
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
        raise PlayerError(f"{launch.name}: {launch.place} is no folder of the player's own; put its files into one")
    return own
