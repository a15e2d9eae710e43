"""The file of a contest: reads contest.toml, and writes an example that runs at once."""

# A contest names files of tournaments. `referee tournament` can play each of them as well, so a tournament can be tried
# out before it is part of a contest.
#
# A daily tournament is a series of tournaments, one for each day. Each has a name and a folder of its own, so that
# nothing that happens on one day can change the record of another day.

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from ...app.tournament_file.plan import TournamentPlan, read_tournament, rename_plan
from ...app.tournament_file.sheet import Section, Sheet
from ...errors import BadRequest
from ...plugins import Registry
from ...tournament.events import SpectatorSight
from ..contest_json import SignUp
from ..submissions.challenges import PRACTICE

CONTEST = "contest.toml"
SUBMISSIONS = "submissions"
"""Folder of the versions that authors hand in; made when the contest is hosted."""
_TITLE = Annotated[
    str, Meta(pattern=r"^[^\x00-\x1f\x7f]+$(?!\n)", max_length=100, extra={"words": "a text of one line"})
]
_TEXT = Annotated[str, Meta(max_length=20_000, extra={"words": "a text in Markdown"})]
_PATH = Annotated[str, Meta(min_length=1, extra={"words": "the path of a file, seen from the contest's folder"})]
_TABLES = Annotated[list[dict[str, Any]], Meta(extra={"words": "tables: [[tournaments]]"})]
_EVERY = Annotated[Literal["day"], Meta(extra={"words": '"day"'})]
_LONGEST_SERIES = 29
"""Most characters in the name of a daily tournament; the date adds eleven characters."""
DAY = timedelta(days=1)
_YEARS = (2000, 9000)
"""First and last year of a start. Near Python's own limits, UTC or the next day could not be computed."""
_WORKERS = Annotated[int, Meta(ge=1, le=256, extra={"words": "a number of processes, 1 to 256"})]
_ADDRESS = Annotated[str, Meta(min_length=1, extra={"words": "the address of a Dask scheduler: tls://HOST:8786"})]
_START = Annotated[datetime, Meta(tz=True, extra={"words": "a time with its zone, as in 2026-12-01T18:00:00+01:00"})]
_URL = Annotated[
    str, Meta(pattern=r"^https?://[^\s/]+\S*$(?!\n)", max_length=2000, extra={"words": "an http or https address"})
]
_MAIL = Annotated[dict[str, Any], Meta(extra={"words": "a table: [mail]"})]
_SERVER = Annotated[
    str, Meta(pattern=r"^[\w.-]+:\d{1,5}$(?!\n)", extra={"words": "a host and a port, as in smtp.example.org:587"})
]
_MAILBOX = Annotated[str, Meta(pattern=r"^[^@\s<>]+@[^@\s<>]+$(?!\n)", extra={"words": "a mail address"})]
_SPECTATORS = Annotated[
    SpectatorSight, Meta(extra={"words": '"after", "board only", or "delay SECONDS" with at most 600 of them'})
]
_SIGN_UP = Annotated[Literal["open", "invitation", "closed"], Meta(extra={"words": '"open", "invitation" or "closed"'})]

EXAMPLE = """\
title = "House contest"
about = \"\"\"
Three house players meet in **two games**. To let your own player take part, add its folder or its command to the
entrants in `cup.toml`, and start `referee host` again.
\"\"\"
spectators = "board only"               # what spectators see of an open match; or "delay 60", or "after"
practice = true                         # authors may play unrated matches against house players
sign_up = "closed"                      # who may become an author on the site; or "invitation", or "open"

[[tournaments]]
file = "cup.toml"

[[tournaments]]
file = "league.toml"
# start = 2026-12-01T18:00:00+01:00     # without a start, the tournament begins at once
"""
EXAMPLES = {
    CONTEST: EXAMPLE,
    "cup.toml": """\
name = "cup"
game = "q"
seats = 2
entrants = ["house:greedy", "house:dag", "house:ldasg"]
[format]
name = "knockout"
""",
    "league.toml": """\
name = "league"
game = "quadominos"
seats = 3
entrants = ["house:greedy", "house:random", "house:search"]
[format]
name = "roundrobin"
""",
}


class ScheduledTournament(Struct, frozen=True, kw_only=True):
    """A tournament of a contest."""

    plan: TournamentPlan
    start: datetime | None
    """Start of the tournament in UTC; None: at once."""
    options: tuple[str, ...] = ()
    """Options of `referee tournament`: where matches are played, and the name if it differs from the file's."""
    series: str = ""
    """Name in the file, if the tournament is played every day; else empty."""

    @property
    def name(self) -> str:
        """Name of the tournament and of its folder."""
        return self.plan.spec.name

    def due(self, _now: datetime) -> Iterator["ScheduledTournament"]:
        """Yield this tournament, the only one of its file."""
        yield self


class DailyTournament(Struct, frozen=True, kw_only=True):
    """A tournament that is played every day. Each day has a tournament of its own, with the date in its name."""

    first: ScheduledTournament
    """The tournament that the file describes."""
    start: datetime
    """Start on the first day; its time zone decides when a day begins."""

    def due(self, now: datetime) -> Iterator[ScheduledTournament]:
        """Yield the tournaments of days that have records, of the last day that is due, and of the next day."""
        last = self._last(now)
        for day in range(last + 1):
            tournament = self._make(day)
            if day == last or tournament.plan.run_settings.folder.exists():
                yield tournament
        yield self._make(last + 1)

    def upcoming(self, now: datetime) -> ScheduledTournament:
        """Return the tournament of the next day."""
        return self._make(self._last(now) + 1)

    def _last(self, now: datetime) -> int:
        """Return the number of the last day that is due, from 0; -1 if no day is due."""
        return max((now - self.start) // DAY, -1)

    def _make(self, day: int) -> ScheduledTournament:
        start, series = self.start + day * DAY, self.first.name
        name = f"{series}-{start:%Y-%m-%d}"
        plan, options = rename_plan(self.first.plan, name), (*self.first.options, f"--name={name}")
        return ScheduledTournament(plan=plan, start=start.astimezone(UTC), options=options, series=series)


class Spectators(Struct, frozen=True, kw_only=True):
    """What spectators see of an open match. When the match is over, they see everything."""

    said: str
    """Setting of contest.toml: `after`, `board only` or `delay SECONDS`."""

    @property
    def delay_s(self) -> float:
        """Delay of what spectators see, in seconds."""
        return float(self.said.removeprefix("delay ")) if self.said.startswith("delay ") else 0.0


class MailServer(Struct, frozen=True, kw_only=True):
    """A server that takes mail for authors."""

    host: str
    port: int
    sender: str
    """Address that mails come from."""
    user: str = ""
    """Name to log in with; empty: no login."""
    password_file: Path | None = None


class Contest(Struct, frozen=True, kw_only=True):
    """The settings of a contest."""

    folder: Path
    title: str
    about: str
    """Description of the contest, in Markdown."""
    spectators: Spectators
    practice: bool
    """True if authors may play unrated practice matches."""
    sign_up: SignUp
    """Rule for visitors who want to become authors on the site."""
    address: str
    """Public address of the site, with a slash at the end; empty: not known."""
    webhook: str | None
    """Address to which each result is sent; None: results are not sent."""
    mail: MailServer | None
    """Server that sends mail to authors; None: nobody gets mail."""
    tournaments: tuple[ScheduledTournament, ...]
    """All tournaments, in the order of the file."""
    daily: tuple[DailyTournament, ...]
    """Tournaments that are played every day."""

    def warnings(self) -> Iterator[tuple[str, str]]:
        """Yield (name, warning) for each warning about a tournament's file; each file is reported once."""
        plans = {scheduled.series or scheduled.name: scheduled.plan for scheduled in self.tournaments}
        for name, plan in plans.items():
            for warning in plan.warnings:
                yield name, warning


def read_contest(folder: Path, registry: Registry) -> Contest:
    """Read the file of a contest and the files of its tournaments.

    Args:
        folder: folder of the contest.
        registry: installed games, formats and players.

    Raises:
        BadRequest: the folder has no contest.toml.
        BadTournamentFile: a file has mistakes; the error lists all mistakes of that file.
    """
    path = folder.absolute() / CONTEST
    if not path.is_file():
        raise BadRequest(f"{folder} has no {CONTEST}; `referee host --example {folder}` writes one that runs at once")
    sheet = Sheet(path)
    top = sheet.section(sheet.values)
    listed, now = list(_tournaments(sheet, top, registry)), datetime.now(UTC)
    contest = Contest(
        folder=path.parent,
        title=top.take("title", _TITLE, "Contest"),
        about=top.take("about", _TEXT, ""),
        spectators=Spectators(said=top.take("spectators", _SPECTATORS, "after")),
        practice=top.take("practice", bool, default=False),
        sign_up=SignUp(top.take("sign_up", _SIGN_UP, "closed")),
        address=_end_with_slash(top.take("address", _URL, "")),
        webhook=top.take("webhook", _URL),
        mail=_mail(sheet, top),
        tournaments=tuple(
            chain.from_iterable(
                [tournament] if isinstance(tournament, ScheduledTournament) else tournament.due(now)
                for tournament in listed
            )
        ),
        daily=tuple(tournament for tournament in listed if isinstance(tournament, DailyTournament)),
    )
    _check_distinct(sheet, contest.tournaments)
    sheet.finish()
    return contest


def _tournaments(sheet: Sheet, top: Section, registry: Registry) -> Iterator[ScheduledTournament | DailyTournament]:
    for index, values in enumerate(top.take("tournaments", _TABLES, [])):
        section = sheet.section(values, ("tournaments", index), "under [[tournaments]]")
        start = section.take("start", _START)
        if start is not None and not _YEARS[0] <= start.year <= _YEARS[1]:
            section.refuse("start", f"takes a time in the years {_YEARS[0]} to {_YEARS[1]}, not {start}")
            start = None
        is_daily = section.take("every", _EVERY) is not None
        if is_daily and "start" not in values:
            section.refuse("every", "this key needs `start`, the time on the first day")
        options = tuple(_options(section, sheet.path.parent))
        name = section.take("file", _PATH)
        if name is None:
            section.refuse("file", "this key is missing; it takes the path of a tournament's file")
        elif not (path := sheet.path.parent / name).is_file():
            section.refuse("file", f"there is no file {path}")
        else:
            at = None if start is None else start.astimezone(UTC)
            plan = read_tournament(path, registry, made_later=sheet.path.parent / SUBMISSIONS)
            scheduled = ScheduledTournament(plan=plan, start=at, options=options)
            if is_daily and len(scheduled.name) > _LONGEST_SERIES:
                section.refuse(
                    "every", f"{scheduled.name} is longer than {_LONGEST_SERIES} characters: the date is added to it"
                )
                is_daily = False
            yield DailyTournament(first=scheduled, start=start) if is_daily and start is not None else scheduled


def _end_with_slash(address: str) -> str:
    return f"{address.rstrip('/')}/" if address else ""


def _mail(sheet: Sheet, top: Section) -> MailServer | None:
    values = top.take("mail", _MAIL)
    if values is None:
        return None
    section = sheet.section(values, ("mail",), "under [mail]")
    server, sender = section.take("server", _SERVER), section.take("sender", _MAILBOX)
    password = section.take("password_file", _PATH)
    user = section.take("user", str, "")
    for key, value in (("server", server), ("sender", sender)):
        if value is None:
            section.refuse(key, "this key is missing")
    if server is None or sender is None:
        return None
    host, _, port = server.rpartition(":")
    file = None if password is None else sheet.path.parent / password
    return MailServer(host=host, port=int(port), sender=sender, user=user, password_file=file)


def _options(section: Section, folder: Path) -> Iterator[str]:
    """Yield the options for playing matches in other processes or on other machines."""
    workers, cluster = section.take("workers", _WORKERS), section.take("cluster", _ADDRESS)
    keys = section.take("keys", _PATH)
    if keys and not cluster:
        section.refuse("keys", 'keys are for a cluster, but no cluster is set; add cluster = "tls://HOST:8786"')
    if workers and cluster:
        section.refuse("workers", "workers and cluster exclude each other; remove one")
    if workers:
        yield f"--workers={workers}"
    if cluster:
        yield f"--cluster={cluster}"
    if keys:
        yield f"--keys={folder / keys}"


def _check_distinct(sheet: Sheet, tournaments: tuple[ScheduledTournament, ...]) -> None:
    """Refuse tournaments that would share a folder of records, or an address."""
    names = set[str]()
    for index, scheduled in enumerate(tournaments):
        if scheduled.name == PRACTICE:
            text = f"no tournament may be called {PRACTICE}: the folder of practice matches has this name"
            sheet.refuse(("tournaments", index), text)
        if scheduled.name in names:
            sheet.refuse(("tournaments", index), f"there are two tournaments with the name {scheduled.name}")
        names.add(scheduled.name)


def write_example(folder: Path) -> tuple[Path, ...]:
    """Write a contest of house players, ready to run, and return its files.

    Raises:
        BadRequest: a file exists already, or can't be written.
    """
    paths = tuple(folder / name for name in EXAMPLES)
    for path in paths:
        if path.exists():
            raise BadRequest(f"{path} exists; give a new folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in zip(paths, EXAMPLES.values(), strict=True):
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadRequest(f"can't write {error.filename}: {error.strerror}") from None
    return paths
