"""`referee rebuild`: make the ledger of a tournament again from its records."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import msgspec
import rich_click as click

from ...app.conducting import locked
from ...app.pool import each
from ...ledger.ledger import FILE, Ledger, LedgerError, file_of, url_of, without_password
from ...ledger.refolding import Refolded, examined, in_order, refold
from ...pairing.base import BadFormat
from ...plugins import PluginError
from ...record.json_file import BadJsonFile
from ...record.key_file import BadKey, parse_public
from ...record.manifest import NAME as MANIFEST
from ...record.manifest import check_manifest
from ...record.match_entries import BadCourse
from ...record.reader import RecordError
from ...record.spec_file import FILE as SPEC
from ...record.spec_file import SpecFile, read_spec_file
from ...text import counted
from ...tournament.machine import Tournament
from ...tournament.placing import placed
from ...tournament.standings import Standing, UnknownTieBreak
from ..common import Count, console, json_option, out, print_json, registry
from ..errors import FAILED
from .report import standings_table

Folded = tuple[Tournament, tuple[Standing, ...]]
_PARTS = ("", "-wal", "-shm")
"""Endings of the files of an SQLite database."""


@click.command(epilog="Example:  referee rebuild logs/autumn --key referee.pub")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--ledger", "where", help=f"File or URL of the ledger.  [default: FOLDER/{FILE}]")
@click.option("--key", "keys", multiple=True, help="Public key that must have sealed them: 64 hex digits, or a file.")
@click.option("--audit/--no-audit", "is_audited", default=True, help="Whether the matches themselves are verified.")
@click.option("--jobs", type=Count(min=1), default=os.cpu_count() or 1, help="Records at the same time.")
@json_option
def rebuild(folder: Path, where: str | None, keys: tuple[str, ...], is_audited: bool, jobs: int, as_json: bool) -> None:
    """Make the ledger of the tournament in FOLDER again, from its spec and its records alone.

    The records are put into the order in which their results were taken, held to the spec, and played through: who
    met whom, who was suspended and what did not count comes out again. An SQLite ledger is written beside the old one
    and then takes its place; other tournaments in it are kept. In PostgreSQL the database must not have the tournament.

    Exit status: 0 made, 1 a record does not hold or the ledger can't be written, 2 used wrongly.
    """
    try:
        demanded = tuple(parse_public(key) for key in keys)
    except BadKey as error:
        raise click.UsageError(str(error)) from None
    url = url_of(folder / FILE) if where is None else where if "://" in where else url_of(Path(where))
    with _clear_troubles(), locked(folder):
        founding = _founding(folder)
        files = sorted(folder.glob("*.jsonl"))
        if (folder / MANIFEST).exists():
            check_manifest(folder, demanded)
        work = partial(examined, tournament=founding.spec.name, keys=demanded, is_audited=is_audited)
        findings = [one for one in each(work, files, jobs) if one is not None]
        results = in_order(findings)
        tournament, lines = _written(url, founding, partial(_fold, founding, findings, results))
    _show(url, tournament, lines, len(results), len(findings), as_json=as_json)


@contextmanager
def _clear_troubles() -> Iterator[None]:
    """Turn what does not hold, and what can go wrong, into errors that say what to do."""
    try:
        yield
    except (BadJsonFile, BadCourse, RecordError, LedgerError, BadFormat, PluginError, UnknownTieBreak) as error:
        trouble = str(error)
    except OSError as error:
        trouble = f"{error.filename}: {error.strerror}"
    else:
        return
    console.print(f"{trouble}; no ledger was changed", markup=False, highlight=False, soft_wrap=True)
    sys.exit(FAILED)


def _founding(folder: Path) -> SpecFile:
    found = read_spec_file(folder)
    if found is None:
        raise click.UsageError(f"{folder} holds no tournament: it has no {SPEC}")
    return found


def _fold(founding: SpecFile, findings: Sequence[Refolded], results: Sequence[Refolded], ledger: Ledger) -> Folded:
    with ledger.at_once():
        form = registry().format(founding.spec.format)
        tournament = refold(founding, form, findings, results, ledger)
        return tournament, placed(tournament)


def _written(url: str, founding: SpecFile, write: Callable[[Ledger], Folded]) -> Folded:
    """Write a ledger that nobody sees before it is whole.

    Raises:
        LedgerError: it can't be written, another process has it open, or it can't be replaced.
        OSError: it can't be moved into place.
    """
    path, name = file_of(url), founding.spec.name
    if path is not None:
        return _replaced(path, name, write)
    with closing(Ledger(url)) as ledger:
        if ledger.spec(name) is not None:
            raise LedgerError(
                f"the database has the tournament {name!r} already, and a ledger only grows: "
                "name an empty database with --ledger, and use that one from then on"
            )
        return write(ledger)


def _replaced(path: Path, name: str, write: Callable[[Ledger], Folded]) -> Folded:
    """Write a ledger beside the old one, with all other tournaments of that, and move it into its place."""
    scratch = path.with_name(f"{path.name}.new")
    _remove(scratch)
    try:
        with closing(Ledger(url_of(scratch))) as new:
            if path.exists():
                with closing(Ledger(url_of(path))) as old:
                    new.adopt(old, but=name)
                    old.settle()
            folded = write(new)
            new.settle()
        if path.exists():
            Ledger(url_of(path)).settle()  # nobody has opened it meanwhile
        scratch.replace(path)
    finally:
        _remove(scratch)
    return folded


def _remove(path: Path) -> None:
    for part in _PARTS:
        path.with_name(path.name + part).unlink(missing_ok=True)


def _show(
    url: str, tournament: Tournament, lines: Sequence[Standing], results: int, records: int, *, as_json: bool
) -> None:
    if as_json:
        names = [one.name for one in tournament.spec.entrants]
        standings = [{**msgspec.to_builtins(line), "name": names[line.entrant]} for line in lines]
        facts = {"tournament": tournament.spec.name, "ledger": without_password(url), "results": results}
        print_json({**facts, "open": records - results, "is_over": tournament.is_over, "standings": standings})
        return
    out.print(standings_table(tournament))
    left = f", {counted(records - results, 'match', 'matches')} not over" if records > results else ""
    out.print(
        f"{without_password(url)}: {counted(results, 'result')}{left}", markup=False, highlight=False, soft_wrap=True
    )
