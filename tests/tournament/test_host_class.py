"""Which hosts play in one tournament."""

import pytest

from referee.tournament import events as e
from referee.tournament.host_class import Calibration
from referee.tournament.machine import ImpossibleEvent

from .courses import AT, begun, spec_of


def came(wall_ms: float, processor_ms: float = 8.0) -> e.HostCame:
    """Return that a host came on which work takes so long."""
    calibration = Calibration(tables=2, wall_ms=wall_ms, processor_ms=processor_ms)
    return e.HostCame(at=AT, host="h", process="p", calibration=calibration)


@pytest.mark.parametrize(
    ("other", "is_alike"),
    [
        (came(12.5), True),
        (came(8.0), True),
        (came(12.6), False),
        (came(7.9), False),
        (came(10.0, 10.0), True),
        (came(10.0, 10.1), False),
    ],
    ids=["a quarter slower", "a quarter faster", "slower", "faster", "a slower core", "a core of another class"],
)
@pytest.mark.parametrize("hosts", ["alike", "any"])
def test_hosts_of_one_class_play(other: e.HostCame, *, is_alike: bool, hosts: str) -> None:
    """Unless the tournament is for any; the first one is who the others are compared with, whoever came last."""
    tournament = begun(spec_of(4, hosts=hosts))
    tournament.handle(came(10.0))
    for _ in range(2):
        if is_alike or hosts == "any":
            assert tournament.handle(other) == ()
        else:
            with pytest.raises(ImpossibleEvent, match="another class"):
                tournament.handle(other)
    tournament.handle(came(10.0))
