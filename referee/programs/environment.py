"""The environment variables of a launched program: those of the referee that it inherits, and those that are added."""

# A program finds the referee, its own token and the mark of its start here. Everything else of the referee's
# environment stays out, because it may hold secrets.

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

HOME = "/home/player"
"""Home folder of a program in a sandbox."""
SOCKET = "/run/referee.sock"
"""Path of the referee's socket inside a sandbox, whatever its path is outside."""
MARK = "REFEREE_PROGRAM"
"""Variable that marks all processes of one program; its values all have one length."""
CHECK_VARIABLE = "REFEREE_CHECK"
"""Variable that marks the processes of one check among many, and what they leave behind."""
_PASSED_ON = (CHECK_VARIABLE, "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV", "SYSTEMROOT")
"""Variables of the referee's own environment without which many programs do not start."""
_OUTSIDE = ("HOME", "TMPDIR")
"""Variables among these that name places which do not exist in a sandbox."""


class Invitation(Struct, frozen=True, kw_only=True):
    """Everything that a launched program needs to reach the referee, and to prove which program it is."""

    address: str
    """Address as players write it; a program with a socket of its own gets the socket's path instead."""
    token: str
    """Token that no other program has."""
    seed: str = ""
    """Seed, in hex, of a player that draws lots; empty if it has none."""

    def variables(self, name: str, socket: Path | None) -> dict[str, str]:
        """Return the variables that invite a program.

        Args:
            name: the player's name.
            socket: the program's own socket, outside of its sandbox; None if it has none.
        """
        address = self.address if socket is None else f"unix:{SOCKET}"
        variables = {"REFEREE_ADDRESS": address, "REFEREE_TOKEN": self.token, "REFEREE_NAME": name}
        return variables | ({"REFEREE_PLAYER_SEED": self.seed} if self.seed else {})


def build_environment(added: Mapping[str, str], *, memory_mib: int, is_boxed: bool) -> dict[str, str]:
    """Return the whole environment of a program.

    Args:
        added: variables that this program alone gets.
        memory_mib: memory limit, which some runtimes need to know.
        is_boxed: whether it runs in a sandbox.
    """
    variables = {key: value for key in _PASSED_ON if (value := os.environ.get(key)) is not None}
    if is_boxed:
        variables = {key: value for key, value in variables.items() if key not in _OUTSIDE}
        variables |= {"HOME": HOME, "RUSTUP_HOME": str(rustup_home())}
    return {**variables, "REFEREE_MEMORY_MIB": str(memory_mib), **added}


def rustup_home() -> Path:
    """Return the folder of the compilers that rustup's `cargo` and `rustc` stand for."""
    return Path(os.environ.get("RUSTUP_HOME") or Path.home() / ".rustup").absolute()
