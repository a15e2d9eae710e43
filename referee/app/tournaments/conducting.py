"""Conducts a tournament in its folder, from the start or from where it stopped."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from twisted.internet.defer import CancelledError
from twisted.internet.threads import deferToThread
from twisted.python.failure import Failure

from ... import __version__
from ...clock import wall_clock
from ...cluster.admission import ClusterPlan, Hosts
from ...cluster.coordinator import Cluster
from ...errors import Interrupted, RefereeError
from ...files.scratch import remove
from ...net.event_loop import new_process
from ...net.jobs.job import OpenExecutor
from ...net.jobs.workers import Workers, count_names
from ...net.tournaments.play import MatchSeeds, Recorder, RunSettings, TournamentPlay
from ...net.tournaments.runner import TournamentRunner
from ...observers import Observer, Observers
from ...pages.words import short_cause
from ...plugins import find_game
from ...programs.build import BUILDS, Builds
from ...programs.player_spec import Launch, PlayerError
from ...record.reader import RecordError
from ...record.resume import check_no_others, recover
from ...record.tournament_record import find_record
from ...record.writer import NotWritten
from ...tournament import events as e
from ...tournament.hosts import Calibration
from ...tournament.machine import ImpossibleEvent, Tournament
from ...tournament.pairing.base import BadRuling, Extent, PairingFormat
from ...tournament.spec import REMOTE, Participant, TournamentSpec
from ..players import find_player
from ..running import run_reactor
from ..services import Monitoring, Say, Services, monotonic
from .beginning import LoadedTournament, hash_programs, load_or_begin, lock, note_changes
from .requests import BadRequestFile, TournamentRequest, pending, read_request

# The order of steps in `conduct` is what makes a tournament survive a crash at any instant.
#
# 1. The folder is locked first. Two referees that wrote one record would break its chain.
# 2. Programs are built before the record's header is written: a build changes a program's folder, and the header holds
#    the folder's hash. If programs were built later, each would count as changed at the first resumption.
# 3. The record is folded before anything is written to it. A record that does not hold is left as it is, for the
#    organiser to look at; nothing is repaired by writing over it.
# 4. Open matches are recovered from their own records: one that was over counts as it ended, even if the tournament's
#    record does not have its result yet; the others continue from their last line.
# 5. Requests (rulings, late entrants) are files that are deleted only once the record has them on disk. A crash in
#    between leaves the file, and the ruling's id shows that it was carried out.
# 6. The record is sealed whatever happens. If even that fails, it can still be continued, since its lines are chained.

LaunchEntrant = Callable[[Participant], Launch | str | None]
"""Returns how an entrant's program is started, or in a text why it can't be; None if it is remote."""
CLUSTER_NAMES = 256
"""Most processes of hosts in one run of a tournament; its record names all of them beforehand."""
REFUSED = ".refused"
"""Suffix of a request that can not be read."""


class Conducted(Struct, frozen=True, kw_only=True):
    """A tournament as it stands when its referee ends."""

    tournament: Tournament
    is_over: bool
    """False if it was stopped; then the same command continues it."""
    over_before: str | None
    """Time of day at which an earlier run ended the tournament, if this run played nothing; None: this run played."""


def conduct(
    spec: TournamentSpec, format_: PairingFormat[Any], run_settings: RunSettings, at_hand: Services
) -> Conducted:
    """Run a tournament, or continue it, until it is over or stopped.

    Args:
        spec: the tournament; entrants that are not yet on the record join it.
        format_: the pairing format of the spec.
        run_settings: folder, tables and processes.
        at_hand: services of the referee.

    Raises:
        BadRequest: the tournament can't be played, or the folder has another one.
        TournamentInUse: another referee plays it.
        RefereeError: it can't continue, or a record does not hold.
        OSError: the machine failed.
    """
    folder, observers = run_settings.folder, at_hand.match.observers
    with (
        _make_folder(folder),
        lock(folder),
        _word_record_errors(),
    ):
        builds = Builds(run_settings.builds or folder / BUILDS, at_hand.match.confinement)
        launch = partial(_launch, spec.game, builds=builds, say=at_hand.say)
        # A build changes a program's folder: it comes before the header says which program plays.
        launches = [] if find_record(folder) else [launch(entrant) for entrant in spec.entrants]
        loaded = load_or_begin(folder, spec, format_, at_hand.match.sealer, observers)
        with closing(loaded.writer):
            if loaded.over_at is not None and not _has_work(loaded, spec, folder, observers):
                return Conducted(tournament=loaded.tournament, is_over=True, over_before=loaded.over_at)
            launches = launches or [launch(entrant) for entrant in loaded.begun.spec.entrants]
            is_over = _run_loaded(loaded, spec, format_, run_settings, at_hand, launch, launches)
            return Conducted(tournament=loaded.tournament, is_over=is_over, over_before=None)


def _has_work(loaded: LoadedTournament, spec: TournamentSpec, folder: Path, observers: Observers) -> bool:
    """Return whether a tournament that is over has something to do: a request, or an entrant that can join."""
    joining = False
    for entrant in spec.entrants[len(loaded.tournament.spec.entrants) :]:
        try:
            loaded.tournament.joined(entrant)
        except BadRuling as error:
            observers.notify(Observer.on_notice, f"{entrant.name} does not join: {error}")
        else:
            joining = True
    return joining or bool(pending(folder))


@contextmanager
def _make_folder(folder: Path) -> Iterator[None]:
    """Make the folder, and remove it again if nothing could begin in it."""
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        if is_new and find_record(folder) is None:
            remove(folder)
        raise


def _run_loaded(
    loaded: LoadedTournament,
    spec: TournamentSpec,
    format_: PairingFormat[Any],
    run_settings: RunSettings,
    at_hand: Services,
    launch: LaunchEntrant,
    launches: list[Launch | str | None],
) -> bool:
    """Run a loaded tournament; return whether it is over."""
    folder, observers = run_settings.folder, at_hand.match.observers
    play = _begin_play(loaded, run_settings, at_hand, launch, launches)
    recorder = play.recorder
    for entrant in spec.entrants[len(loaded.begun.spec.entrants) :]:
        for text in _join(play, entrant, launch(entrant)):
            observers.notify(Observer.on_notice, text)
    make = partial(
        TournamentRunner,
        now=monotonic,
        play=play,
        run_settings=run_settings,
        services=at_hand.match,
        open_executor=_open_executor(run_settings, recorder, play.processes[1:], loaded.where(folder)),
    )
    with _seal_at_end(recorder):
        is_over = _run(make, at_hand.monitoring)
        # The folders are checked once more although nothing is played any more. Otherwise the record would claim that
        # the last matches were played by programs that may have changed before.
        how = "changed while matches were played: another program may have played the last of them"
        _note_changes(recorder, play.digests, observers, how)
        recorder.take(e.Finished(at=wall_clock()) if is_over else e.Stopped(at=wall_clock(), why="it was asked to"))
    return is_over


def _begin_play(
    loaded: LoadedTournament,
    run_settings: RunSettings,
    at_hand: Services,
    launch: LaunchEntrant,
    launches: list[Launch | str | None],
) -> TournamentPlay:
    """Record that a tournament begins or continues; return what is left to play."""
    folder, observers, sealer = run_settings.folder, at_hand.match.observers, at_hand.match.sealer
    recorder = Recorder(loaded.tournament, loaded.writer, observers)
    check_no_others(folder, loaded.begun.spec.name, loaded.opened)
    left = dict(loaded.left)
    recovery = recover(folder, left, find_game, sealer)
    others = CLUSTER_NAMES if run_settings.cluster is not None else count_names(run_settings.workers)
    # The record names all processes of a run before any of them plays. An audit can then refuse a match that claims to
    # have been played by a process which the tournament never had.
    at, processes = wall_clock(), tuple(new_process() for _ in range(1 + others))
    begun = e.Begun(at=at, processes=processes, spectators=run_settings.spectators)
    resumed = e.TournamentResumed(at=at, referee=__version__, processes=processes, spectators=run_settings.spectators)
    recorder.take(begun if loaded.is_new else resumed)
    programs = dict(loaded.begun.programs)
    _note_changes(recorder, programs, observers, "has changed: from now on, another program plays its matches")
    for entry in recovery.over:
        del left[entry.match]
    play = TournamentPlay(
        recorder=recorder,
        processes=processes,
        launches=launches,
        digests=programs,
        over=recovery.over,
        contexts=left,
        broken_off=recovery.open,
        seeds=MatchSeeds(
            secret=sealer.secret(loaded.begun.salt), seed=loaded.begun.spec.seed, duplicate=loaded.begun.spec.duplicate
        ),
        look=lambda: _look(folder, play, launch, observers),
    )
    return play


def _note_changes(recorder: Recorder, programs: dict[str, str], observers: Observers, how: str) -> None:
    for name in note_changes(recorder, programs):
        observers.notify(Observer.on_notice, f"{name} {how}")


def _open_executor(
    run_settings: RunSettings, recorder: Recorder, processes: Sequence[str], where: Mapping[int, str]
) -> OpenExecutor | None:
    """Return a function that opens the executor for matches in other processes; None: this process plays all.

    Args:
        run_settings: settings of this run.
        recorder: recorder of the tournament.
        processes: names of the processes that may play, for records.
        where: number of a pairing -> host that played its first leg, for Cluster.
    """
    if run_settings.cluster is not None:
        spec = recorder.tournament.spec
        plan = ClusterPlan(
            address=run_settings.cluster,
            keys=run_settings.keys,
            tournament=spec.name,
            game=spec.game,
        )
        return lambda reactor, settings, services, has_room: Cluster(
            Hosts(reactor, plan, settings, services, processes, has_room, partial(_admit_host, recorder)), where
        )
    count = min(run_settings.workers, run_settings.tables)
    if not count:
        return None
    return lambda reactor, settings, services, _has_room: Workers(reactor, count, settings, services, processes)


def _admit_host(recorder: Recorder, host: str, process: str, calibration: Calibration) -> str | None:
    """Record that a host has come; return why it can't play, or None if it can."""
    try:
        recorder.take(e.HostCame(at=recorder.clock(), host=host, process=process, calibration=calibration))
    except NotWritten as error:
        recorder.on_refused(Failure())
        return str(error)
    return None


@contextmanager
def _seal_at_end(recorder: Recorder) -> Iterator[None]:
    """Seal the record at the end of a block, whatever the reason for the end."""
    try:
        yield
    except Exception as error:
        with contextlib.suppress(RefereeError, OSError):
            recorder.take(e.Stopped(at=wall_clock(), why=str(error) or type(error).__name__))
            recorder.seal()
        raise
    recorder.seal()


async def _look(folder: Path, play: TournamentPlay, launch: LaunchEntrant, observers: Observers) -> None:
    """Carry out the requests of organisers and entrants."""
    for path in pending(folder):
        try:
            request = read_request(path)
        except BadRequestFile as error:
            observers.notify(Observer.on_notice, str(error))
            with contextlib.suppress(FileNotFoundError):  # the request was withdrawn
                # # Otherwise the same unreadable file would be reported again every second.
                path.rename(path.with_suffix(REFUSED))
            continue
        if request.joining is not None:
            notices = _join(play, request.joining, await deferToThread(launch, request.joining))
        else:
            notices = _rule(play.recorder, request)
        await play.recorder.settle()
        for text in notices:
            observers.notify(Observer.on_notice, text)
        path.unlink(missing_ok=True)


def _rule(recorder: Recorder, request: TournamentRequest) -> list[str]:
    """Carry out a ruling, unless that was done before a crash; return notices for the organiser."""
    ruling = request.ruling
    assert ruling is not None, "a request that is not one to join"
    # After a crash between recording and deleting the file, the same ruling comes again. Carried out twice, it could
    # award a match twice.
    if any(earlier.id == ruling.id for earlier in recorder.tournament.rulings):
        return []
    about = " ".join(filter(None, (ruling.kind, ruling.match, ruling.entrant)))
    try:
        recorder.take(e.Ruled(at=recorder.clock(), ruling=ruling))
    except BadRuling as error:
        return [f"the ruling {about} was not carried out: {error}"]
    return [f"{ruling.by} ruled: {about}: {ruling.reason}"]


def _join(play: TournamentPlay, entrant: Participant, launch: Launch | str | None) -> list[str]:
    """Let an entrant join, if the format allows it and it has not joined; return notices for the organiser."""
    if entrant in play.recorder.tournament.spec.entrants:
        return []
    digest = hash_programs([entrant]).get(entrant.name)
    try:
        play.join(entrant, launch, digest)
    except (BadRuling, ImpossibleEvent) as error:
        return [f"{entrant.name} does not join: {error}"]
    return [f"{entrant.name} has joined"]


def compute_extent(spec: TournamentSpec, format_: PairingFormat[Any]) -> Extent | None:
    """Return the number of pairings; None: the format can't tell."""
    return format_.extent(format_.parse_options(spec.format_options), spec.field())


def _run(make: Callable[[Any], TournamentRunner], monitoring: Monitoring) -> bool:
    """Run the reactor until the tournament is over; return False if it was stopped before."""

    async def _main(reactor: Any) -> bool:
        async with monitoring.open_endpoint(reactor):
            try:
                await make(reactor).run()
            except CancelledError:
                return False
        return True

    try:
        return run_reactor(_main)
    except Interrupted:
        return False


@contextmanager
def _word_record_errors() -> Iterator[None]:
    """Turn an error of a record into an error that says what the organiser can do."""
    try:
        yield
    except RecordError as error:
        text = f"{error}; a tournament goes on only from valid records: restore the files that its referee wrote"
        raise RefereeError(text) from None


def _launch(game: str, entrant: Participant, *, builds: Builds, say: Say) -> Launch | str | None:
    """Build an entrant's program if needed; return how to start it, why it can't start, or None if it is remote."""
    name = entrant.name
    if entrant.player == REMOTE:
        return None
    try:
        launch = replace(find_player(entrant.player, game, name=name), name=name)
        if builds.build(launch):
            say(f"built {name}")
    except PlayerError as error:
        say(f"{name} can't play: {short_cause(str(error).removeprefix(f'{name}: '))}")
        return str(error)
    return launch
