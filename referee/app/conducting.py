"""Conducts a tournament in its folder, from the start or from where it was left. What `tournament` and `compare` share.

Knows the folder, the entrants' programs and what can go wrong. Refuses to know how a tournament was asked for.
"""

import fcntl
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import rich_click as click
from msgspec import Struct
from msgspec.structs import replace
from twisted.internet.defer import CancelledError

from .. import chance
from ..cli.commands.play import BUILDS
from ..cli.common import console, find_game, monotonic, registry
from ..cli.options.monitoring import Monitoring
from ..cli.options.players import find_launch
from ..launch import Builds, Confinement, Launch, PlayerError
from ..ledger.ledger import FILE, Ledger, LedgerError, url_of
from ..net.links.addresses import stopped
from ..net.tournaments.observers import Observers
from ..net.tournaments.recorder import Recorder, wall_clock
from ..net.tournaments.run_settings import RunSettings
from ..net.tournaments.runner import TournamentRunner, TournamentStopped
from ..net.tournaments.seeds import MatchSeeds, salt_of
from ..pages.causes import short_cause
from ..pairing.base import BadFormat, PairingFormat
from ..plugins import PluginError
from ..record.json_file import BadJsonFile
from ..record.reader import RecordError
from ..record.recovery import TakenUp, take_up
from ..record.seal import Sealer
from ..record.spec_file import SpecFile, read_spec_file, write_spec_file
from ..tournament.machine import NotOpen, Tournament
from ..tournament.match_context import MatchEntry
from ..tournament.spec import REMOTE, TournamentSpec, differences
from .program_changes import at_end, at_start
from .running import clear_errors, run_reactor

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
    *,
    total: int | None,
    sealer: Sealer,
    confinement: Confinement,
    watch: Observers,
    watched: Monitoring,
) -> Conducted:
    """Run a tournament, or go on with it, until it is over or stopped.

    Args:
        spec: what is played.
        format_: of the spec's name.
        run_settings: where and how.
        total: how many matches there will be, if that is known; for those who watch.
        sealer: the key that seals the records.
        confinement: what launched programs are held to.
        watch: who is told what happens.
        watched: where the referee tells of itself.

    Raises:
        click.UsageError: what is asked for can't be played, or the folder is another tournament's.
        click.ClickException: the machine failed, or a record does not hold.
    """
    run_settings.folder.mkdir(parents=True, exist_ok=True)
    with _clear_troubles(), locked(run_settings.folder):
        with closing(Ledger(run_settings.ledger or url_of(run_settings.folder / FILE))) as ledger:
            salt = _founded(ledger, run_settings.folder, spec)
            dealer = chance.Dealer(chance.derive(bytes.fromhex(salt), "format"))
            tournament = Tournament(spec, format_, dealer)
            taken_up = take_up(
                tournament, _recalled(ledger.entries(spec.name), watch), run_settings.folder, find_game, sealer
            )
            was_over = tournament.is_over
            launches = _launches(spec, run_settings.folder, confinement)
            if not was_over:
                _note(watch, at_start(run_settings.folder, spec.entrants, wall_clock()))
            make = partial(
                TournamentRunner,
                now=monotonic,
                game=find_game(spec.game),
                tournament=tournament,
                books=Recorder(tournament, ledger, watch, taken_up.openings, taken_up.untold),
                run_settings=run_settings,
                launches=launches,
                broken_off=taken_up.open,
                deals=MatchSeeds(secret=sealer.secret(salt), seed=spec.seed, duplicate=spec.duplicate),
                sealer=sealer,
                watch=watch,
                telemetry=watched.telemetry,
                confinement=confinement,
            )
            is_over = _run(make, total, taken_up, watched)
            if not was_over:  # whoever works on a program afterwards changes nothing
                _note(watch, at_end(run_settings.folder, spec.entrants, wall_clock(), is_over=is_over))
        return Conducted(spec=spec, salt=salt, tournament=tournament, is_over=is_over, was_over=was_over)


def _note(watch: Observers, warnings: Iterable[str]) -> None:
    for warning in warnings:
        watch.noted(warning)


def _recalled(entries: Iterable[MatchEntry], watch: Observers) -> Iterator[MatchEntry]:
    """Yield what is in the ledger, and let a watcher see it go by."""
    for entry in entries:
        watch.match_recalled(entry)
        yield entry


def _run(make: Callable[[Any], TournamentRunner], total: int | None, taken_up: TakenUp, watched: Monitoring) -> bool:
    """Run the reactor until the tournament is over; return False if it was stopped before."""

    async def _main(reactor: Any) -> bool:
        monitor = await watched.open(reactor)
        try:
            await make(reactor).run(total, taken_up.leftover)
        except CancelledError:
            return False
        finally:
            if monitor is not None:
                await stopped(monitor)
        return True

    return run_reactor(_main)


@contextmanager
def _clear_troubles() -> Iterator[None]:
    """Turn what can go wrong in a tournament into errors that say what to do."""
    try:
        with clear_errors():
            yield
    except (BadFormat, PluginError) as error:
        raise click.UsageError(str(error)) from None
    except RecordError as error:
        text = f"{error}; a tournament goes on from records that hold: put this one aside, and its match is played anew"
        raise click.ClickException(text) from None
    except NotOpen as error:
        text = f"the ledger does not fit: {error}; make it again from the records with `referee rebuild`"
        raise click.ClickException(text) from None
    except (BadJsonFile, LedgerError, TournamentStopped) as error:
        raise click.ClickException(str(error)) from None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other referees from the folder.

    Raises:
        click.UsageError: another one runs this tournament.
    """
    with (folder / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise click.UsageError(f"another referee runs the tournament of {folder}") from None
        yield


def _salt(spec: TournamentSpec) -> str:
    return secrets.token_hex(_SALT_BYTES) if spec.seed is None else salt_of(spec.seed)


def _founded(ledger: Ledger, folder: Path, spec: TournamentSpec) -> str:
    """Write down what the tournament is, or see to it that it is the one that is written down.

    Returns:
        The tournament's salt.

    Raises:
        click.UsageError: it differs; the text says in what.
    """
    kept = read_spec_file(folder)
    salt = _salt(spec)
    if kept is None:
        write_spec_file(folder, SpecFile(spec=spec, salt=salt))
    elif kept.spec != spec:
        parts = [f"{name} was {old!r:.80}, is {new!r:.80}" for name, (old, new) in differences(kept.spec, spec).items()]
        remedy = "change that back to go on with it, or give the new tournament a name of its own"
        raise click.UsageError(f"{folder} holds a tournament that was begun otherwise: {'; '.join(parts)}; {remedy}")
    else:
        salt = kept.salt
    ledger.found(spec, salt)
    return salt


def _launches(spec: TournamentSpec, logs: Path, confinement: Confinement) -> list[Launch | str | None]:
    """Return by entrant how its program is started, None for a remote one, or why it can't be; builds what is to be."""
    builds = Builds(logs / BUILDS, confinement)
    return [None if one.player == REMOTE else _launch(spec.game, one.player, one.name, builds) for one in spec.entrants]


def _launch(game: str, player: str, name: str, builds: Builds) -> Launch | str:
    try:
        launch = replace(find_launch(game, player, 0, registry()), name=name)
        if builds.build(launch):
            console.print(f"built {name}", markup=False, highlight=False)
    except (PlayerError, PluginError) as error:
        why = short_cause(str(error).removeprefix(f"{name}: "))
        console.print(f"{name} can't play: {why}", markup=False, highlight=False, soft_wrap=True)
        return str(error)
    return launch
