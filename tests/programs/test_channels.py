"""The channels between sandboxed programs are closed, and an open one would be found."""

import os

from msgspec.structs import replace

from referee.programs.confining import Confinement
from referee.programs.control_groups import find_control_groups
from tests.benchmarks.channels import TIMED, Together, TriedChannel, tried

from ..needs import require_sandbox


def open_channels(found: list[TriedChannel]) -> set[tuple[str, Together]]:
    """Return the channels that carry bits; channels by timing are left to the benchmark."""
    leaking = [channel for channel in found if channel.leaks and not channel.is_known]
    return {(channel.name, channel.together) for channel in leaking if channel.name != TIMED}


def test_no_channel_is_open() -> None:
    """No channel works in one match or from one match to the next."""
    assert open_channels(tried(Confinement(sandbox=require_sandbox(), groups=find_control_groups()))) == set()


def test_open_channels_are_found() -> None:
    """Without the filter, locks carry bits in a match, and hints on a program's own files even to the next one."""
    found = open_channels(
        tried(Confinement(sandbox=replace(require_sandbox(), is_filtered=False), groups=find_control_groups()))
    )
    assert {("lock of a file", Together.AT_ONCE), ("lock of a byte", Together.AT_ONCE)} <= found
    owns_system = os.geteuid() == 0  # only the owner of a file can mark it
    assert (("hint of a file", Together.AFTER) in found) == owns_system
