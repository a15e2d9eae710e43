"""Begins a tournament's record in its folder, or reads the record that is there, to go on with it."""

import contextlib
import fcntl
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ... import __version__
from ...clock import wall_clock
from ...errors import BadRequest, RemediableError
from ...net.tournaments.play import Recorder, make_salt
from ...observers import Observer, Observers
from ...programs.build import content_hash
from ...programs.player_spec import PlayerError
from ...record.audit.times import presences
from ...record.key import Sealer
from ...record.reader import RecordError, read_record
from ...record.resume import TORN, has_line
from ...record.tournament_record import (
    TournamentRecord,
    TournamentStart,
    TournamentWriter,
    find_record,
    find_start,
    read_tournament,
    record_path,
    refold,
)
from ...tournament import events as e
from ...tournament.history import new_tournament
from ...tournament.machine import Tournament
from ...tournament.match_context import MatchContext
from ...tournament.pairing.base import PairingFormat
from ...tournament.pairing.dutch import MAY_CHANGE
from ...tournament.spec import REMOTE, Participant, TournamentSpec, differences
from ..players import find_folder


def hash_programs(entrants: Iterable[Participant]) -> dict[str, str]:
    """Return the SHA-256, in hex, of every entrant's folder, by name; an unreadable one is left out."""
    hashes = {}
    for entrant in entrants:
        folder = None if entrant.player == REMOTE else find_folder(entrant.player)
        if folder is not None and folder.is_dir():
            with suppress(PlayerError):  # its build or its start fails for the same reason, and reports it
                hashes[entrant.name] = content_hash(folder)
    return hashes


def note_changes(recorder: Recorder, programs: dict[str, str]) -> list[str]:
    """Record which programs have changed.

    Args:
        recorder: recorder of the tournament.
        programs: entrant -> SHA-256 of its folder when it was last checked; this function updates it.

    Returns:
        Names of the entrants whose programs have changed.
    """
    entrants = recorder.tournament.spec.entrants
    now = hash_programs(entrants)
    names = []
    for index, entrant in enumerate(entrants):
        name, digest = entrant.name, now.get(entrant.name)
        if digest is not None and digest != programs.get(name):
            names.append(name)
            programs[name] = digest
            recorder.take(e.ProgramChanged(at=recorder.clock(), entrant=index, digest=digest))
    return names


LOCK = ".lock"
_REMEDY = "wait until it is over, or stop that referee with Ctrl-C"
_SALT_BYTES = 16
_SHOWN_CHARS, _SHOWN_NAMES = 80, 3


class LoadedTournament(Struct, frozen=True, kw_only=True):
    """A tournament whose record was read or begun: its state, and the writer that continues the record."""

    begun: TournamentStart
    tournament: Tournament
    writer: TournamentWriter
    is_new: bool = False
    """True if the tournament begins now."""
    over_at: str | None = None
    """The time of day at which it was over; None: there was more to be played."""
    opened: frozenset[str] = frozenset()
    """Every match that was ever opened."""
    left: dict[str, MatchContext] = {}
    """Match that is open -> its context."""
    begun_pairings: dict[int, str] = {}
    """Number of a pairing that has begun and is not over -> one of its matches that is over."""
    hosts: dict[str, str] = {}
    """Name of a process in records -> the host of a cluster on which it ran."""

    def where(self, folder: Path) -> dict[int, str]:
        """Return the numbers of the pairings that are begun and not over, each with the host that it was played on.

        Args:
            folder: folder of the records.
        """
        processes = ((number, _process(folder / f"{match}.jsonl")) for number, match in self.begun_pairings.items())
        return {number: self.hosts[process] for number, process in processes if process in self.hosts}


def load_or_begin(
    folder: Path, spec: TournamentSpec, format_: PairingFormat[Any], sealer: Sealer, observers: Observers
) -> LoadedTournament:
    """Begin a tournament's record, or read the record that is there.

    Raises:
        BadFormat: the format can't be played with the spec's options and entrants.
        BadRequest: the folder holds another tournament; the text says how it differs.
        RecordError: the record does not hold, or was sealed by another key.
        OSError: the machine failed.
    """
    path = find_record(folder) or record_path(folder, spec.name)
    # A crash right after the file was made leaves no whole line. Such a file is useless as a record, but it is evidence
    # of the crash: it is renamed, not deleted.
    if path.exists() and not has_line(path):
        path.rename(path.with_suffix(TORN))
    if not path.exists():
        return _begin(path, spec, format_, sealer, observers)
    record = read_tournament(path)
    if record.header.key != sealer.public:
        raise RecordError(path, 0, f"key {sealer.public}, the referee's key", f"key {record.header.key}")
    begun = find_start(record.header, record.transitions)
    _check_same(folder, begun.spec, spec)
    return _continue(partial(TournamentWriter, path, sealer, record.chain.end), record, begun, format_, observers)


def _begin(
    path: Path, spec: TournamentSpec, format_: PairingFormat[Any], sealer: Sealer, observers: Observers
) -> LoadedTournament:
    salt = secrets.token_hex(_SALT_BYTES) if spec.seed is None else make_salt(spec.seed)
    tournament = new_tournament(spec, format_, salt)
    programs = hash_programs(spec.entrants)
    writer = TournamentWriter(path, sealer)
    writer.write_header(spec, salt, programs, referee=__version__, opened=wall_clock())
    observers.notify(Observer.on_tournament_founded, spec, salt, sealer.public)
    begun = TournamentStart(spec, len(spec.entrants), salt, programs, {})
    return LoadedTournament(begun=begun, tournament=tournament, writer=writer, is_new=True)


def _continue(
    reopen: Callable[[], TournamentWriter],
    record: TournamentRecord,
    begun: TournamentStart,
    format_: PairingFormat[Any],
    observers: Observers,
) -> LoadedTournament:
    observers.notify(Observer.on_tournament_founded, record.header.spec, begun.salt, record.header.key)
    tournament = new_tournament(record.header.spec, format_, begun.salt)
    begun_pairings: dict[int, str] = {}
    for transition in refold(record, tournament.handle):
        observers.notify(Observer.on_tournament_advanced, transition)
        if isinstance(transition.event, e.MatchClosed):
            observers.notify(Observer.on_match_recalled, transition.event.entry)
            if transition.event.entry.void is None:
                begun_pairings[transition.event.entry.fixture.number] = transition.event.entry.match
        for played in tournament.concluded:
            begun_pairings.pop(played.pairing.number, None)
    contexts = record.contexts
    return LoadedTournament(  # the record itself is not kept: a season of months takes hundreds of megabytes
        begun=begun,
        tournament=tournament,
        writer=reopen(),  # only now: a record that does not hold is left as it is
        is_new=not record.transitions,
        over_at=record.transitions[-1].event.at if record.is_finished else None,
        opened=frozenset(contexts),
        left={match: contexts[match] for match in tournament.playing},
        begun_pairings=begun_pairings,
        hosts={
            transition.event.process: transition.event.host
            for transition in record.transitions
            if isinstance(transition.event, e.HostCame)
        },
    )


def _process(path: Path) -> str:
    """Return the name of the process that played a match, by its record; empty if that can't be read."""
    with contextlib.suppress(RecordError, OSError):
        return presences(read_record(path))[0].process
    return ""


def _check_same(folder: Path, kept: TournamentSpec, spec: TournamentSpec) -> None:
    """Check that a tournament is the one that was begun, perhaps with more entrants."""
    count = len(kept.entrants)
    # Late entrants come after those of the start, and join by an event of their own.
    wanted = replace(spec, entrants=spec.entrants[:count]) if len(spec.entrants) > count else spec
    if "pairing_program" in kept.format_options:
        same = {key: value for key, value in kept.format_options.items() if key in MAY_CHANGE}
        others = {key: value for key, value in wanted.format_options.items() if key not in MAY_CHANGE}
        wanted = replace(wanted, format_options={**others, **same})
    if kept != wanted:
        names = {entrant.name for entrant in spec.entrants}
        if any(entrant.name not in names for entrant in kept.entrants):
            # Otherwise the entrants after the missing ones would be reported, too.
            wanted = replace(wanted, entrants=spec.entrants)
        parts = [_difference(*difference) for difference in differences(kept, wanted).items()]
        remedy = "change that back to go on with it, or give the new tournament a name of its own"
        raise BadRequest(f"{folder} holds a tournament that began differently: {'; '.join(parts)}; {remedy}")


def _difference(key: str, values: tuple[Any, Any]) -> str:
    """Return in words how one key of a tournament has changed."""
    if key != "entrants":
        return f"{key} was {_word_value(values[0])}, is {_word_value(values[1])}"
    old, new = ({entrant["name"]: entrant for entrant in entrants} for entrants in values)
    changes = {
        "no longer among the entrants": old.keys() - new.keys(),
        "new among them": new.keys() - old.keys(),
        "given another program or rating": {name for name in old.keys() & new.keys() if old[name] != new[name]},
    }
    parts = [
        f"{_list_names(names)} {'is' if len(names) == 1 else 'are'} {what}" for what, names in changes.items() if names
    ]
    return ", ".join(parts) or "the entrants stand in another order"


def _list_names(names: Collection[str]) -> str:
    *first, last = sorted(names)
    if len(first) >= _SHOWN_NAMES:
        return f"{', '.join(first[:_SHOWN_NAMES])} and {len(names) - _SHOWN_NAMES} more"
    return f"{', '.join(first)} and {last}" if first else last


def _word_value(value: Any) -> str:
    text = "not given" if value is None else msgspec.json.encode(value).decode()
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."


class TournamentInUse(RemediableError):
    """A tournament that another referee plays."""


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Lock the folder within a block, so that no other referee runs its tournament.

    Raises:
        TournamentInUse: another one plays this tournament.
    """
    # This is a lock of the kernel, not a file with the number of a process: the kernel releases it however the process
    # ends. So nobody ever has to decide whether an old lock still counts.
    with (folder / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TournamentInUse(f"another referee runs the tournament of {folder}", _REMEDY) from None
        yield


def is_locked(folder: Path) -> bool:
    """Return whether a referee runs the tournament of a folder; change nothing there."""
    try:
        with (folder / LOCK).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
