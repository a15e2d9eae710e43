"""Programs that tests run and that a machine may lack: a test that needs an absent one is skipped.

`python3 tests/needs.py` prints the Debian packages of all that are absent, for `.ci/run`.
"""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from referee.programs.sandbox import Sandbox

PACKAGES = {
    "bwrap": "bubblewrap",
    "bzip2": "bzip2",
    "cargo": "cargo",
    "chromedriver": "chromium-driver",
    "chromium": "chromium",
    "free": "procps",
    "gcc": "gcc libc6-dev",
    "go": "golang-go",
    "initdb": "postgresql",
    "ip": "iproute2",
    "javac": "default-jdk-headless",
    "lua5.4": "lua5.4",
    "make": "make",
    "node": "nodejs",
    "perl": "perl",
    "php": "php-cli",
    "ruby": "ruby",
    "stockfish": "stockfish",
    "xz": "xz-utils",
}
"""Program -> the packages of Debian and Ubuntu that have it."""
SEPARATOR = "; "
"""Separates the absent programs of one test."""
_OFF_PATH = ("/usr/games", "/usr/lib/postgresql/*/bin")
"""Folders where Debian puts programs that are in no PATH."""


def find_program(name: str) -> str | None:
    """Return the path of a program, or None if this machine lacks it."""
    aside = (path for pattern in _OFF_PATH for path in sorted(Path("/").glob(f"{pattern[1:]}/{name}")))
    return shutil.which(name) or next(map(str, aside), None)


def require(*programs: str) -> None:
    """Skip the running test, or the tests of the fixture that calls this, if the machine lacks a program.

    Args:
        programs: names among PACKAGES.
    """
    import pytest  # noqa: PLC0415  # `.ci/run` runs this file before it has installed pytest

    if absent := [name for name in programs if find_program(name) is None]:
        pytest.skip(SEPARATOR.join(f"no {name} (apt-get install {PACKAGES[name]})" for name in absent))


def require_sandbox() -> "Sandbox":
    """Return the sandbox of this machine; skip the running test if bubblewrap is absent."""
    from referee.programs.sandbox import find_sandbox  # noqa: PLC0415  # as pytest

    require("bwrap")
    return find_sandbox()


if __name__ == "__main__":
    print(*(packages for name, packages in PACKAGES.items() if find_program(name) is None))
