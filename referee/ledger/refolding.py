"""Reads a tournament's records and plays through what they say, into a ledger.

Refuses to take a record for more than it proves: one that is no match of the spec, or was not to be played when it
says that it was, stops everything.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from .. import chance
from ..games.base import BadSetup
from ..match.setup import MatchSetup
from ..pairing.base import PairingFormat
from ..plugins import PluginError, find_game, installed
from ..record.audit.audit import audit
from ..record.match_entries import course, entry_of
from ..record.reader import RecordError, check_key, read_record
from ..record.spec_file import SpecFile
from ..record.tournament_folder import has_line
from ..tournament.machine import GivenUp, NotOpen, Tournament
from ..tournament.match_context import MatchContext, MatchEntry
from ..tournament.spec import TournamentSpec
from .ledger import Ledger
from .observer import LedgerObserver


class Refolded(Struct, frozen=True, kw_only=True):
    """What a record says of its tournament."""

    path: Path
    opened: str
    """The time of day, for people."""
    setup: MatchSetup
    context: MatchContext
    entry: MatchEntry | None
    """None if the match is not over."""


def examined(path: Path, *, tournament: str, keys: Collection[str], is_audited: bool) -> Refolded | None:
    """Read a record.

    Args:
        path: the record.
        tournament: the name of the one that is looked for.
        keys: public keys, one of which must have sealed it; empty: the one that it names itself.
        is_audited: whether the match is folded again.

    Returns:
        None if it is of another tournament or of none, or its match was never begun.

    Raises:
        RecordError: it does not hold.
        OSError: it can't be read.
    """
    if not has_line(path):
        return None
    try:
        known = installed()
        record = (
            audit(path, known.game, keys=keys, is_strict=False, moves_in=known.moves_in)
            if is_audited
            else read_record(path)
        )
    except PluginError as error:
        raise RecordError(path, 1, str(error), "none") from None
    header = record.header
    if header.context is None or header.context.tournament != tournament:
        return None
    check_key(path, 1, header.key, keys)
    if header.setup.match != path.stem:
        raise RecordError(path, 1, f"the match {path.stem}, after which the file is called", header.setup.match)
    entry = None if record.state == "unfinished" else entry_of(record)
    return Refolded(path=path, opened=header.opened, setup=header.setup, context=header.context, entry=entry)


def in_order(findings: Sequence[Refolded]) -> list[Refolded]:
    """Return the matches that are over, in the order in which their results were taken.

    Raises:
        BadCourse: a record is missing, or contradicts another.
    """
    of_match = {found.setup.match: found for found in findings}
    unfinished = {found.setup.match: found.context for found in findings if found.entry is None}
    ordered = course((found.entry for found in findings if found.entry is not None), unfinished)
    return [of_match[entry.match] for entry in ordered]


def refold(
    spec_file: SpecFile,
    format_: PairingFormat[Any],
    findings: Sequence[Refolded],
    results: Sequence[Refolded],
    ledger: Ledger,
) -> Tournament:
    """Play a tournament through, and write it into a ledger.

    Args:
        spec_file: its spec and salt.
        format_: of the spec's name.
        findings: from all its records.
        results: those of matches that are over, in the order in which their results were taken.
        ledger: which does not have it yet.

    Raises:
        BadFormat: the format can't be played with the spec's options and entrants.
        RecordError: a record is of no match of this tournament.
        LedgerError: the ledger can't be written.
    """
    spec = spec_file.spec
    dealer = chance.Dealer(chance.derive(bytes.fromhex(spec_file.salt), "format"))
    tournament = Tournament(spec, format_, dealer)
    ledger.found(spec, spec_file.salt)
    for found in sorted(findings, key=lambda found: found.context.opening):
        _check_setup(found, spec)
        ledger.opened(found.setup.match, found.context, found.opened)
    for result in results:
        _take(result, tournament, ledger)
    return tournament


def _take(refolded: Refolded, tournament: Tournament, ledger: Ledger) -> None:
    """Take a result as the referee took it.

    Raises:
        RecordError: the match was not to be played then.
    """
    assert refolded.entry is not None, "only what is over is taken"
    try:
        suspended = tournament.take(refolded.entry)
    except GivenUp:
        suspended = None  # it came too late, and is kept as such
    except NotOpen as error:
        raise RecordError(refolded.path, 1, "a match that was to be played then", str(error)) from None
    LedgerObserver(ledger, at=lambda: refolded.opened).result_taken(refolded.entry, suspended)


def _check_setup(refolded: Refolded, spec: TournamentSpec) -> None:
    """Check that a match was played as the spec has it.

    Raises:
        RecordError: it was not.
    """
    setup, entrants = refolded.setup, refolded.context.entrants
    if not all(0 <= entrant < len(spec.entrants) for entrant in entrants):
        raise RecordError(refolded.path, 1, f"entrants from 0 to {len(spec.entrants) - 1}", f"{list(entrants)}")
    expected = {
        "game": spec.game,
        "options": _options(refolded.path, spec.game, spec.options),
        "names": tuple(spec.entrants[entrant].name for entrant in entrants),
        "acknowledge": spec.acknowledge,
        "time": spec.time,
        "lag_margin_ms": spec.lag_margin_ms,
    }
    found = {name: getattr(setup, name) for name in expected}
    found["options"] = _options(refolded.path, setup.game, setup.options)
    for name, value in expected.items():
        if found[name] != value:
            raise RecordError(refolded.path, 1, f"{name} {value!r:.140}, as the spec has it", f"{found[name]!r:.140}")


def _options(path: Path, game: str, options: dict[str, Any]) -> Any:
    """Return options of a game with their defaults.

    Raises:
        RecordError: the game is not known, or they are not its options.
    """
    try:
        return find_game(game).parse_options(dict(options))
    except (PluginError, BadSetup) as error:
        raise RecordError(path, 1, f"a game with its options: {error}", "none") from None
