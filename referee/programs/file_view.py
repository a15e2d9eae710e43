"""The files that one program sees in a sandbox: its own files and what it runs from, without records and keys."""

# A program runs from the system and from the runtimes that its command line names. The mounts that show and hide all
# this are made in sandbox.py. This module does not know what a record looks like: the caller passes a function that
# finds the private names in a folder.
#
# A folder with private files is covered as a whole, so files that are added later are hidden, too. That is impossible
# for a folder that the program needs, such as the one in which the referee was started. Of such a folder, each entry
# that is not private is shown by itself, so that a record which is written there later can't be seen.

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
from ..files.reading import read_small
from .environment import rustup_home
from .player_spec import Launch, PlayerError

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Folders of the distribution: they are the same everywhere, and hold no secrets."""
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
"""Entries of /etc that programs need to start; the rest says who uses this machine and how."""
_FOR_ALL = (Path("/home"), Path("/opt"), Path("/srv"), Path("/tmp"), Path("/var"), Path("/var/tmp"))  # noqa: S108  # compared
_KERNEL = ("/dev", "/etc", "/proc", "/run", "/sys")
"""Folders that a program is not shown, even if its command line names a file in them."""
_ROOT = Path("/")
_PROGRAMS = ("bin", "sbin", "shims")
_RUNTIME = ("pyvenv.cfg", "lib", "libexec")
"""Names next to the folder of programs, in a runtime that is installed in a folder of its own."""
_MAX_HOPS = 16
"""Limit of hops from link to link and from script to interpreter; the kernel allows 40 links and 4 interpreters."""


def is_within(path: Path, folders: Iterable[Path]) -> bool:
    """Return whether a path is one of some folders or inside of one; all are absolute."""
    place = f"{path}/"  # compared as text: Path objects take ten times as long, and each start of a program asks often
    return any(place.startswith(f"{folder}/" if folder != _ROOT else "/") for folder in folders)


def is_shared(folder: Path) -> bool:
    """Return whether a folder holds files of several things: a home, what holds a home, /tmp, the root."""
    return folder.resolve() in _shared_folders(Path.home(), tempfile.gettempdir()) or folder.name == ".local"


@cache
def _shared_folders(home: Path, temporary: str) -> set[Path]:
    real = home.resolve()
    return {real, *real.parents, Path(temporary).resolve(), *_FOR_ALL}


@cache
def runtimes(program: Path, player_folder: Path | None = None) -> tuple[Path, ...]:
    """Return the files that a program needs to run, outside of the system: itself, its interpreter, its runtime.

    Runtimes do not move while matches are played, and all programs of a match may have the same one.

    Args:
        program: absolute path.
        player_folder: the player's folder, if its author has named the program; None if the organiser has. The folder
            itself is shown as a whole.

    Raises:
        PlayerError: what the author has named, or what a file in the folder names, is a program of somebody else.
    """
    places: dict[Path, None] = {}
    for path in _follow(program, player_folder):
        if is_within(path, map(Path, _KERNEL)) and not path.is_symlink() and not _is_in(path, player_folder):
            raise PlayerError(f"{path} is to be run, and a sandbox does not show it; install it in /usr or /opt")
        if not is_within(path, map(Path, (*SYSTEM, *_KERNEL))) and not _is_in(path, player_folder):
            places[_prefix(path) or path] = None
        if path.name == "rustup":  # `cargo` is a link to it, and starts `rustc` from the same folder
            places |= dict.fromkeys((path.parent, rustup_home()))
    return tuple(places)


def _follow(program: Path, player_folder: Path | None) -> Iterator[Path]:
    """Yield a program, the target of its link, the interpreter of its script, and so on from each of these.

    A player could name any file of the organiser's as its "interpreter", and then read it. So a program of this machine
    may name any interpreter, and a player's file only one that is a program of this machine.
    """
    waiting = [(program, player_folder is None)]
    for _ in range(_MAX_HOPS):
        if not waiting:
            return
        path, is_believed = waiting.pop()
        if not _can_run(path):
            continue
        is_believed = is_believed or _is_of_this_machine(path)
        if not is_believed and not _is_in(path, player_folder):
            detail = f"{path} is to be run, and is neither in the player's folder nor a program of this machine"
            raise PlayerError(f"{detail}; put it into the folder, or into a folder of the referee's PATH")
        yield path
        if path.is_symlink():
            next_paths = [Path(os.path.normpath(path.parent / path.readlink()))]
        else:
            next_paths = _interpreter(path)
        base = _base_interpreter(path)
        waiting += [(following, is_believed) for following in (*next_paths, *filter(None, (base,)))]


def _is_in(path: Path, player_folder: Path | None) -> bool:
    """Return whether a program lies in a player's folder, even if it is a link to another place."""
    return player_folder is not None and (path.parent.resolve() / path.name).is_relative_to(player_folder.resolve())


def _is_of_this_machine(path: Path) -> bool:
    """Return whether the system or the organiser has installed a program for everybody."""
    place = path.parent.resolve()
    on_path = {folder.resolve() for folder in map(Path, os.get_exec_path()) if folder.is_absolute()}
    for_all = (*map(Path, SYSTEM), *own_runtime())
    return place in on_path or is_within(place, (top.resolve() for top in for_all))


def _can_run(path: Path) -> bool:
    """Return whether a path is a program; any other file that a player's files name stays hidden."""
    return "\0" not in str(path) and path.is_file() and os.access(path, os.X_OK)


def _interpreter(script: Path) -> list[Path]:
    """Return the interpreters that the first line of a script names."""
    try:
        with script.open("rb") as file:
            first = file.readline(256)
    except OSError:
        return []
    words = first[2:].decode(errors="replace").split() if first.startswith(b"#!") else []
    if len(words) > 1 and Path(words[0]).name == "env":
        words = [program for word in words[1:] if (program := shutil.which(word))]
    return [Path(words[0]).absolute()] if words else []


def _prefix(program: Path) -> Path | None:
    """Return the folder of the runtime that a program belongs to, or None if it stands alone."""
    prefix = program.parent.parent
    if program.parent.name not in _PROGRAMS or is_shared(prefix):
        return None
    return prefix if any((prefix / name).exists() for name in _RUNTIME) else None


def _base_interpreter(program: Path) -> Path | None:
    """Return the interpreter that a virtual environment was made from."""
    try:
        lines = read_small(program.parent.parent / "pyvenv.cfg").decode(errors="replace").splitlines()
    except OSError:
        return None
    homes = [value.strip() for key, _, value in (line.partition("=") for line in lines) if key.strip() == "home"]
    return Path(homes[0], program.name) if homes else None


def find_named_files(words: Iterable[str], where: Path) -> list[Path]:
    """Return the folders that a command line names, or names a file in; instead of a shared folder, only the file.

    Args:
        words: the command line without its program.
        where: the working directory, absolute.
    """
    places = []
    for word in words:
        path = os.path.normpath(where / word)
        if word.startswith("-") or not (os.path.isdir(path) or os.path.isfile(path)):  # noqa: PTH112, PTH113  # any text
            continue
        file = Path(path)
        folder = file if file.is_dir() else file.parent
        best = file if is_shared(folder) else folder
        if not is_within(best, map(Path, (*SYSTEM, *_KERNEL))) and not is_shared(best):
            places.append(best)
    return places


def real_place(path: Path) -> Path:
    """Return a path without links; for what this program itself runs from, it is looked up once."""
    return _resolve_once(path) if path in own_runtime() else path.resolve()


@cache
def _resolve_once(path: Path) -> Path:
    return path.resolve()


def own_runtime() -> tuple[Path, ...]:
    """Return the files that the referee itself runs from: its interpreter, its packages and those of its plugins."""
    return _own_runtime(len(sys.modules))


@lru_cache(maxsize=1)
def _own_runtime(_modules: int) -> tuple[Path, ...]:
    """Return the referee's runtime; the argument is the number of imported modules, with which the answer changes."""
    interpreter = runtimes(Path(sys.executable).absolute())
    shown = tuple(f"{path}{os.sep}" for path in (*SYSTEM, *interpreter))
    top_level = [module for name, module in sys.modules.items() if "." not in name and not name.startswith("_")]
    places = {place for module in (protocol, *top_level) for place in getattr(module, "__path__", ())}
    return (*interpreter, *(Path(place) for place in places if not place.startswith(shown) and Path(place).is_dir()))


MAX_DEPTH = 2
"""Depth below a program's folder to which private files are looked for: that of --logs and of a tournament."""
MAX_COVERED = 20
"""Number of folders with private files in one folder that are covered one by one; beyond it, that folder is covered."""
MAX_SIFTED = 200
"""Number of a folder's entries that can be shown one by one: 200 take 0.1 s, and the time grows with the square."""
_ANY_COPY = Path("/copy")
"""Placeholder for the path of a copy in cached views."""

PrivateNames = Callable[[Path], Collection[str]]
"""Returns the names in a folder that no program may read, wherever the folder is: those of records, for instance."""


def nothing_private(_folder: Path) -> Collection[str]:
    """Return no names: only files that are hidden by their path are private."""
    return ()


class FileAccess(Struct, frozen=True, kw_only=True):
    """The files that one program may not read, and the place where it finds the referee."""

    hidden: tuple[Path, ...] = ()
    """Folders and files that it must never read; they may be ones that it is not shown anyway."""
    private_names: PrivateNames = nothing_private
    others: tuple[Path, ...] = ()
    """Folders of other players, hidden as well unless the program runs in them or its command line names them."""
    socket: Path | None = None
    """The referee's socket, for a program in a sandbox; everything else in its folder is hidden."""
    own_copy: Path | None = None
    """Copy that it is shown in place of its folder; None: it is shown the folder."""


class Workspace(Struct, frozen=True, kw_only=True):
    """A working directory of a program's own: empty at first, in memory, and gone with the program."""

    size_bytes: int
    """Size up to which it can be filled."""
    users: int | None = None
    """Descriptor of a user namespace in which the program may change its user; None: it has the referee's."""


class FileView(Struct, frozen=True, kw_only=True):
    """The files that one program sees."""

    where: Path
    """Its working directory, absolute."""
    shown: tuple[Path, ...]
    """Folders and files to read, absolute, in addition to the system's; an outer one before those inside of it."""
    hidden: tuple[Path, ...] = ()
    """Places among these that are covered, whatever will be in them; links resolved."""
    sifted: tuple[tuple[Path, tuple[str, ...]], ...] = ()
    """Folders among these, or inside of one, links resolved; each with the names of the entries that are shown."""
    socket: Path | None = None
    """The referee's socket; None: there is none."""
    workspace: Workspace | None = None
    """Writable folder in place of the working directory; None: the working directory itself, or a copy."""
    own_copy: Path | None = None
    """Read-only copy in place of the working directory; None: the working directory itself, or a workspace."""
    info_fd: int | None = None
    """Descriptor on which bubblewrap says the number of the sandbox's first process; None: it does not say it."""
    identities: tuple[object, ...] = ()
    """Identities of the places that the view was made for: a cache that has it as its key expires when they change."""


def view_files(launch: Launch, argv: Sequence[str], access: FileAccess) -> FileView:
    """Return the files that a program is to see.

    Args:
        launch: the program.
        argv: its command line, the program by its whole path.
        access: files that it may not read.

    Raises:
        PlayerError: it would have to read what must stay hidden.
    """
    # The socket's folder also has other programs' sockets.
    socket_folders = () if access.socket is None else (access.socket.parent,)
    full_access = replace(access, hidden=(*access.hidden, *socket_folders))
    # A view of a copy is cached, because a match with the same players starts the same programs again and again.
    if access.own_copy is None:
        return _view_files(launch, argv, full_access)
    identities = (own_runtime(), *(_identity(path) for path in (*access.hidden, *access.others)))
    view, real = _view_copy(launch, tuple(argv), replace(access, socket=None, own_copy=_ANY_COPY), identities)
    if any(is_within(_resolve_once(path.parent) / path.name, real) for path in socket_folders):
        return _view_files(launch, argv, full_access)
    return replace(view, socket=access.socket, own_copy=access.own_copy)


@lru_cache(maxsize=256)
def _view_copy(
    launch: Launch, argv: Sequence[str], access: FileAccess, identities: tuple[object, ...]
) -> tuple[FileView, Sequence[Path]]:
    """Return the files that a program with a copy sees, and their places without links.

    In every match they are the same, unless something has changed on the disk.
    """
    view = replace(_view_files(launch, argv, access), identities=identities)
    return view, (*map(real_place, view.shown), *map(Path, SYSTEM))


def _identity(path: Path) -> tuple[int, int, int] | None:
    """Return the identity of the file or folder at a path; None if there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116  # faster than Path.stat
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_mode


def _view_files(launch: Launch, argv: Sequence[str], access: FileAccess) -> FileView:
    where = launch.where
    visible = [] if launch.is_house else _own_files(launch, argv)
    secret = {path.resolve(): path for path in access.hidden}
    inmost = where.resolve() if where in visible else None
    for real, path in secret.items():
        if inmost is not None and is_within(inmost, (real,)):
            detail = f"{launch.name} runs in {launch.place}, and {path} must stay hidden from it"
            raise PlayerError(f"{detail}; keep records and players apart (--logs), or use --sandbox off")
    # Two players may share a folder, and a program may lie in another player's: what it runs from stays visible.
    theirs = [folder.resolve() for folder in access.others if not any(is_within(path, (folder,)) for path in visible)]
    covered = {*secret, *theirs}
    places = [path.resolve() for path in visible] if access.own_copy is None else []  # a copy has no private files
    private = {folder for path in places for folder in private_folders(path, covered, access.private_names)}
    away, sifted = _split_private(private, places)
    sifted |= {folder for folder in _future_folders(covered) if is_within(folder, places) and folder not in away}
    shown = {*own_runtime(), *runtimes(Path(argv[0]), launch.folder and where), *visible}
    return FileView(
        where=where,
        shown=tuple(sorted(path for path in shown if not is_within(real_place(path), covered))),
        hidden=(*secret, *theirs, *_outermost(away, sifted)),
        sifted=tuple((folder, _sift(folder, covered | away, launch.name, access)) for folder in sorted(sifted)),
        socket=access.socket,
        own_copy=access.own_copy,
    )


def find_private(folder: Path, hidden: Iterable[Path], private_names: PrivateNames) -> LeftOut:
    """Return a predicate on the entries of a player's folder, true for those that the player may not read.

    Args:
        folder: the player's folder.
        hidden: files and folders that the player may not read, in any place.
        private_names: finds the names that are private in any folder.
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
        folder: the folder to begin with.
        left_out: folders not to look into; those whose name begins with a dot are left out, too.
        private_names: finds what is private.
        depth: number of folders to descend.
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


def _split_private(private: Iterable[Path], own: Sequence[Path]) -> tuple[set[Path], set[Path]]:
    """Split folders with private files, at any depth, into those that the program does not need and the rest."""
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
    """Return the folders that need a cover of their own: they lie in no other such folder, and in no sifted one."""
    return sorted(folder for folder in away if folder.parent not in sifted and away.isdisjoint(folder.parents))


def _future_folders(hidden: Iterable[Path]) -> Iterator[Path]:
    """Yield the folders in which hidden files will be made: a file that does not exist yet can't be covered."""
    for path in hidden:
        if not path.exists():
            yield next(folder for folder in path.parents if folder.is_dir())


def _sift(folder: Path, hidden: Iterable[Path], name: str, access: FileAccess) -> tuple[str, ...]:
    """Return the names of the entries that are shown of a folder with records or other files of the referee.

    Raises:
        PlayerError: there are too many; each is shown by itself, so that no later one ever is.
    """
    # Listed before the private names are looked up: an entry that is made in between is not shown.
    entries = _entries(folder)
    left_out = {*access.private_names(folder), *(path.name for path in hidden if path.parent == folder)}
    names = tuple(entry.name for entry in entries if entry.name not in left_out)
    if len(names) > MAX_SIFTED:
        detail = f"{name}: {folder} holds records or other files of the referee, and {len(names)} other entries"
        raise PlayerError(f"{detail}; put the program into a folder of its own")
    return names


def _own_files(launch: Launch, argv: Sequence[str]) -> list[Path]:
    """Return the working directory, unless it is shared with other things, and the files of the command line."""
    where = launch.where
    own_folders = [] if is_shared(where) else [where]
    if launch.folder is None:
        return [*own_folders, *find_named_files(argv[1:], where)]
    if not own_folders:
        raise PlayerError(f"{launch.name}: {launch.place} is no folder of the player's own; put its files into one")
    return own_folders
