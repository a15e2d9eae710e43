"""Decides which files one program sees in a sandbox: its own files and the files it needs to run, but no secrets."""

# A program needs files of the system and of the runtimes that its command line names. sandbox.py makes the mounts that
# show and hide files. This module does not know what a record looks like: the caller passes a function that finds the
# private names in a folder.
#
# A folder with private files is covered as a whole, so that files that are added later are hidden, too. But a folder
# that the program needs, such as the one in which the referee was started, can't be covered. Then each entry that is
# not private is shown separately, so that a record that is written there later stays invisible.

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
"""Folders of the Linux distribution. They are the same on many machines, and hold no secrets."""
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
"""Entries of /etc that programs need to start. The other entries reveal who uses this machine and how."""
_FOR_ALL = (Path("/home"), Path("/opt"), Path("/srv"), Path("/tmp"), Path("/var"), Path("/var/tmp"))  # noqa: S108  # compared
_KERNEL = ("/dev", "/etc", "/proc", "/run", "/sys")
"""Folders that are never shown to a program, even if its command line names a file in them."""
_ROOT = Path("/")
_PROGRAMS = ("bin", "sbin", "shims")
_RUNTIME = ("pyvenv.cfg", "lib", "libexec")
"""Entries that are found next to the folder of programs if a runtime is installed in its own folder."""
_MAX_HOPS = 16
"""Maximum number of links and interpreters that are followed; the kernel allows 40 links and 4 interpreters."""


def is_within(path: Path, folders: Iterable[Path]) -> bool:
    """Return whether a path is one of some folders or is inside one of them. All paths are absolute."""
    place = f"{path}/"  # texts are compared, because Path objects take ten times as long
    return any(place.startswith(f"{folder}/" if folder != _ROOT else "/") for folder in folders)


def is_shared(folder: Path) -> bool:
    """Return whether a folder holds files of various things, such as a home, a parent of a home, /tmp or the root."""
    return folder.resolve() in _shared_folders(Path.home(), tempfile.gettempdir()) or folder.name == ".local"


@cache
def _shared_folders(home: Path, temporary: str) -> set[Path]:
    real = home.resolve()
    return {real, *real.parents, Path(temporary).resolve(), *_FOR_ALL}


@cache
def runtimes(program: Path, player_folder: Path | None = None) -> tuple[Path, ...]:
    """Return the files outside of the system that a program needs to run: itself, its interpreter and its runtime.

    The result is cached: runtimes do not move while matches are played, and many programs have the same one.

    Args:
        program: absolute path of the program.
        player_folder: the player's folder if its author has named the program, and None if the organiser has. The
            folder itself is shown as a whole.

    Raises:
        PlayerError: the author, or a file in the folder, names a program of somebody else.
    """
    places: dict[Path, None] = {}
    for path in _follow(program, player_folder):
        if is_within(path, map(Path, _KERNEL)) and not path.is_symlink() and not _is_in(path, player_folder):
            raise PlayerError(f"{path} can't be run, because a sandbox does not show it; install it in /usr or /opt")
        if not is_within(path, map(Path, (*SYSTEM, *_KERNEL))) and not _is_in(path, player_folder):
            places[_prefix(path) or path] = None
        if path.name == "rustup":  # `cargo` is a link to it, and starts `rustc` from the same folder
            places |= dict.fromkeys((path.parent, rustup_home()))
    return tuple(places)


def _follow(program: Path, player_folder: Path | None) -> Iterator[Path]:
    """Yield a program, then the target of its link or the interpreter of its script, and so on.

    A player could name any file of the organiser as its "interpreter", and then read it. So a player's file may name
    only an interpreter that is a program of this machine. A program of this machine may name any interpreter.
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
            detail = f"{path} can't be run: it is neither in the player's folder nor a program of this machine"
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
    """Return whether a path is a program. If a player's file names any other file, it stays hidden."""
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
    """Return the folder of the runtime to which a program belongs; None if it belongs to none."""
    prefix = program.parent.parent
    if program.parent.name not in _PROGRAMS or is_shared(prefix):
        return None
    return prefix if any((prefix / name).exists() for name in _RUNTIME) else None


def _base_interpreter(program: Path) -> Path | None:
    """Return the interpreter from which a program's virtual environment was made; None if there is none."""
    try:
        lines = read_small(program.parent.parent / "pyvenv.cfg").decode(errors="replace").splitlines()
    except OSError:
        return None
    homes = [value.strip() for key, _, value in (line.partition("=") for line in lines) if key.strip() == "home"]
    return Path(homes[0], program.name) if homes else None


def find_named_files(words: Iterable[str], where: Path) -> list[Path]:
    """Return the folders that a command line names, and the folders of files that it names.

    If such a folder is shared, only the file is returned.

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
    """Return a path without links. For the referee's own runtime, the result is cached."""
    return _resolve_once(path) if path in own_runtime() else path.resolve()


@cache
def _resolve_once(path: Path) -> Path:
    return path.resolve()


def own_runtime() -> tuple[Path, ...]:
    """Return the files that the referee itself needs to run: its interpreter, its packages and those of its plugins."""
    return _own_runtime(len(sys.modules))


@lru_cache(maxsize=1)
def _own_runtime(_modules: int) -> tuple[Path, ...]:
    """Return the referee's runtime. The argument is the number of imported modules, since they change the result."""
    interpreter = runtimes(Path(sys.executable).absolute())
    shown = tuple(f"{path}{os.sep}" for path in (*SYSTEM, *interpreter))
    top_level = [module for name, module in sys.modules.items() if "." not in name and not name.startswith("_")]
    places = {place for module in (protocol, *top_level) for place in getattr(module, "__path__", ())}
    return (*interpreter, *(Path(place) for place in places if not place.startswith(shown) and Path(place).is_dir()))


MAX_DEPTH = 2
"""Number of levels below a program's folder that are searched for private files: --logs, and a tournament in it."""
MAX_COVERED = 20
"""Maximum number of private folders that are covered separately in one folder; if there are more, it is covered."""
MAX_SIFTED = 200
"""Maximum number of entries of a folder that are shown separately: 200 take 0.1 s, and the time grows with the square.
"""
_ANY_COPY = Path("/copy")
"""Placeholder for the path of a copy in cached views."""

PrivateNames = Callable[[Path], Collection[str]]
"""Function that returns the names in any folder that no program may read, such as those of records."""


def nothing_private(_folder: Path) -> Collection[str]:
    """Return no names: only files that are hidden by their path are private."""
    return ()


class FileAccess(Struct, frozen=True, kw_only=True):
    """The files that one program may not read, and the path of the referee's socket."""

    hidden: tuple[Path, ...] = ()
    """Folders and files that the program must never read. Some of them may be invisible to it anyway."""
    private_names: PrivateNames = nothing_private
    others: tuple[Path, ...] = ()
    """Folders of other players. They are hidden, too, unless the program runs in them or its command line names them.
    """
    socket: Path | None = None
    """The referee's socket, for a program in a sandbox. Everything else in its folder is hidden."""
    own_copy: Path | None = None
    """Copy that the program sees in place of its folder; None if it sees the folder itself."""


class Workspace(Struct, frozen=True, kw_only=True):
    """A temporary working directory of a program. It is in memory, empty at first, and removed with the program."""

    size_bytes: int
    """Maximum size of its content."""
    users: int | None = None
    """Descriptor of a user namespace in which the program may change its user; None if it keeps the referee's user."""


class FileView(Struct, frozen=True, kw_only=True):
    """The files that one program sees."""

    where: Path
    """Absolute path of the working directory."""
    shown: tuple[Path, ...]
    """Absolute paths of readable folders and files, besides those of the system. Outer folders come first."""
    hidden: tuple[Path, ...] = ()
    """Places among these that are covered, with links resolved. Files that are added there later are hidden, too."""
    sifted: tuple[tuple[Path, tuple[str, ...]], ...] = ()
    """Folders, with links resolved, whose entries are shown separately, each with the names of these entries."""
    socket: Path | None = None
    """The referee's socket; None if there is none."""
    workspace: Workspace | None = None
    """Writable folder in place of the working directory; None if there is none."""
    own_copy: Path | None = None
    """Read-only copy in place of the working directory; None if there is none."""
    info_fd: int | None = None
    """Descriptor into which bubblewrap writes the number of the sandbox's first process; None if it is not needed."""
    identities: tuple[object, ...] = ()
    """Identities of the files for which the view was made, so that cached data about a view expires when they change.
    """


def view_files(launch: Launch, argv: Sequence[str], access: FileAccess) -> FileView:
    """Return the files that a program will see.

    Args:
        launch: the program.
        argv: its command line, with the whole path of the program.
        access: files that it may not read.

    Raises:
        PlayerError: the program needs files that must stay hidden.
    """
    # The socket's folder also contains the sockets of other programs.
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
    """Return the files that a program with a copy sees, and their paths without links.

    The result is cached: it is the same in every match, unless something has changed on the disk.
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
    # Two players may share a folder, and a program may be in another player's folder. Files that it needs stay visible.
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
    """Return a predicate that is true for the entries of a player's folder that the player may not read.

    Args:
        folder: the player's folder.
        hidden: files and folders that the player may not read, inside or outside of the folder.
        private_names: function that finds the private names in any folder.
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
    """Yield those folders with private files that are at most some levels below a folder, including the folder itself.

    Args:
        folder: the folder to begin with.
        left_out: folders that are skipped, besides those whose name begins with a dot.
        private_names: function that finds the private names in any folder.
        depth: number of levels to descend.
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
    """Split folders with private files into those that the program does not need, and those that it needs."""
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
    """Return the folders that must be covered: those that are in no other such folder, and in no sifted one."""
    return sorted(folder for folder in away if folder.parent not in sifted and away.isdisjoint(folder.parents))


def _future_folders(hidden: Iterable[Path]) -> Iterator[Path]:
    """Yield the folders in which hidden files will be created, because a file that does not exist can't be covered."""
    for path in hidden:
        if not path.exists():
            yield next(folder for folder in path.parents if folder.is_dir())


def _sift(folder: Path, hidden: Iterable[Path], name: str, access: FileAccess) -> tuple[str, ...]:
    """Return the names of the visible entries of a folder with records or other files of the referee.

    Raises:
        PlayerError: there are too many entries to show each of them separately.
    """
    # The entries are listed before the private names, so that an entry that is created in between is not shown.
    entries = _entries(folder)
    left_out = {*access.private_names(folder), *(path.name for path in hidden if path.parent == folder)}
    names = tuple(entry.name for entry in entries if entry.name not in left_out)
    if len(names) > MAX_SIFTED:
        detail = f"{name}: {folder} holds records or other files of the referee, and {len(names)} other entries"
        raise PlayerError(f"{detail}; put the program into a folder of its own")
    return names


def _own_files(launch: Launch, argv: Sequence[str]) -> list[Path]:
    """Return the working directory, unless it is shared, and for a command the files that its command line names."""
    where = launch.where
    own_folders = [] if is_shared(where) else [where]
    if launch.folder is None:
        return [*own_folders, *find_named_files(argv[1:], where)]
    if not own_folders:
        raise PlayerError(f"{launch.name}: {launch.place} holds other things, too; put the player into its own folder")
    return own_folders
