"""The forms of naming a player: `house:NAME`, `cmd:COMMAND`, `me:NAME`, or the path of a folder with player.toml."""

# Each form is converted into a `Launch`, which says how the player's program is started. A folder with a link that
# leads out of it is refused: a tournament may copy or send the folder, and the link could lead to secret files.

import itertools
import os
import shlex
import shutil
import struct
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ..errors import RefereeError
from ..files.links import SymbolicLinks, TangledLinksError
from ..files.reading import BadFile, read_small_text
from ..files.tree import BadTree, is_of_the_machine, show_path, walk
from ..text import nearest, visible
from ..type_words import describe_type, unfit
from ..type_words import show_value as shown_value

RUNNERS = {
    ".py": "python3",
    ".js": "node",
    ".mjs": "node",
    ".java": "java",
    ".rb": "ruby",
    ".pl": "perl",
    ".php": "php",
    ".lua": "lua",
    ".sh": "sh",
}
"""Ending of a file -> the program that runs it, for suggestions."""
INTERPRETERS = frozenset(RUNNERS.values()) | {"python"}
"""Programs with which users begin a command if they forget `cmd:` and the quotes."""
_NEEDS = 'a player\'s folder needs that file, with name = "ada" and run = "python3 player.py"'
_SHOWN_CHARS = 200
_MARK_BYTES = 4
"""Number of bytes that identify a script with an interpreter or a compiled program."""


class PlayerError(RefereeError):
    """A player can't be launched.

    Args:
        text: the reason, with what to do about it. Characters that can't be printed are escaped: names of files may
            contain anything, and the text goes into records and to terminals.
    """

    def __init__(self, text: str) -> None:
        super().__init__(visible(text))


_BUILDS = {"go.mod": "go build", "Cargo.toml": "cargo build --release", "Makefile": "make"}
"""File in the folder of a program that must be built -> the usual command."""


class PlayerToml(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file player.toml of a player's folder."""

    name: str
    run: str
    """Command line that starts the player in its folder. It is split into words like in a shell, but runs without one.
    """
    games: list[str] = []
    """Names of the games that it plays; empty if it plays any game."""
    version: str = ""
    build: str = ""
    """Command line that builds the player in its folder, before `run`, whenever the folder has changed."""
    matches: Annotated[int, Meta(ge=1)] | None = None
    """Number of matches that it can play on one connection; None for any number."""


class PersonPlace(StrEnum):
    """The place where a person plays."""

    PAGE = "page"
    """A page in a browser."""
    TERMINAL = "terminal"


class Launch(Struct, frozen=True, kw_only=True):
    """Everything that is needed to start a player's program; or the seat of a person."""

    name: str
    argv: tuple[str, ...]
    folder: Path | None = None
    """Working directory; None for the referee's own."""
    games: tuple[str, ...] = ()
    """Games that it plays; empty if it plays any game."""
    build: tuple[str, ...] = ()
    """Command line that builds the program in its folder; empty if it needs no build."""
    is_house: bool = False
    """True for a house player, which is part of this installation and reads no other files."""
    matches: int | None = None
    """Number of matches that a running program can play; None for any number."""
    person: PersonPlace | None = None
    """Place where a person chooses the moves; None if a program does."""

    @property
    def where(self) -> Path:
        """Absolute path of the working directory."""
        return Path.cwd() if self.folder is None else self.folder.absolute()

    @property
    def place(self) -> Path:
        """The working directory as the organiser named it. Messages show it, since authors must not see other paths."""
        return self.folder or Path.cwd()


class PlayerKind(StrEnum):
    """The form in which an organiser names a player."""

    HOUSE = "house"
    COMMAND = "cmd"
    PERSON = "me"
    FOLDER = "folder"


class PlayerSpec(Struct, frozen=True):
    """A player as an organiser writes it."""

    kind: PlayerKind
    value: str
    """Name of a house player, a command line, or the path of a folder. For a person, it is `terminal` or a name."""

    def launch(self, name: str = "player") -> Launch:
        """Return how the player's program is started.

        Args:
            name: name of the player if it is a command; players in other forms have their own names.

        Raises:
            PlayerError: the folder or the command line can't be used. The existence of a house player is not checked
                here, since only the plugins know it.
        """
        if self.kind is PlayerKind.HOUSE:
            return house_launch(self.value)
        if self.kind is PlayerKind.COMMAND:
            return command_launch(self.value, name)
        if self.kind is PlayerKind.PERSON:
            return person_launch(self.value)
        return read_folder(Path(self.value))


def parse_player(text: str) -> PlayerSpec:
    """Parse a player: `house:NAME`, `cmd:COMMAND`, `me:NAME`, or the path of a folder."""
    kind, colon, value = text.partition(":")
    if colon and kind in (PlayerKind.HOUSE, PlayerKind.COMMAND, PlayerKind.PERSON):
        return PlayerSpec(PlayerKind(kind), value)
    return PlayerSpec(PlayerKind.FOLDER, text)


def read_folder(folder: Path) -> Launch:
    """Read a player's folder.

    Raises:
        PlayerError: there is no such folder, its player.toml is missing or wrong, or a link leads out of it.
    """
    path = folder / "player.toml"
    if not folder.is_dir():
        raise PlayerError(explain_no_folder(folder))
    # This comes before the search for links, which would take long if a user named a home folder by mistake.
    if not os.path.lexists(path):
        raise PlayerError(f"there is no player.toml in {folder}; {_NEEDS}")
    refuse_escapes(folder)
    toml = _read_toml(path)
    argv = _split(toml.run, f"{path}: `run`")
    if not argv:
        raise PlayerError(f"{path}: `run` is empty; it is the command that starts the player")
    build = _split(toml.build, f"{path}: `build`")
    games = tuple(toml.games)
    return Launch(name=toml.name, argv=argv, folder=folder, games=games, build=build, matches=toml.matches)


def _read_toml(path: Path) -> PlayerToml:
    """Read the player.toml of a folder."""
    try:
        content = tomllib.loads(read_small_text(path))
    except BadFile as error:
        raise PlayerError(f"{path}: {error.strerror}") from None
    except OSError as error:
        raise PlayerError(f"{path}: {error.strerror}; {_NEEDS}") from None
    except (ValueError, RecursionError) as error:  # not UTF-8, not TOML, a number of thousands of digits, or too deep
        raise PlayerError(f"{path} is no TOML: {error}") from None
    if mistakes := "; ".join(_find_mistakes(content)):
        raise PlayerError(f"{path}: {mistakes}")
    return msgspec.convert(content, PlayerToml)


def _find_mistakes(content: dict[str, Any]) -> Iterator[str]:
    """Yield all mistakes in a player.toml, in a few words each."""
    fields = {field.name: field for field in msgspec.structs.fields(PlayerToml)}
    for key, field in fields.items():
        if key not in content:
            if field.required:
                yield f"`{key}` is missing"
            continue
        try:
            value = msgspec.convert(content[key], field.type)
        except msgspec.ValidationError:
            yield f"`{key}` takes {describe_type(field.type)}, not {shown_value(unfit(content[key], field.type))}"
            continue
        # Names and commands go to terminals and into pages, where a control character could do harm.
        text = "" if isinstance(value, int) else "".join(value)
        odd = next((char for char in text if not char.isprintable()), None)
        if odd is not None:
            yield f"`{key}` has the character {odd!a}, which can't be shown; leave it out"
    for key in (key for key in content if key not in fields):
        yield f"there is no key `{key}`{nearest(key, fields)}"


def find_bare_command(words: Sequence[str]) -> str | None:
    """Return the player that a user probably meant by a command without `cmd:` and quotes; None if there is none.

    Args:
        words: arguments that should be players. Some of them may be the words of one command.

    >>> find_bare_command(["house:random", "python3", "player.py"])
    "cmd:'python3 player.py'"
    """
    start = next((at for at, word in enumerate(words) if word in INTERPRETERS and not Path(word).is_dir()), None)
    if start is None:
        return None
    kinds = tuple(f"{kind}:" for kind in PlayerKind)
    command = list(itertools.takewhile(lambda word: not word.startswith(kinds), words[start:]))
    return f"cmd:{shlex.quote(shlex.join(command))}"


def explain_no_folder(path: Path) -> str:
    """Explain why a path is no player's folder, and suggest what the user probably meant."""
    if (command := find_bare_command([str(path), "FILE"])) is not None:
        return f"{path} is an interpreter; write its whole command as one player: {command}"
    if not path.exists():
        return f"there is no folder {path}"
    if (path.parent / "player.toml").is_file():
        return f"{path} is a file; name its folder, which has the player.toml: {shlex.quote(str(path.parent))}"
    command = shlex.join((RUNNERS.get(path.suffix, "COMMAND"), str(path)))
    return f"{path} is a file; name a folder that has a player.toml, or how the file is run: cmd:{shlex.quote(command)}"


def _split(command: str, where: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise PlayerError(f"{where}: {error}; it is split into words as a shell would") from None


def refuse_escapes(folder: Path, content: int | None = None) -> None:
    """Check that a player's folder can be read, and that no link leads out of it.

    Args:
        folder: the player's folder.
        content: descriptor of another folder whose content is checked as if it were in the player's folder.

    Raises:
        PlayerError: the folder is too deep or too large, an entry can't be read, or a link leads out of the folder.
            The text names the entry.
    """
    with blame_player(folder):
        targets = {node.path: node.target() for node in walk(folder if content is None else content) if node.is_link}
    try:
        path = SymbolicLinks(targets, (str(folder.absolute()), os.path.realpath(folder))).escaping()
    except TangledLinksError:
        raise PlayerError(f"{folder}: its links are too tangled to follow; put copies in their place") from None
    if path is not None:
        detail = f"{folder}/{show_path(path)} is a link to {show_path(targets[path])}, outside of the player's folder"
        remedy = "put a copy in its place (a virtual environment: python3 -m venv --copies)"
        raise PlayerError(f"{detail}; {remedy}")


@contextmanager
def blame_player(folder: Path, what: str = "", *, is_disk: bool = True) -> Iterator[None]:
    """Turn errors that a folder's content causes into errors of its player.

    Args:
        folder: the player's folder.
        what: what can't be done to the folder in case of an OSError, such as "copied". If it is empty, an OSError is
            not the player's fault, and is not changed.
        is_disk: True if the block writes to the disk. Errors of the disk are not the player's fault, either.

    Raises:
        PlayerError: the folder's content is at fault.
    """
    try:
        yield
    except BadTree as error:
        raise PlayerError(f"{folder}: {error}") from None
    except OSError as error:
        if not what or (is_disk and is_of_the_machine(error)):
            raise
        raise PlayerError(f"{folder} can't be {what}: {error.strerror}") from None


@contextmanager
def starting(launch: Launch) -> Iterator[None]:
    """Turn errors that a player's files cause at its start, such as links in a circle, into errors of the player.

    Raises:
        PlayerError: the player's files are at fault.
    """
    try:
        yield
    except (OSError, ValueError, RuntimeError) as error:
        if is_of_the_machine(error):
            raise
        why = error.strerror if isinstance(error, OSError) else error
        raise PlayerError(f"{launch.name}: can't start {shlex.join(launch.argv)[:_SHOWN_CHARS]}: {why}") from None


def house_launch(name: str) -> Launch:
    """Return how to start a house player, with the interpreter of this installation."""
    return Launch(name=name, argv=(sys.executable, "-m", "referee.programs.house_process", name), is_house=True)


def command_launch(command: str, name: str) -> Launch:
    """Return how to start a player given as a command line.

    Raises:
        PlayerError: the command line can't be split or is empty.
    """
    argv = _split(command, f"cmd:{command}")
    if not argv:
        raise PlayerError("cmd: needs a command after the colon, such as cmd:'python3 my_player.py'")
    return Launch(name=name, argv=argv)


def person_launch(value: str) -> Launch:
    """Return the seat of a person.

    Args:
        value: `terminal`, or the name of a person who plays on a page; if it is empty, the name is `me`.
    """
    place = PersonPlace.TERMINAL if value == PersonPlace.TERMINAL else PersonPlace.PAGE
    return Launch(name=value if value and place is PersonPlace.PAGE else "me", argv=(), person=place)


def resolve_command(launch: Launch, argv: Sequence[str] = ()) -> list[str]:
    """Return a command line with the whole path of its program.

    Args:
        launch: the player. A program in its folder comes before a program in PATH.
        argv: the command line; by default, the one that starts the player.

    Raises:
        PlayerError: there is no such program, or this machine can't run it.
    """
    first, *rest = argv or launch.argv
    # This is not resolve(): the interpreter of a virtual environment is a link, and finds its environment by its path.
    inside = (launch.where / first).absolute()
    with starting(launch):  # the words come from the player: a name may be too long, or contain a zero byte
        is_own = inside.is_file() and (launch.folder is not None or os.sep in first)
        if is_own and os.access(inside, os.X_OK):
            if why := find_obstacle(inside) or (inside.suffix != ".sh" and _suggest_runner(launch, inside, rest)):
                raise PlayerError(f"{launch.name}: can't start {shlex.join([first, *rest])[:_SHOWN_CHARS]}: {why}")
            return [str(inside), *rest]
        program = shutil.which(first) if os.sep not in first else None
        is_folder = inside.is_dir()
        suggestion = _suggest_runner(launch, inside, rest) if is_own else None
    if program is None:
        why = "No such file: it is a folder" if is_folder else "No such file or directory"
        if rest:  # which of the words is missing
            why = f"{why}: {first[:_SHOWN_CHARS]}"
        if is_own:
            why = f"Permission denied: it is not executable; {suggestion or f'chmod +x {first}'}"
        raise PlayerError(f"{launch.name}: can't start {shlex.join([first, *rest])}: {why}{_suggest_build(launch)}")
    return [str(Path(program).absolute()), *rest]


def _suggest_runner(launch: Launch, file: Path, arguments: Sequence[str]) -> str | None:
    """Return the advice to name a script's interpreter; None if its first line names one, or if it is no script."""
    runner = RUNNERS.get(file.suffix)
    if runner is None:
        return None
    with file.open("rb") as opened:
        if opened.read(_MARK_BYTES).startswith((b"#!", b"\x7fELF")):
            return None
    command = shlex.join((runner, str(file.relative_to(launch.where)), *arguments))
    where = f"cmd:{shlex.quote(command)}" if launch.folder is None else f'run = "{command}" in player.toml'
    return f"its first line names no interpreter (#!); write {where}"


def _suggest_build(launch: Launch) -> str:
    """Return the advice to add `build` to player.toml, if the folder contains a file for a build tool."""
    if launch.folder is None or launch.build:
        return ""
    source = next((name for name in _BUILDS if (launch.folder / name).is_file()), None)
    if source is None:
        return ""
    return f'; player.toml has no `build`, and there is a {source}: add build = "{_BUILDS[source]}"'


_BOM = b"\xef\xbb\xbf"
_ELF = b"\x7fELF"
_KIND = slice(4, 6)
"""Bytes of an ELF file that give the width of its numbers and the order of their bytes."""
_MACHINE = slice(18, 20)
_FOREIGN = {b"MZ": "Windows", b"\xcf\xfa\xed\xfe": "macOS", b"\xca\xfe\xba\xbe": "macOS or Java"}
"""First bytes of a program -> the system that it is built for."""
_READ_BYTES = 4096
_LINE_BYTES = 256
"""Number of bytes of a script's first line that the kernel reads."""
_PT_INTERP = 3
_UNIX_LINES = "save it with Unix line ends: sed -i 's/\\r$//' FILE"


def find_obstacle(program: Path) -> str | None:
    """Return why a file can't be run on this machine, and what to do; None if it can be run.

    Args:
        program: an existing file with the executable bit.

    Raises:
        OSError: it can't be read.
    """
    with program.open("rb") as file:
        head = file.read(_READ_BYTES)
    if head.startswith((_BOM + b"#!", b"\xff\xfe#\0", b"\xfe\xff\0#")):
        return "it begins with a byte order mark, so its first line names no interpreter; save it as UTF-8 without one"
    if head.startswith(b"#!"):
        return _obstacle_of_script(head[:_LINE_BYTES].split(b"\n", 1)[0], program.parent)
    if head.startswith(_ELF) and len(head) >= _MACHINE.stop:
        return _obstacle_of_elf(head)
    system = next((system for magic, system in _FOREIGN.items() if head.startswith(magic)), None)
    return None if system is None else f"it is a program for {system}; build it on a machine like this one"


def _obstacle_of_script(line: bytes, folder: Path) -> str | None:
    if line.endswith(b"\r"):
        return f"its first line ends as in Windows, so the interpreter's name has a carriage return; {_UNIX_LINES}"
    words = os.fsdecode(line[2:]).split()
    if not words:
        return "its first line names no interpreter; write, for instance, #!/usr/bin/env python3"
    named = f"its first line names the interpreter {words[0]}, which is"
    interpreter = folder / words[0]
    if not interpreter.is_file():
        remedy = f"; PATH has {other}" if (other := shutil.which(interpreter.name)) else ""
        return f"{named} a folder" if interpreter.is_dir() else f"{named} not there; install or change it{remedy}"
    if not os.access(interpreter, os.X_OK):
        return f"{named} not executable"
    return _obstacle_of_env(words[1:]) if interpreter.name == "env" else None


def _obstacle_of_env(words: Sequence[str]) -> str | None:
    named = next((word for word in words if not word.startswith("-") and "=" not in word), None)
    if named is None or shutil.which(named):
        return None
    return f"its first line asks env for the interpreter {named}, which PATH does not have; install or change it"


def _obstacle_of_elf(head: bytes) -> str | None:
    with Path(sys.executable).open("rb") as file:
        running = file.read(_MACHINE.stop)
    if running[: len(_ELF)] == _ELF and (running[_KIND], running[_MACHINE]) != (head[_KIND], head[_MACHINE]):
        return "it is built for another architecture than this machine's; build it here, or name a `build`"
    loader = _find_loader(head)
    if loader is None or Path(loader).exists():
        return None
    return f"it needs the loader {loader}, which is not there; build it on this system, or link it statically"


def _find_loader(head: bytes) -> str | None:
    """Return the loader of a program of 64 bits; None if it needs none, or if this can't be found out."""
    if head[_KIND] != b"\x02\x01":
        return None
    try:
        (table,) = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        for number in range(count):
            kind, _, start, _, _, length = struct.unpack_from("<IIQQQQ", head, table + number * size)
            if kind == _PT_INTERP:
                return os.fsdecode(head[start : start + length].rstrip(b"\0")) or None
    except struct.error:  # the file is cut off, or its table is beyond the bytes that were read
        return None
    return None
