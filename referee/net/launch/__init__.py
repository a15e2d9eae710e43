"""Launched programs: how a player is given, what it is held to, how it starts and ends. Refuses to know matches."""

from .build import Builds, content_hash
from .groups import Ground, find_ground
from .limits import ProgramLimits
from .players import Launch, PlayerError, command_launch, house_launch, read_folder, resolved
from .program import Confinement, Program
from .sandbox import SOCKET, NoSandboxError, Sandbox, find_sandbox

__all__ = [
    "SOCKET",
    "Builds",
    "Confinement",
    "Ground",
    "Launch",
    "NoSandboxError",
    "PlayerError",
    "Program",
    "ProgramLimits",
    "Sandbox",
    "command_launch",
    "content_hash",
    "find_ground",
    "find_sandbox",
    "house_launch",
    "read_folder",
    "resolved",
]
