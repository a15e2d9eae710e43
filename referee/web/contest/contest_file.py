"""Reads the file of a contest, and writes an example of one that runs at once."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from ...app.tournament_file.plan import TournamentPlan, read_tournament, rename_plan
from ...app.tournament_file.sheet import Section, Sheet, ValueKind
from ...errors import BadRequest
from ...plugins import Registry
from ...tournament.events import SpectatorSight
from ..cards import SignUp
from ..submissions.challenges import PRACTICE

CONTEST = "contest.toml"
SUBMISSIONS = "submissions"
"""Folder of what authors handed in; made when the contest is hosted."""
_TITLE = ValueKind(Annotated[str, Meta(pattern=r"^[^\x00-\x1f\x7f]+$(?!\n)", max_length=100)], "a text of one line")
_TEXT = ValueKind(Annotated[str, Meta(max_length=20_000)], "a text in Markdown")
_PATH = ValueKind(Annotated[str, Meta(min_length=1)], "the path of a file, seen from the contest's folder")
_TABLES = ValueKind(list[dict[str, Any]], "tables: [[tournaments]]")
_EVERY = ValueKind(Literal["day"], '"day"')
_LONGEST_SERIES = 29
"""Characters: of a tournament's name, the day takes eleven."""
DAY = timedelta(days=1)
_YEARS = (2000, 9000)
"""When a tournament may start: far from where UTC and the next day can't be computed."""
_WORKERS = ValueKind(Annotated[int, Meta(ge=1, le=256)], "a number of processes, 1 to 256")
_ADDRESS = ValueKind(Annotated[str, Meta(min_length=1)], "the address of a Dask scheduler: tls://HOST:8786")
_FLAG = ValueKind(bool, "true or false")
_START = ValueKind(Annotated[datetime, Meta(tz=True)], "a time with its zone, as in 2026-12-01T18:00:00+01:00")

_SPECTATORS = ValueKind(SpectatorSight, '"after", "board only", or "delay SECONDS" with at most 600 of them')
_SIGN_UP = ValueKind(Literal["open", "invitation", "closed"], '"open", "invitation" or "closed"')

EXAMPLE = """\
title = "House contest"
about = \"\"\"
Three players of the house meet in **two games**. Put your own beside them: give its folder, or a command, as a further
entrant in `cup.toml`, and start `referee host` again.
\"\"\"
spectators = "board only"               # what they see of a match that is played; or "delay 60", or "after"
practice = true                         # authors may play unrated matches against house players
sign_up = "closed"                      # who becomes an author on the site; or "invitation", or "open"

[[tournaments]]
file = "cup.toml"

[[tournaments]]
file = "league.toml"
# start = 2026-12-01T18:00:00+01:00     # without it, at once
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
    """Options of `referee tournament`: where matches are played, and the name if it is not the file's."""
    series: str = ""
    """Name in the file of a tournament that is played every day; empty for others."""

    @property
    def name(self) -> str:
        """What it is called, and its folder."""
        return self.plan.spec.name

    def due(self, _now: datetime) -> Iterator["ScheduledTournament"]:
        """Yield it: there is no other one."""
        yield self


class DailyTournament(Struct, frozen=True, kw_only=True):
    """A tournament that begins anew every day: each is one of its own, with the day behind its name."""

    first: ScheduledTournament
    """The tournament as its file describes it."""
    start: datetime
    """Start of the first one; its time zone decides when a day begins."""

    def due(self, now: datetime) -> Iterator[ScheduledTournament]:
        """Yield those that have records, the last one that is due, and the next one."""
        last = self._last(now)
        for day in range(last + 1):
            found = self._on(day)
            if day == last or found.plan.run_settings.folder.exists():
                yield found
        yield self._on(last + 1)

    def upcoming(self, now: datetime) -> ScheduledTournament:
        """Return the next one."""
        return self._on(self._last(now) + 1)

    def _last(self, now: datetime) -> int:
        """Return how many days after the first the last one is due; -1: none is."""
        return max((now - self.start) // DAY, -1)

    def _on(self, day: int) -> ScheduledTournament:
        start, series = self.start + day * DAY, self.first.name
        name = f"{series}-{start:%Y-%m-%d}"
        plan, options = rename_plan(self.first.plan, name), (*self.first.options, f"--name={name}")
        return ScheduledTournament(plan=plan, start=start.astimezone(UTC), options=options, series=series)


class Spectators(Struct, frozen=True, kw_only=True):
    """What spectators see of a match while it is played; when it is over, they see all of it."""

    said: str

    @property
    def delay_s(self) -> float:
        """How much later they see it."""
        return float(self.said.removeprefix("delay ")) if self.said.startswith("delay ") else 0.0


class Contest(Struct, frozen=True, kw_only=True):
    """What the file of a contest says."""

    folder: Path
    title: str
    about: str
    """Description of the contest, in Markdown."""
    spectators: Spectators
    practice: bool
    sign_up: SignUp
    """People who may become authors on the site."""
    tournaments: tuple[ScheduledTournament, ...]
    """All tournaments, in the order of the file."""
    daily: tuple[DailyTournament, ...]
    """Those of which a next one comes each day."""

    def warnings(self) -> Iterator[tuple[str, str]]:
        """Yield what is odd about the tournaments' files, each with the name that its file gives; each file once."""
        plans = {scheduled.series or scheduled.name: scheduled.plan for scheduled in self.tournaments}
        for name, plan in plans.items():
            for warning in plan.warnings:
                yield name, warning


class NoContest(BadRequest):
    """A folder that is not the one of a contest, or that an example can't be written to."""


def read_contest(folder: Path, registry: Registry) -> Contest:
    """Read the file of a contest, and those of its tournaments.

    Args:
        folder: that it stands in.
        registry: the plugins.

    Raises:
        NoContest: there is none.
        BadTournamentFile: one of the files has mistakes; the error holds all of that file.
    """
    path = folder.absolute() / CONTEST
    if not path.is_file():
        raise NoContest(f"{folder} has no {CONTEST}; `referee host --example {folder}` writes one that runs at once")
    sheet = Sheet(path)
    top = sheet.section(sheet.values)
    listed, now = list(_tournaments(sheet, top, registry)), datetime.now(UTC)
    contest = Contest(
        folder=path.parent,
        title=top.take("title", _TITLE, "Contest"),
        about=top.take("about", _TEXT, ""),
        spectators=Spectators(said=top.take("spectators", _SPECTATORS, "after")),
        practice=top.take("practice", _FLAG, default=False),
        sign_up=SignUp(top.take("sign_up", _SIGN_UP, "closed")),
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
            section.refuse("start", f"takes a time of the years {_YEARS[0]} to {_YEARS[1]}, not {start}")
            start = None
        is_daily = section.take("every", _EVERY) is not None
        if is_daily and "start" not in values:
            section.refuse("every", "it takes a start, from which on there is one every day")
        options = tuple(_options(section, sheet.path.parent))
        name = section.take("file", _PATH)
        if name is None:
            section.refuse("file", "this key is missing; it takes the path of a tournament's file")
        elif not (path := sheet.path.parent / name).is_file():
            section.refuse("file", f"there is no file {path}")
        else:
            at = None if start is None else start.astimezone(UTC)
            plan = read_tournament(path, registry, made_later=sheet.path.parent / SUBMISSIONS)
            found = ScheduledTournament(plan=plan, start=at, options=options)
            if is_daily and len(found.name) > _LONGEST_SERIES:
                section.refuse("every", f"{found.name} is longer than {_LONGEST_SERIES}: the day stands behind it")
                is_daily = False
            yield DailyTournament(first=found, start=start) if is_daily and start is not None else found


def _options(section: Section, folder: Path) -> Iterator[str]:
    """Yield the options by which matches are played in other processes, or on other machines."""
    workers, cluster = section.take("workers", _WORKERS), section.take("cluster", _ADDRESS)
    keys = section.take("keys", _PATH)
    if keys and not cluster:
        section.refuse("keys", 'they are for a cluster, and there is none; give cluster = "tls://HOST:8786", too')
    if workers and cluster:
        section.refuse("workers", "either workers or a cluster, not both")
    if workers:
        yield f"--workers={workers}"
    if cluster:
        yield f"--cluster={cluster}"
    if keys:
        yield f"--keys={folder / keys}"


def _check_distinct(sheet: Sheet, tournaments: tuple[ScheduledTournament, ...]) -> None:
    """Refuse tournaments whose records would lie in one folder, or whose pages would have one address."""
    seen = set[str]()
    for index, scheduled in enumerate(tournaments):
        if scheduled.name == PRACTICE:
            sheet.refuse(("tournaments", index), f"no tournament may be called {PRACTICE}: practice matches lie there")
        if scheduled.name in seen:
            sheet.refuse(("tournaments", index), f"there are two tournaments with the name {scheduled.name}")
        seen.add(scheduled.name)


def write_example(folder: Path) -> tuple[Path, ...]:
    """Write a contest of house players that runs at once; return the files.

    Raises:
        NoContest: one of them is there, or none can be written.
    """
    paths = tuple(folder / name for name in EXAMPLES)
    for path in paths:
        if path.exists():
            raise NoContest(f"{path} is there; give a new folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in zip(paths, EXAMPLES.values(), strict=True):
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise NoContest(f"can't write {error.filename}: {error.strerror}") from None
    return paths
