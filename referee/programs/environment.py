"""The environment variables of a launched program: a few inherited from the referee, and some that are added."""

# The variables contain the address of the referee, the program's token, and the mark of its start. All other variables
# of the referee are left out, because they may hold secrets.

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

HOME = "/home/player"
"""Home folder of a program in a sandbox."""
SOCKET = "/run/referee.sock"
"""Path of the referee's socket inside a sandbox."""
MARK = "REFEREE_PROGRAM"
"""Variable that marks all processes of one program. All its values have the same length."""
CHECK_VARIABLE = "REFEREE_CHECK"
"""Variable that marks all processes of one check, so that leftovers can be found."""
_PASSED_ON = (CHECK_VARIABLE, "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV", "SYSTEMROOT")
"""Variables of the referee's own environment without which many programs do not start."""
_OUTSIDE = ("HOME", "TMPDIR")
"""Variables among these with paths that do not exist in a sandbox."""


class Invitation(Struct, frozen=True, kw_only=True):
    """Everything that a launched program needs to reach the referee, and to prove which program it is."""

    address: str
    """Address of the referee. A program with its own socket gets the path of this socket instead."""
    token: str
    """Token that no other program has."""
    seed: str = ""
    """Seed of a player that draws random numbers, in hex; empty if it has none."""

    def variables(self, name: str, socket: Path | None) -> dict[str, str]:
        """Return the variables that invite a program.

        Args:
            name: the player's name.
            socket: path of the program's own socket outside of the sandbox; None if it has none.
        """
        address = self.address if socket is None else f"unix:{SOCKET}"
        variables = {"REFEREE_ADDRESS": address, "REFEREE_TOKEN": self.token, "REFEREE_NAME": name}
        return variables | ({"REFEREE_PLAYER_SEED": self.seed} if self.seed else {})


def build_environment(added: Mapping[str, str], *, memory_mib: int, is_boxed: bool) -> dict[str, str]:
    """Return the whole environment of a program.

    Args:
        added: variables for this program alone.
        memory_mib: memory limit, which some runtimes need to know.
        is_boxed: True if the program runs in a sandbox.
    """
    variables = {key: value for key in _PASSED_ON if (value := os.environ.get(key)) is not None}
    if is_boxed:
        variables = {key: value for key, value in variables.items() if key not in _OUTSIDE}
        variables |= {"HOME": HOME, "RUSTUP_HOME": str(rustup_home())}
    return {**variables, "REFEREE_MEMORY_MIB": str(memory_mib), **added}


def rustup_home() -> Path:
    """Return the folder of the real compilers that rustup's `cargo` and `rustc` start."""
    return Path(os.environ.get("RUSTUP_HOME") or Path.home() / ".rustup").absolute()
