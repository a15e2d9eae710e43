"""What of the file system a program must be able to read: the system, and the runtimes that its command line names."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path

import protocol

from ..files.small import read_small
from .player_spec import PlayerError

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
