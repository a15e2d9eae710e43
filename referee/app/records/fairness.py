"""Tells how fairly players' time was kept, record by record and for all of them together."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from ...record.reader import RecordError, read_record
from ...record.timing import Fairness, Timing, fairness, timings
from ...record.tournament_record import is_tournament
from .audit import find_records


class FairnessReport(Struct, frozen=True, kw_only=True):
    """What records tell of fairness in time."""

    records: list[tuple[str, Fairness]]
    """Path and figures of each."""
    total: Fairness
    broken: list[str]
    """What is wrong with each file that is no record, its path included."""


def fairness_of(paths: Sequence[Path]) -> FairnessReport:
    """Read the records of matches, and return their figures.

    Args:
        paths: record files, or folders of them.

    Raises:
        NoRecords: there is no such path, or no record below it.
    """
    records: list[tuple[str, Fairness]] = []
    everything: list[Timing] = []
    broken: list[str] = []
    for path in find_records(paths):
        if is_tournament(path):
            continue  # no player's time stands in it
        try:
            found = timings(read_record(path))
        except RecordError as error:
            broken.append(str(error))
            continue
        everything += found
        records.append((str(path), fairness(found)))
    return FairnessReport(records=records, total=fairness(everything, len(records)), broken=broken)
