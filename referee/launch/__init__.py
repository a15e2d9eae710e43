"""Launched programs: how a player is given, what it is held to, how it starts and ends. Refuses to know matches."""

from .build import Builds, content_hash
from .control_groups import Ground, clear_groups, find_ground
from .limits import MEMORY_MIB, ProgramLimits
from .player_spec import Launch, PlayerError, command_launch, house_launch, no_folder, read_folder, resolved
from .program import Confinement, Program
from .sandbox import SOCKET, NoSandboxError, Sandbox, find_sandbox
from .starting import ProcessCommand, start

__all__ = [
    "MEMORY_MIB",
    "SOCKET",
    "Builds",
    "Confinement",
    "Ground",
    "Launch",
    "NoSandboxError",
    "PlayerError",
    "ProcessCommand",
    "Program",
    "ProgramLimits",
    "Sandbox",
    "clear_groups",
    "command_launch",
    "content_hash",
    "find_ground",
    "find_sandbox",
    "house_launch",
    "no_folder",
    "read_folder",
    "resolved",
    "start",
]
