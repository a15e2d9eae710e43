"""`referee new`: make a folder with a player that works at once, for its author to change."""

import json
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

import rich_click as click
from msgspec import Struct

from protocol.limits import NAME_FORM, NAME_PATTERN

from ...errors import BadRequest
from ...text import near
from ..common import json_option, print_json


class Sample(Struct, frozen=True):
    """The sample player of one language."""

    folder: str
    """Folder in the package sample_players."""
    files: tuple[str, ...]
    """Patterns of the files to copy, without build results; player.toml and README.md are always copied."""
    edit: str
    """File whose function `choose` the author replaces."""
    needs: str
    """Software that must be installed, with its Debian package."""
    task: str = "replace the function `choose`"
    """What the author does in that file."""


# A sample is a folder of the package, not a text in this module, so that it can be run, checked and formatted like any
# other program.
SAMPLES = {
    "c": Sample("c", ("*.c", "*.h", "Makefile"), "player.c", "a C compiler and make (packages gcc and make)"),
    "go": Sample("go", ("*.go", "go.mod"), "main.go", "Go 1.19 or newer (package golang-go)"),
    "java": Sample("java", ("*.java",), "Player.java", "a JDK, 17 or newer (package default-jdk-headless)"),
    "javascript": Sample(
        "javascript", ("player.js", "games.js", "wire.js"), "player.js", "Node.js 18 or newer (package nodejs)"
    ),
    "python": Sample(
        "python_library", ("*.py",), "player.py", "the Python of the referee (activate its virtual environment)"
    ),
    "python-socket": Sample("python_socket", ("*.py",), "player.py", "Python 3.10 or newer, and no package"),
    "rust": Sample(
        "rust",
        ("Cargo.toml", "Cargo.lock", "rustfmt.toml", "src/*.rs"),
        "src/main.rs",
        "Rust 1.63 or newer (packages cargo and rustc)",
    ),
}
"""Samples by name of the language."""
TEMPLATES = {
    **SAMPLES,
    "python-policy": Sample(
        "python_policy",
        ("*.py",),
        "train.py",
        "the Python of the referee, with its extra pettingzoo (activate its virtual environment)",
        "trains the player; run `python3 train.py quincy` there",
    ),
}
"""All templates of `referee new`: the samples, which do the same in every language, and a player that learns."""
_COMMON = ("player.toml", "README.md")


@contextmanager
def sample_files(sample: Sample) -> Iterator[dict[str, Path]]:
    """Yield the files of a sample: path in the new folder -> file of this installation."""
    with resources.as_file(resources.files("sample_players")) as root:
        folder = root / sample.folder
        paths = sorted(path for pattern in (*_COMMON, *sample.files) for path in folder.glob(pattern))
        yield {str(path.relative_to(folder)): path for path in paths}


def make_player(language: str, folder: Path) -> list[str]:
    """Make the folder of a new player.

    Args:
        language: a key of `TEMPLATES`.
        folder: path of the new folder; its last part becomes the player's name.

    Returns:
        The paths of the new files, relative to the folder.

    Raises:
        BadRequest: there is no such template, the name is not valid, or the path exists already.
        OSError: the folder can't be written.
    """
    if language not in TEMPLATES:
        hint = near(language, TEMPLATES) or f"; the languages are {', '.join(TEMPLATES)}"
        raise BadRequest(f"there is no sample in {language!r}{hint}")
    if not re.match(NAME_PATTERN, folder.name):
        raise BadRequest(f"a player's name is {NAME_FORM}; not {folder.name!r}")
    try:
        folder.mkdir()
    except FileExistsError:
        raise BadRequest(f"{folder.name} exists here already; choose another name, or remove it") from None
    with sample_files(TEMPLATES[language]) as files:
        for inside, source in files.items():
            target = folder / inside
            target.parent.mkdir(exist_ok=True)
            text = source.read_text(encoding="utf-8")
            target.write_text(_own(text, folder.name) if inside == "player.toml" else text, encoding="utf-8")
        return list(files)


def _own(toml: str, name: str) -> str:
    """Return a player.toml with another name; if `python3` in PATH is not this Python, use this Python's path."""
    named = re.sub(r"(?m)^name = .*$", f'name = "{name}"', toml)
    python3 = shutil.which("python3")
    if 'run = "python3 ' not in named or (python3 and Path(python3).parent == Path(sys.executable).parent):
        return named
    command = json.dumps(shlex.quote(sys.executable), ensure_ascii=False)[:-1]  # TOML quotes as JSON does
    return named.replace('run = "python3', f"run = {command}")


@click.command("new", epilog="Example:  referee new javascript ada")
@click.argument(
    "language",
    metavar="LANGUAGE",
    shell_complete=lambda _context, _parameter, typed: [name for name in TEMPLATES if name.startswith(typed)],
)
@click.argument("name")
@json_option
def new(language: str, name: str, as_json: bool) -> None:
    """Make a folder NAME with a player in LANGUAGE for you to change. The player can play all games at once.

    LANGUAGE is c, go, java, javascript, python (with the client library), python-socket (without it), python-policy (a
    player that teaches itself) or rust. NAME is also the player's name: 1 to 20 letters, digits, - and _, beginning
    with a letter or digit.

    Exit status: 0 made, 2 usage error, or NAME exists already.
    """
    if name != Path(name).name:
        raise click.UsageError(f"a player's name is {NAME_FORM}; not {name!r}")
    files = make_player(language, Path(name))
    if as_json:
        print_json({"folder": name, "language": language, "files": files})
        return
    sample = TEMPLATES[language]
    click.echo(f"{name}/ has a player in {language}: {', '.join(files)}\n")
    for word, text in (
        ("needs", sample.needs),
        ("play", f"referee play q house:random {name}/"),
        ("edit", f"{name}/{sample.edit}: {sample.task}"),
        ("check", f"referee check {name}/"),
        ("read", "referee list q --schema  shows the form of its view and of its move"),
    ):
        click.echo(f"  {word:<6} {text}")
