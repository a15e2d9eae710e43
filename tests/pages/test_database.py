"""A tournament as a database: its tables on SQLite and on PostgreSQL, and refused addresses."""

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import create_engine, select

from referee.pages.database import DatabaseError, metadata, write_database
from referee.tournament import commands as c
from referee.tournament import events as e
from referee.tournament.commands import TakenTransition
from referee.tournament.machine import Tournament
from referee.tournament.match_context import FoulEntry, MatchEntry
from referee.tournament.rulings import Ruling
from referee.tournament.spec import Participant, TournamentSpec

from ..tournament.playing import AT, SALT, Troubles, closed, events_of, paired, spec_of, tournament_of
from .postgresql import new_schema

SPEC = spec_of(5, "swiss", format_options={"rounds": 3})
LATER = "2026-11-22T13:00:00.000+00:00"
_IDS = count()


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of an empty database, of each kind once."""
    if request.param == "sqlite":
        return str(tmp_path / "tournament.sqlite")
    return new_schema(request.getfixturevalue("postgresql"))


def written(
    address: str,
    taken: Sequence[TakenTransition],
    spec: TournamentSpec = SPEC,
    placing_ratings: Sequence[float] | None = None,
) -> str:
    """Write a tournament into a database."""
    header: Any = SimpleNamespace(spec=spec, salt=SALT, key="ab" * 32)
    return write_database(address, header, taken, placing_ratings)


def rows(address: str, table: str, name: str = "cup") -> list[tuple[Any, ...]]:
    """Return a table's rows of a tournament, without the tournament's name."""
    url = address.replace("postgresql:", "postgresql+psycopg:") if "://" in address else f"sqlite:///{address}"
    engine, wanted = create_engine(url), metadata.tables[table]
    with engine.connect() as connection:
        found = connection.execute(select(wanted).order_by(*wanted.primary_key)).all()
    engine.dispose()
    return [tuple(row)[1:] for row in found if row[0] == name]


def begin(spec: TournamentSpec = SPEC) -> tuple[Tournament, list[TakenTransition]]:
    """Return a tournament that has begun, and its transitions."""
    tournament = tournament_of(spec)
    steps: list[TakenTransition] = []
    step(tournament, steps, e.Begun(at=AT))
    assert tournament.to_pair is not None
    step(tournament, steps, paired(tournament.to_pair))
    return tournament, steps


def step(tournament: Tournament, steps: list[TakenTransition], event: e.TournamentEvent) -> None:
    """Let a tournament take an event, and add its transition with an invented hash."""
    line = len(steps) + 1
    steps.append(TakenTransition(line=line, hash=f"{line:064x}", event=event, commands=tournament.handle(event)))


def played(tournament: Tournament, steps: list[TakenTransition], **changes: Any) -> MatchEntry:
    """Play the next match, and return its entry."""
    fixture = next(each for each in tournament.fixtures() if each.match not in tournament.playing)
    step(tournament, steps, e.MatchOpened(at=AT, fixture=fixture))
    event = closed(tournament, fixture.match, Random(1), **changes)
    step(tournament, steps, event)
    return event.entry


def ruling(kind: Any, **about: str) -> e.Ruled:
    """Return a ruling of an organiser."""
    return e.Ruled(
        at=LATER,
        ruling=Ruling(id=f"{next(_IDS)}", kind=kind, reason="the table was wet", by="the organiser", **about),
    )


def whole(spec: TournamentSpec = SPEC) -> list[TakenTransition]:
    """Return the transitions of a tournament with something for each table."""
    tournament, steps = begin(spec)
    played(tournament, steps, void="the disk is full", ranking=())
    foul = FoulEntry(seat=1, cause="illegal-move", turn=5, rule="q.fit.row", detail="a\0b '\"; \\ %s :x \u202e")
    first = played(tournament, steps, fouls=(foul,)).match
    step(tournament, steps, ruling("replay", match=first))
    step(tournament, steps, ruling("withdraw", entrant="e4"))
    step(tournament, steps, ruling("reinstate", entrant="e4"))
    late = Participant(name="late", player="house:dag")
    step(tournament, steps, e.EntrantJoined(at=LATER, participant=late, digest="0f" * 32))
    step(tournament, steps, ruling("disqualify", entrant="e3"))
    for event in events_of(tournament, Random(2), tables=2, troubles=Troubles(void=0.1, failed=0.1)):
        step(tournament, steps, event)
    step(tournament, steps, e.Finished(at=LATER))
    return steps


def test_a_ladder_has_the_ratings_that_decide_its_places(address: str) -> None:
    """There is a rating for each entrant; the next export replaces them."""
    spec = spec_of(4, "ladder", format_options={"matches": 12})
    tournament = tournament_of(spec)
    steps: list[TakenTransition] = []
    step(tournament, steps, e.Begun(at=AT))
    for _ in range(2):
        played(tournament, steps)
        ratings = tournament.placing_ratings()
        assert ratings is not None
        written(address, steps, spec, ratings)
        assert rows(address, "ladder_ratings") == list(enumerate(ratings))


def test_every_table_has_its_rows(address: str) -> None:
    """Text of players is harmless: only NUL is replaced in it."""
    steps = whole()
    written(address, steps)
    assert all(rows(address, name) for name in metadata.tables.keys() - {"tournaments", "ladder_ratings"})
    assert rows(address, "ladder_ratings") == []
    assert "a\u2400b '\"; \\ %s :x \u202e" in [row[-1] for row in rows(address, "fouls")]
    (joined,) = [row for row in rows(address, "entrants") if row[-1] is not None]
    assert joined[:2] == (5, "late")
    assert [row[2:] for row in rows(address, "rulings")] == [
        (kind, name, match, "the table was wet", "the organiser")
        for kind, name, match in (
            ("replay", None, "cup-00001r1"),
            ("withdraw", "e4", None),
            ("reinstate", "e4", None),
            ("disqualify", "e3", None),
        )
    ]
    end = steps[-1].commands[0]
    assert isinstance(end, c.EndTournament)
    assert {row[1]: (row[2], row[3]) for row in rows(address, "standings")} == {
        line.entrant: (line.place, line.points) for line in end.standings
    }


def test_a_later_export_replaces_the_one_before(address: str) -> None:
    """Other tournaments in the database stay."""
    steps, other = whole(), replace(SPEC, name="cap")
    written(address, whole(other), other)
    written(address, steps)
    before = {name: rows(address, name, "cap") for name in metadata.tables}
    written(address, steps[:5])
    assert len(rows(address, "steps")) == 5
    assert rows(address, "standings") == []
    assert {name: rows(address, name, "cap") for name in metadata.tables} == before


@pytest.mark.parametrize(("ranking", "places"), [(((1,), (0,)), [2, 1]), (((0, 1),), [1, 1]), ((), [None, None])])
def test_seats_that_share_a_place_have_it_both(tmp_path: Path, ranking: Any, places: list[int | None]) -> None:
    """Both have the better place, as in a list of results; in a void match no seat has a place."""
    tournament, steps = begin()
    played(tournament, steps, ranking=ranking, void=None if ranking else "the disk is full")
    written(str(tmp_path / "db"), steps)
    assert [row[4] for row in rows(str(tmp_path / "db"), "placings")] == places


def test_a_match_stands_in_the_tables(tmp_path: Path) -> None:
    """The tables have its place in the tournament, and its result."""
    tournament, steps = begin()
    entry = played(tournament, steps)
    written(str(tmp_path / "db"), steps)
    (opening,), (result,) = (rows(str(tmp_path / "db"), name) for name in ("openings", "results"))
    fixture, entrants = entry.fixture, f"[{entry.fixture.entrants[0]},{entry.fixture.entrants[1]}]"
    assert opening == (3, steps[2].hash, entry.match, fixture.number, 1, fixture.table, 0, 0, entrants)
    assert result == (4, entry.match, None, entry.reason, entry.turns, entry.head)


def test_a_result_is_superseded_once(tmp_path: Path) -> None:
    """Reasons are a fault of the referee, rules or a ruling; a ruled result does not count as played."""
    tournament, steps = begin()
    void = played(tournament, steps, void="the disk is full", ranking=()).match
    match = played(tournament, steps).match
    step(tournament, steps, ruling("void", match=match))
    step(tournament, steps, ruling("replay", match=match))
    waiting = next(each for each in tournament.fixtures() if each.match not in tournament.playing)
    name = tournament.spec.entrants[waiting.entrants[0]].name
    step(tournament, steps, ruling("award", match=waiting.match, entrant=name))
    step(tournament, steps, ruling("void", match=waiting.match))
    written(str(tmp_path / "db"), steps)
    assert [row[1] for row in rows(str(tmp_path / "db"), "results")] == [void, match]
    assert rows(str(tmp_path / "db"), "supersessions") == [
        (4, void, "void: the disk is full", None),
        (7, match, "the table was wet", "the organiser"),
    ]


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("nosuch://host/name", "driver of nosuch://host/name is missing"),
        ("sqlite+nosuch:///x", "driver of sqlite"),
        ("://", "is not the URL of a database; write sqlite:///FILE"),
        (
            "postgresql://user:secret@127.0.0.1:1/name?connect_timeout=2",
            "can't write the database postgresql://user:***@",
        ),
        ("sqlite:////proc/none/x.sqlite", "can't write the database sqlite:////proc/none/x.sqlite: unable to open"),
    ],
)
def test_what_is_no_database_is_refused(address: str, told: str) -> None:
    """The error names the address without its password, followed by the database's own words."""
    with pytest.raises(DatabaseError) as caught:
        written(address, begin()[1])
    assert told in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_file_that_is_no_database_stays_as_it_is(tmp_path: Path) -> None:
    """Somebody may have named the wrong file."""
    path = tmp_path / "notes"
    path.write_bytes(b"these are my notes, and no database at all" * 100)
    before = path.read_bytes()
    with pytest.raises(DatabaseError, match="file is not a database"):
        written(str(path), begin()[1])
    assert path.read_bytes() == before


def test_an_export_that_fails_changes_nothing(tmp_path: Path) -> None:
    """A reader at that time sees the last export."""
    path, steps = str(tmp_path / "db"), whole()
    written(path, steps[:4])
    bad = replace(steps[0], hash="x" * 64, event=replace(steps[0].event, at="\ud800"))  # no database accepts it
    with pytest.raises(DatabaseError):
        written(path, [*steps, replace(bad, line=10_000)])
    assert len(rows(path, "steps")) == 4
