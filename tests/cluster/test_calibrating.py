"""What a fixed piece of work takes on a machine."""

import os

import pytest

from referee.cluster.host import calibrating


def test_all_tables_work_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each in a process of its own; of all that they did, the median counts, in milliseconds."""
    processes = (os.getpid(), os.getpid())

    def _work(work_s: float) -> list[tuple[float, float]]:
        assert os.getppid() in processes
        return [(0.010, 0.004), (0.030, work_s), (0.020, 0.008)]

    monkeypatch.setattr(calibrating, "_work", _work)
    found = calibrating.calibrate(2, 0.006)
    assert (found.tables, found.wall_ms, found.processor_ms) == (2, 20.0, 6.0)


def test_a_table_works_for_as_long_as_it_is_told() -> None:
    """One piece at least, which takes time."""
    assert all(wall > 0 and processor >= 0 for wall, processor in calibrating._work(0.0))
