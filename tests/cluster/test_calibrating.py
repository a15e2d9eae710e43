"""The time that a fixed piece of work takes on a machine."""

import os

import pytest

from referee.cluster import host
from referee.errors import RefereeError

OWN = os.getpid()


def work(work_s: float) -> list[tuple[float, float]]:
    """A stand-in for the work of a table."""
    assert os.getpid() != OWN
    return [(0.010, 0.004), (0.030, work_s), (0.020, 0.008)]


def test_of_all_pieces_the_median_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each table does its pieces in a process of its own."""
    monkeypatch.setattr(host, "work_pieces", work)
    found = host.calibrate(2, 0.006)
    assert (found.tables, found.wall_ms, found.processor_ms) == (2, 20.0, 6.0)


def test_a_table_does_one_piece_at_least() -> None:
    """This holds however short the time is."""
    ((wall_s, processor_s),) = host.work_pieces(0.0)
    assert wall_s > 0
    assert processor_s >= 0


def test_a_machine_may_be_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to do."""

    def _no_more(*_: object, **__: object) -> None:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(host, "ProcessPoolExecutor", _no_more)
    with pytest.raises(RefereeError, match="fewer --tables"):
        host.calibrate(2)
