"""Conducts a tournament in its folder, from the start or from where it was left."""

import fcntl
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from twisted.internet.defer import CancelledError

from .. import chance
from ..clock import wall_clock
from ..errors import BadRequest, Interrupted
from ..launch import BUILDS, Builds, Launch, PlayerError
from ..ledger.ledger import FILE, Ledger, url_of
from ..ledger.observer import LedgerObserver
from ..net.tournaments.recorder import Recorder
from ..net.tournaments.run_settings import RunSettings
from ..net.tournaments.runner import TournamentCourse, TournamentRunner, TournamentStopped
from ..net.tournaments.seeds import MatchSeeds, salt_of
from ..observers import InThread, Observer, Observers
from ..pages.causes import short_cause
from ..pairing.base import PairingFormat
from ..plugins import find_game
from ..record.reader import RecordError
from ..record.recovery import Recovery, recover
from ..record.spec_file import SpecFile, read_spec_file, write_spec_file
from ..tournament.machine import NotOpen, Tournament
from ..tournament.match_context import MatchEntry
from ..tournament.spec import REMOTE, TournamentSpec, differences
from .players import find_player
from .program_changes import at_end, at_start
from .running import run_reactor
from .services import Monitoring, Say, Services, monotonic

LOCK = ".lock"
_SALT_BYTES = 16


class Conducted(Struct, frozen=True, kw_only=True):
    """A tournament as it stands after its referee's work."""

    spec: TournamentSpec
    salt: str
    tournament: Tournament
    is_over: bool
    """False: it was stopped, and the same command goes on with it."""
    was_over: bool
    """True: it was over before, and nothing was played."""


def conduct(
    spec: TournamentSpec,
    format_: PairingFormat[Any],
    run_settings: RunSettings,
    at_hand: Services,
    total: int | None = None,
) -> Conducted:
    """Run a tournament, or go on with it, until it is over or stopped.

    Args:
        spec: what is played.
        format_: of the spec's name.
        run_settings: where and how.
        at_hand: of the referee.
        total: how many matches there will be, if that is known; for observers.

    Raises:
        BadRequest: what is asked for can't be played, or the folder is another tournament's, or in use.
        TournamentStopped: it can't go on, or a record or the ledger does not hold.
        LedgerError: the ledger failed.
        OSError: the machine failed.
    """
    folder, observers = run_settings.folder, at_hand.match.observers
    folder.mkdir(parents=True, exist_ok=True)
    with (
        locked(folder),
        _telling_what_to_do(),
        closing(Ledger(run_settings.ledger or url_of(folder / FILE))) as ledger,
    ):
        salt = _founded(ledger, folder, spec)
        tournament = Tournament(spec, format_, chance.Dealer(chance.derive(bytes.fromhex(salt), "format")))
        entries = _recalled(ledger.entries(spec.name), observers)
        recovery = recover(tournament, entries, folder, find_game, at_hand.match.sealer)
        was_over = tournament.is_over
        launches = _launches(spec, folder, at_hand)
        if not was_over:
            _note(observers, at_start(folder, spec.entrants, wall_clock()))
        course = TournamentCourse(
            game=find_game(spec.game),
            tournament=tournament,
            recorder=Recorder(tournament, observers, recovery.openings, recovery.untold),
            launches=launches,
            broken_off=recovery.open,
            seeds=MatchSeeds(secret=at_hand.match.sealer.secret(salt), seed=spec.seed, duplicate=spec.duplicate),
        )
        make = partial(
            TournamentRunner, now=monotonic, course=course, run_settings=run_settings, services=at_hand.match
        )
        with observers.also(InThread(LedgerObserver(ledger), most_waiting=0, linger_s=None)):
            is_over = _run(make, total, recovery, at_hand.monitoring)
        if not was_over:  # whoever works on a program afterwards changes nothing
            _note(observers, at_end(folder, spec.entrants, wall_clock(), is_over=is_over))
    return Conducted(spec=spec, salt=salt, tournament=tournament, is_over=is_over, was_over=was_over)


def _note(observers: Observers, warnings: Iterable[str]) -> None:
    for warning in warnings:
        observers.tell(Observer.noted, warning)


def _recalled(entries: Iterable[MatchEntry], observers: Observers) -> Iterator[MatchEntry]:
    """Yield what is in the ledger, and let observers see it go by."""
    for entry in entries:
        observers.tell(Observer.match_recalled, entry)
        yield entry


def _run(
    make: Callable[[Any], TournamentRunner], total: int | None, recovery: Recovery, monitoring: Monitoring
) -> bool:
    """Run the reactor until the tournament is over; return False if it was stopped before."""

    async def _main(reactor: Any) -> bool:
        async with monitoring.opened(reactor):
            try:
                await make(reactor).run(total, recovery.leftover)
            except CancelledError:
                return False
        return True

    try:
        return run_reactor(_main)
    except Interrupted:
        return False


@contextmanager
def _telling_what_to_do() -> Iterator[None]:
    """Say what to do about records and a ledger that do not hold."""
    try:
        yield
    except RecordError as error:
        text = f"{error}; a tournament goes on from records that hold: put this one aside, and its match is played anew"
        raise TournamentStopped(text) from None
    except NotOpen as error:
        text = f"the ledger does not fit: {error}; make it again from the records with `referee rebuild`"
        raise TournamentStopped(text) from None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other referees from the folder.

    Raises:
        BadRequest: another one runs this tournament.
    """
    with (folder / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadRequest(f"another referee runs the tournament of {folder}") from None
        yield


def _salt(spec: TournamentSpec) -> str:
    return secrets.token_hex(_SALT_BYTES) if spec.seed is None else salt_of(spec.seed)


def _founded(ledger: Ledger, folder: Path, spec: TournamentSpec) -> str:
    """Write down what the tournament is, or see to it that it is the one that is written down.

    Returns:
        The tournament's salt.

    Raises:
        BadRequest: it differs; the text says in what.
    """
    kept = read_spec_file(folder)
    salt = _salt(spec)
    if kept is None:
        write_spec_file(folder, SpecFile(spec=spec, salt=salt))
    elif kept.spec != spec:
        parts = [f"{name} was {old!r:.80}, is {new!r:.80}" for name, (old, new) in differences(kept.spec, spec).items()]
        remedy = "change that back to go on with it, or give the new tournament a name of its own"
        raise BadRequest(f"{folder} holds a tournament that was begun otherwise: {'; '.join(parts)}; {remedy}")
    else:
        salt = kept.salt
    ledger.found(spec, salt)
    return salt


def _launches(spec: TournamentSpec, folder: Path, at_hand: Services) -> list[Launch | str | None]:
    """Return by entrant how its program is started, None for a remote one, or why it can't be; builds what is to be."""
    builds = Builds(folder / BUILDS, at_hand.match.confinement)
    return [
        None if entrant.player == REMOTE else _launch(spec.game, entrant.player, entrant.name, builds, at_hand.say)
        for entrant in spec.entrants
    ]


def _launch(game: str, player: str, name: str, builds: Builds, say: Say) -> Launch | str:
    try:
        launch = replace(find_player(player, game, name=name), name=name)
        if builds.build(launch):
            say(f"built {name}")
    except PlayerError as error:
        say(f"{name} can't play: {short_cause(str(error).removeprefix(f'{name}: '))}")
        return str(error)
    return launch
