"""Launched programs: how a player is given, what its program is held to, how it starts and ends."""

from .build import BUILDS, Builds, content_hash
from .control_groups import find_ground
from .file_view import FileAccess
from .limits import MEMORY_MIB, ProgramLimits
from .player_spec import (
    Launch,
    PlayerError,
    PlayerKind,
    PlayerSpec,
    command_launch,
    house_launch,
    no_folder,
    parse_player,
    read_folder,
    resolved,
)
from .program import Confinement, Invitation, Program
from .sandbox import NoSandboxError, find_sandbox

__all__ = [
    "BUILDS",
    "MEMORY_MIB",
    "Builds",
    "Confinement",
    "FileAccess",
    "Invitation",
    "Launch",
    "NoSandboxError",
    "PlayerError",
    "PlayerKind",
    "PlayerSpec",
    "Program",
    "ProgramLimits",
    "command_launch",
    "content_hash",
    "find_ground",
    "find_sandbox",
    "house_launch",
    "no_folder",
    "parse_player",
    "read_folder",
    "resolved",
]
