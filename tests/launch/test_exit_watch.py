"""When the end of a process is told, and which descriptors are open by then."""

import os
import subprocess

from referee.launch.exit_watch import when_ended

from .loop import Loop


def test_an_end_is_told_in_the_next_turn_of_the_loop() -> None:
    """Nothing is closed or opened in the turn that reads it: its other events go by the numbers of descriptors."""
    loop = Loop()
    told: list[int] = []
    with subprocess.Popen(["/bin/true"]) as process:
        when_ended(process, loop, told.append)
        (reader,) = loop._readers
        while process.returncode is None:
            loop.look()
        assert told == []
        os.fstat(reader.fileno())
        loop.advance(0)
        assert told == [0]
    assert loop._readers == []
