"""`referee fairness`: report from records how fairly the referee measured the players' time."""

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import rich_click as click
from msgspec import Struct
from rich.table import Column
from rich.table import Table as RichTable

from ...app.records.audit import find_records
from ...record.reader import RecordError, read_record
from ...record.timing import Fairness, Timing, fairness, timings
from ...record.tournament_record import is_tournament
from ..common import console, harmless, json_option, numbers, out, paths_argument, print_json
from ..errors import FAILED


class FairnessReport(Struct, frozen=True, kw_only=True):
    """Figures about the fairness of time measurement."""

    records: list[tuple[str, Fairness]]
    """Path and figures of each record."""
    total: Fairness
    broken: list[str]
    """Errors of the files that are not records; each error names its file."""


def measure_fairness(paths: Sequence[Path]) -> FairnessReport:
    """Read the records of matches, and return their figures.

    Args:
        paths: record files, or folders of them.

    Raises:
        BadRequest: a path does not exist, or has no record.
    """
    records: list[tuple[str, Fairness]] = []
    everything: list[Timing] = []
    broken: list[str] = []
    for path in find_records(paths):
        if is_tournament(path):
            continue  # a tournament's own record has no times of players
        try:
            record_timings = timings(read_record(path))
        except RecordError as error:
            broken.append(str(error))
            continue
        everything += record_timings
        records.append((str(path), fairness(record_timings)))
    return FairnessReport(records=records, total=fairness(everything, len(records)), broken=broken)


_COLUMNS = ("answers", "50 %", "95 %", "99 %", "most", "stills", "longest", "close", "late", "unsure")
_WIDE_COLUMNS = ("95 %", "99 %", "stills")
"""Columns that are shown only on a terminal of at least _WIDE columns."""
_WIDE = 72
_KEY = """
50 % to most: the referee's lag for an answer, in ms: the referee was busy elsewhere; no player is charged for it
stills, longest: requests during which the referee stood still, and the longest standstill in ms
close: answers in the last tenth of their limit; late: expulsions for time
unsure: answers that were too late, but the referee had stood still so long that nobody can say whose fault it was
"""


@click.command("fairness", epilog="Example:  referee fairness logs/")
@paths_argument
@json_option
def fairness_command(paths: tuple[Path, ...], as_json: bool) -> None:
    """Report how fairly the referee measured the players' time: PATHS are record files or folders of them.

    For each match and for all matches together, it shows the referee's own lag and its standstills, which are never
    charged to a player. It also shows how many answers came within the last tenth of their limit, the time that each
    player used, and the times of each worker or host.

    It lists every expulsion for time with the referee's share, and every late answer that was not judged because the
    referee stood still.

    It checks the chain and the seal of each record; `referee audit` checks everything else.

    Exit status: 0 reported, 1 a file is not a record, 2 usage error.
    """
    report = measure_fairness(paths)
    if as_json:
        records = [{"record": record, **msgspec.to_builtins(figures)} for record, figures in report.records]
        print_json({"records": records, "all": report.total, "broken": report.broken})
    else:
        _show(report)
    sys.exit(FAILED if report.broken else 0)


def _show(report: FairnessReport) -> None:
    if report.records:
        out.print(_matches(report))
        out.print(_KEY, highlight=False)
        out.print(_players(report.total))
        if len(report.total.processes) > 1:
            out.print()
            out.print(_processes(report.total))
    cases = (
        ("expelled for time", report.total.late),
        ("not judged, because the referee stood still", report.total.voided),
    )
    for title, timings_of_case in cases:
        if timings_of_case:
            out.print()
            out.print(_cases(title, timings_of_case))
    for error in report.broken:
        console.print(f"not a record: {error}", style="red", markup=False, highlight=False, soft_wrap=True)


def _matches(report: FairnessReport) -> RichTable:
    table = RichTable(box=None, pad_edge=False, collapse_padding=True)
    shown = [column for column in _COLUMNS if out.width >= _WIDE or column not in _WIDE_COLUMNS]
    table.add_column("record", overflow="fold", min_width=10)  # the only column that shrinks on a narrow terminal
    for column in shown:
        table.add_column(column, justify="right", no_wrap=True)
    for record, timing in report.records:
        figures = _figures(timing)
        table.add_row(harmless(Path(record).stem), *(figures[column] for column in shown))
    total = _figures(report.total)
    table.add_row(f"all {len(report.records)}", *(total[column] for column in shown), style="bold")
    return table


def _figures(total: Fairness) -> dict[str, str]:
    lag = (total.lag.median_ms, total.lag.p95_ms, total.lag.p99_ms, total.lag.most_ms)
    counts = (total.close, len(total.late), len(total.voided))
    standstill = f"{total.longest_standstill_ms:.1f}"
    figures = (total.answers, *(f"{ms:.1f}" for ms in lag), total.standstills, standstill, *counts)
    return dict(zip(_COLUMNS, map(str, figures), strict=True))


def _players(total: Fairness) -> RichTable:
    columns: list[Column | str] = ["player", *numbers("answers", "median", "most")]
    table = RichTable(*columns, show_edge=False, title="time used for an answer in ms", title_justify="left")
    for player in total.players:
        table.add_row(harmless(player.name), str(player.answers), f"{player.median_ms:.1f}", f"{player.most_ms:.1f}")
    return table


def _processes(total: Fairness) -> RichTable:
    columns = numbers("matches", "answers", "median", "most", "lag", "stills")
    title = "time used for an answer in ms, by worker or host"
    table = RichTable("process", *columns, show_edge=False, title=title, title_justify="left")
    for process in total.processes:
        times = (f"{ms:.1f}" for ms in (process.median_ms, process.most_ms, process.lag_ms))
        counts = (harmless(process.process), str(process.matches), str(process.answers))
        table.add_row(*counts, *times, str(process.standstills))
    return table


def _cases(title: str, timings: Sequence[Timing]) -> RichTable:
    columns = numbers("line", "seat", "player", "used", "limit", "lag", "standstill")
    match = Column("match", overflow="fold")
    table = RichTable(match, *columns, show_edge=False, title=f"{title}, in ms", title_justify="left")
    for timing in timings:
        times = (timing.used_ms, timing.limit_ms, timing.lag_ms, timing.stalled_ms)
        where = (harmless(timing.match), str(timing.line), str(timing.seat), harmless(timing.name))
        table.add_row(*where, *(f"{ms:.1f}" for ms in times))
    return table
