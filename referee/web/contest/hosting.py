"""Hosts a contest (`referee host`): the site, and processes for tournaments, reports, checks and practice matches."""

# This process serves the site and looks after the other processes. It plays no match itself, so a faulty match can't
# stop the site, and a busy site can't slow a match down. Everything that must survive a crash is in files. Each loop
# below looks at the files and continues from what it sees. It does not matter whether a match ended, the organiser
# edited a file, or this process has just started.

import os
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from twisted.internet.defer import CancelledError, Deferred, gatherResults
from twisted.internet.task import LoopingCall

from ...app.running import run_reactor
from ...app.services import RefereeOptions, Say, find_confinement, find_sealer, monitoring
from ...net.links.addresses import format_url, listen, stop_listening
from ...observers import Note
from ...pages.tournament_json import TournamentReport
from ...record.key import default_path, public_pem
from ...settings import RunTerms
from ...text import printable
from ..contest_json import Coming, ContestCard, TournamentCard
from ..event_streams import EventStreams
from ..live import LiveTables
from ..published import search
from ..submissions.store import Store
from .contest_file import SUBMISSIONS, Contest, ScheduledTournament
from .intake import Intake
from .messenger import Messenger
from .notices import Notices
from .organising import Organising
from .practice import Practice, PracticeRequests, RefereeProgram
from .publishing import SHOWN, Publisher
from .queue import describe_coming
from .tournament_runs import RunState, TournamentRun, count_open

LOOK_AHEAD_S = 60.0
"""Seconds between two looks for a daily tournament to announce."""
LOOK_AROUND_S = 2.0
"""Seconds between two looks for outside changes: a tournament that somebody plays from a terminal, a changed file."""
LISTEN = "tcp:8080:interface=127.0.0.1"
LAG_LOOK_S = 1.0
"""Seconds between two measurements of the site's lag."""
LAG_LOOKS = 60
"""Number of measurements to store: those of the last minute."""
CHECK: tuple[str, ...] = (sys.executable, "-m", "referee.check")
"""Command line of a check, without its options and the player's folder."""
FROZEN = "standings are frozen"
"""State of a tournament while its organiser does not show new results."""
FROZEN_COMING = Coming(
    matches=[], left_out=0, why="Later results are shown when the organiser lifts the freeze of the standings.", at=None
)
_YES_NO = {True: "yes", False: "no"}


def host(
    contest: Contest,
    options: RefereeOptions,
    referee: Sequence[str],
    address: str = LISTEN,
    *,
    is_behind_proxy: bool = False,
) -> None:
    """Host a contest until it is interrupted. When it is hosted again, its tournaments continue.

    Args:
        contest: settings of the contest.
        options: settings of the referee.
        referee: command line that starts this program, to play tournaments and make reports.
        address: Twisted endpoint string to listen on.
        is_behind_proxy: true if a web server in front passes on all requests, with the visitors' addresses.

    Raises:
        BadRequest: the key, the address or a file of tokens can't be used, or a required sandbox is not available.
        StoreError: another referee accepts submissions into the contest's folder.
        OSError: the folder can't be written.
    """
    sealer = find_sealer(options.key, options.say)
    find_confinement(options, contest.folder).close()  # fail now, not only when the first check starts
    with closing(Store(contest.folder / SUBMISSIONS)) as store, monitoring(options) as watching:
        note = note_and_say(watching.observers.note, options.say)

        async def _main(reactor: Any) -> None:
            intake = Intake(
                reactor, contest, store, check_command(options.terms), note, options.key or default_path(os.environ)
            )
            await intake.checks.recover()
            passed_on = [] if options.key is None else ["--key", str(options.key)]
            hosted = HostedContest(reactor, contest, RefereeProgram(referee, passed_on), intake, note)
            site = hosted.site(public_pem(sealer.public).encode(), is_behind_proxy=is_behind_proxy)
            async with watching.open_endpoint(reactor):
                port = await listen(reactor, address, site)
                options.say(f"{contest.title}: the site is on {format_url(port, address)}")
                hosted.begin()
                try:
                    await intake.checks.run()
                except CancelledError:
                    options.say("stopping; `referee host` will continue the tournaments where they stop now")
                finally:
                    await stop_listening(port)
                    await hosted.stop()

        run_reactor(_main)


def check_command(terms: RunTerms) -> Sequence[str]:
    """Return the command line of a check, without the player's folder."""
    return *CHECK, "--terms", msgspec.json.encode(terms).decode()


def note_and_say(note: Note, say: Say) -> Note:
    """Return a function that logs an event, and prints it for the organiser in words."""

    def _log(event: str, /, **facts: Any) -> None:
        note(event, **facts)
        words = {key: _YES_NO[value] if isinstance(value, bool) else value for key, value in facts.items()}
        text = ", ".join(f"{key} {value}" for key, value in words.items() if value is not None)
        say(f"{event.replace('-', ' ')}: {printable(text)}")

    return _log


class HostedContest:
    """A contest while it is hosted.

    Args:
        reactor: Twisted's reactor.
        contest: settings of the contest.
        program: plays tournaments and matches.
        intake: the versions of authors, and the people who may sign in.
        note: logs errors.
    """

    def __init__(self, reactor: Any, contest: Contest, program: RefereeProgram, intake: Intake, note: Note) -> None:
        self._contest = contest
        self._reactor = reactor
        self.streams = EventStreams(reactor, lambda: msgspec.json.encode(self.card()))
        self.live = LiveTables(reactor, contest.spectators.said, contest.spectators.delay_s)
        self.runs: dict[str, TournamentRun] = {}
        self._folders: dict[str, Path] = {}
        self._program = program
        self._note = note
        self.publisher = Publisher(reactor, program.referee, note, self.streams.notify, self.is_over)
        for scheduled in contest.tournaments:
            self._add(scheduled)
        self._days = LoopingCall(self._look_ahead)
        self._days.clock = reactor
        self._looks = LoopingCall(self._look_around)
        self._looks.clock = reactor
        self._intake = intake
        requests = PracticeRequests(contest, intake.store)
        self._practice = Practice(
            reactor, contest, requests, program, self._count_rated_matches, intake.checks.note_change, note
        )
        self._practising: list[Deferred[None]] = []
        self._lag = SiteLag(reactor)
        self._close_site: Callable[[], None] = lambda: None
        self._messenger = Messenger(
            reactor, contest.folder, contest.title, contest.address, contest.webhook, contest.mail, note
        )
        self._notices = Notices(intake.actions, self.streams.notify)

    def begin(self) -> None:
        """Start playing and publishing."""
        for run in self.runs.values():
            run.begin()
        self._practising = self._practice.begin()
        self.publisher.begin()
        self._lag.begin()
        self._days.start(LOOK_AHEAD_S)
        self._looks.start(LOOK_AROUND_S, now=False)

    def _add(self, scheduled: ScheduledTournament) -> TournamentRun:
        run = self.runs[scheduled.name] = TournamentRun(
            self._reactor,
            scheduled,
            self._program.referee,
            ["--spectators", self._contest.spectators.said, *self._program.options],
            self.live,
            self.streams.notify,
            self._report_result,
        )
        self._folders[scheduled.name] = run.folder
        self.publisher.follow(scheduled.name, run.folder)
        return run

    def _report_result(self, run: TournamentRun, facts: Mapping[str, Any]) -> None:
        self._messenger.report_result(run.scheduled.name, facts, is_frozen=run.is_frozen)

    def _look_ahead(self) -> None:
        """Announce the tournaments of the next day, as soon as those of the present day are due."""
        for daily in self._contest.daily:
            upcoming = daily.upcoming(datetime.now(UTC))
            if upcoming.name not in self.runs:
                self._add(upcoming).begin()

    def _look_around(self) -> None:
        for run in self.runs.values():
            run.look_around()

    def _count_rated_matches(self) -> int | None:
        return count_open(self.runs.values())

    async def stop(self) -> None:
        """Interrupt all tournaments and practice matches, and wait until their processes have ended."""
        self.streams.close()
        self.live.streams.close()
        self.publisher.stop()
        self._messenger.stop()
        self._lag.stop()
        self._days.stop()
        self._looks.stop()
        ended = [run.stop() for run in self.runs.values()]
        for practising in self._practising:
            practising.cancel()
        await gatherResults([*ended, *self._practising])
        self._close_site()

    def site(self, public_key: bytes, *, is_behind_proxy: bool) -> Any:
        """Return the site, as a Twisted factory.

        Args:
            public_key: public key in PEM.
            is_behind_proxy: see `host`.
        """
        from ..members import make_members  # noqa: PLC0415
        from ..routes import SiteContent, make_site  # noqa: PLC0415  # Klein installs a reactor
        from ..signing_up import NewAuthors  # noqa: PLC0415

        content = SiteContent(
            title=self._contest.title,
            about=self._contest.about,
            address=self._contest.address,
            card=self.card,
            folders=self._folders,
            is_over=self.is_over,
            public_key=public_key,
            streams=self.streams,
            live=self.live,
            report=self._report,
            search=lambda query: search(query, self.publisher.list_indexes()),
        )
        organising = Organising(
            self._contest.folder,
            self.runs,
            self._intake,
            self._practice,
            self._lag.longest_ms,
            self._report,
            self._notices,
        )
        sign_up = NewAuthors(self._contest, self._intake)
        mail = self._messenger.addresses if self._messenger.has_mail else None
        members = make_members(
            self._reactor, self._contest, self._intake, organising, self._practice, sign_up, mail, self._note
        )
        self._close_site = members.replays.close
        return make_site(content, members, self._reactor, is_behind_proxy=is_behind_proxy)

    def is_over(self, name: str) -> bool:
        """Return whether a tournament is over and its standings are not frozen."""
        run = self.runs[name]
        return run.state is RunState.OVER and not run.is_frozen

    def _report(self, name: str) -> TournamentReport | None:
        published = self.publisher.published.get(name)
        return None if published is None else published.report

    def card(self, most_leaders: int = SHOWN) -> ContestCard:
        """Return the state of the contest, with at most `most_leaders` lines of each tournament's standings."""
        contest = self._contest
        return ContestCard(
            title=contest.title,
            sign_up=contest.sign_up,
            announcements=self._notices.announcements(),
            tournaments=[self._card(run, most_leaders) for run in self.runs.values()],
        )

    def _card(self, run: TournamentRun, most_leaders: int) -> TournamentCard:
        published = self.publisher.published[run.scheduled.name]
        if run.is_frozen:
            return published.card(run.scheduled, FROZEN, 0, [], FROZEN_COMING, most_leaders)
        state = published.ended if run.state is RunState.OVER else str(run.state)
        if run.state is RunState.OVER and not published.is_over:
            state = f"{state}; its last report is being made"
            state += f", {published.progress}" if published.progress else ""
        coming = describe_coming(run, published.report)
        return published.card(run.scheduled, state, run.played, list(run.open_matches.values()), coming, most_leaders)


class SiteLag:
    """Measures every second how late the event loop is.

    Args:
        clock: the reactor, or a test's clock.
    """

    def __init__(self, clock: Any) -> None:
        self._clock = clock
        self._late_s = deque[float](maxlen=LAG_LOOKS)
        self._due = 0.0
        self._look = LoopingCall(self._measure)
        self._look.clock = clock

    def begin(self) -> None:
        """Start measuring."""
        self._due = self._clock.seconds() + LAG_LOOK_S
        self._look.start(LAG_LOOK_S, now=False)

    def stop(self) -> None:
        """Stop measuring."""
        self._look.stop()

    def longest_ms(self) -> float:
        """Return the longest lag of the last minute, in milliseconds."""
        return 1000 * max(self._late_s, default=0.0)

    def _measure(self) -> None:
        now = self._clock.seconds()
        self._late_s.append(max(now - self._due, 0.0))
        self._due = now + LAG_LOOK_S
