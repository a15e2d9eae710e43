"""Launched programs: how a player is given, what its program is held to, how it starts and ends."""

from .build import BUILDS, Builds, content_hash
from .file_view import FileAccess
from .folder_copy import is_copied, own_copy, quick_copy
from .limits import MEMORY_MIB, ProgramLimits
from .player_spec import (
    Launch,
    PersonPlace,
    PlayerError,
    PlayerKind,
    PlayerSpec,
    house_launch,
    no_folder,
    parse_player,
    read_folder,
    resolved,
)
from .program import Confinement, Invitation, Program
from .sandbox import NoSandboxError

__all__ = [
    "BUILDS",
    "MEMORY_MIB",
    "Builds",
    "Confinement",
    "FileAccess",
    "Invitation",
    "Launch",
    "NoSandboxError",
    "PersonPlace",
    "PlayerError",
    "PlayerKind",
    "PlayerSpec",
    "Program",
    "ProgramLimits",
    "content_hash",
    "house_launch",
    "is_copied",
    "no_folder",
    "own_copy",
    "parse_player",
    "quick_copy",
    "read_folder",
    "resolved",
]
