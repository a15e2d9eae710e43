"""The author of a match's seat: the folder that the organiser started decides, never a name that a player chose."""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from referee.plugins import find_game, load
from referee.record.explain import Heard
from referee.record.folder import Printed
from referee.record.reader import RecordError, read_record
from referee.record.redacted_record import check_redacted_record
from referee.tournament.match_context import Fixture, MatchContext
from referee.web.submissions.archive import ArchiveEntry, pack
from referee.web.submissions.matches import AuthoredMatch, AuthorsMatches, AuthorsSeat, make_own
from referee.web.submissions.store import CheckOutcome, Store
from tests.cli.calling import referee

from .test_store import NOW

PASSING = "from protocol.client import run\nrun(lambda view: {'action': 'pass'})\n"
GOLDEN = Path(__file__).parents[2] / "golden"


def handed_in(store: Store, author: str, name: str) -> None:
    """Hand in a player in Python that passes, with any name."""
    toml = f'name = "{name}"\nrun = "{sys.executable} main.py"\n'
    files = {"player.toml": toml, "main.py": PASSING}
    version, _ = store.hand_in(
        author, pack([ArchiveEntry(path=path, data=data.encode()) for path, data in files.items()]), NOW
    )
    store.conclude(author, version.number, CheckOutcome(passed=True), NOW)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder with the record of a match of two authors whose programs use each other's names."""
    folder = tmp_path_factory.mktemp("matches")
    store = Store(folder / "in")
    handed_in(store, "ada", "bob")
    handed_in(store, "bob", "ada")
    (folder / "round").mkdir()
    for author in ("ada", "bob"):
        shutil.copy(folder / "in" / author, folder / "round" / author, follow_symlinks=False)
    seats = ("in/ada", str((folder / "round" / "bob").resolve()), "house:random", "in/ada")
    referee("play", "q", *seats, "--logs", "logs/cup", "--seed", "3", "--json", cwd=folder)
    (folder / "logs" / "broken.jsonl").write_text('{"n":0,\n{\n{\n')
    shutil.copy(GOLDEN / "clean.jsonl", folder / "logs" / "others.jsonl")
    yield folder
    store.close()


@pytest.fixture
def matches(place: Path) -> AuthorsMatches:
    """Return the matches of that folder."""
    return AuthorsMatches(place / "logs", place / "in", load().game)


def test_a_match_belongs_to_whose_folder_was_started(matches: AuthorsMatches) -> None:
    """The folder decides the seat, and the version comes from the record; names are only shown."""
    ada, bob = matches.list_own("ada"), matches.list_own("bob")
    assert [(own.seat, own.version) for own in ada] == [(0, None), (3, None)]
    assert [(own.seat, own.version) for own in bob] == [(1, 1)]
    assert ada[0].names == ("bob1", "ada", "random", "bob2")
    assert ada[0].match.startswith("cup/q-")
    assert (ada[0].foul, ada[0].points) == (None, 0)
    assert [matches.list_own(name) for name in ("random", "house:random", ".versions", "nobody")] == [[]] * 4


def test_who_comes_after_a_tie_has_the_rank_of_the_table() -> None:
    """Two share the first place: the next one is third, as at the end of the match and in the report."""
    record = read_record(GOLDEN / "clean.jsonl")
    assert record.result is not None
    match = AuthoredMatch(name="m1", head=record.chain.head, header=record.header, result=record.result, seats=())
    found = [make_own(match, AuthorsSeat(seat=seat, author="ada", version=None), ()) for seat in range(3)]
    assert [(own.rank, own.is_shared) for own in found] == [(1, True), (3, False), (1, True)]


def test_what_an_author_is_told(matches: AuthorsMatches, tmp_path: Path) -> None:
    """The explanation and the redacted record are of the author's own seat; other seats and matches do not exist."""
    name = matches.list_own("ada")[0].match
    assert [matches.explain_match("ada", name, seat) for seat in (1, 2, 4, -1)] == [None] * 4
    assert matches.explain_match("bob", name, 0) is None
    for unknown in ("others", "broken", "cup/../cup/" + name[4:], "../in/x", "", "\0"):
        assert (matches.explain_match("ada", unknown, None), matches.record("ada", unknown, None)) == (None, None)
    told = matches.explain_match("ada", name, 3)
    assert told is not None
    assert told.head == matches.list_own("ada")[0].head
    assert {
        part.content["move"]["action"]
        for part in told.conversation
        if isinstance(part, Heard) and "move" in part.content
    } == {"pass"}
    data = matches.record("bob", name, None)
    assert data is not None
    (tmp_path / "mine.redacted").write_bytes(data)
    lines = check_redacted_record(tmp_path / "mine.redacted", find_game).chain.lines
    asked = [seen for line in lines for seen in line.shown]
    assert asked
    assert b'"hand"' in data


def test_an_author_reads_what_its_own_program_printed(matches: AuthorsMatches, place: Path) -> None:
    """An author sees the lines of the own seat's file, and no path; no one else sees them."""
    name = matches.list_own("ada")[0].match
    for seat, player in enumerate(("bob1", "ada", "random", "bob2")):
        (place / "logs" / f"{name}.seat{seat}.{player}.stderr").write_text(f"seat {seat}\n")
    for author, seat in (("ada", 0), ("bob", 1), ("ada", 3)):
        told = matches.explain_match(author, name, seat)
        assert told is not None
        assert told.printed == Printed(path="", lines=(f"seat {seat}",))
        assert matches.read_output(author, name, seat) == f"seat {seat}\n"
    assert [matches.read_output("ada", name, seat) for seat in (1, 2, 4, -1)] == [None] * 4
    assert (matches.read_output("bob", name, 0), matches.read_output("ada", "others", None)) == (None, None)


def test_a_record_that_does_not_hold_is_told(matches: AuthorsMatches, place: Path) -> None:
    """The author is told this, and nothing else."""
    name = matches.list_own("ada")[0].match
    path = place / "logs" / f"{name}.jsonl"
    whole = path.read_text()
    path.write_text(whole.replace('"pass"', '"PASS"', 1))
    with pytest.raises(RecordError):
        matches.explain_match("ada", name, None)
    path.write_text(whole)
    assert matches.explain_match("ada", name, None) is not None


CONTEXT = MatchContext(
    tournament="cup",
    fixture=Fixture(match="cup-00001", number=1, round=1, table="", leg=0, attempt=0, entrants=(0, 1)),
    head="00" * 32,
)
ROOT = "/srv/in"
WHOSE: dict[str, tuple[dict[str, Any], list[tuple[int, str, int | None]]]] = {
    "signed up": ({"programs": None}, []),
    "version": ({"programs": [f"{ROOT}/.versions/ada/0012/player", "remote"]}, [(0, "ada", 12)]),
    "relative": ({"programs": ["in/ada", "../srv/in/bob"], "folder": "/srv"}, [(0, "ada", None), (1, "bob", None)]),
    "beside": ({"programs": [f"{ROOT}x/ada", f"{ROOT}/../ada"]}, []),
    "the folder itself": ({"programs": [ROOT, f"{ROOT}/.versions"]}, []),
    "inside a player": ({"programs": [f"{ROOT}/ada/data", f"{ROOT}/.versions/ada/0001/work"]}, []),
    "commands": ({"programs": [f"cmd:{ROOT}/ada", f"cmd:x/../../..{ROOT}/ada"], "folder": ROOT}, []),
    "remote": ({"programs": ["remote", "remote"], "context": CONTEXT}, []),
}


@pytest.mark.parametrize(("fields", "seats"), WHOSE.values(), ids=WHOSE)
def test_whose_a_seat_is(fields: dict[str, Any], seats: list[tuple[int, str, int | None]]) -> None:
    """Only the organiser's own words in the header decide whose a seat is."""
    header = read_record(GOLDEN / "clean.jsonl").header
    setup = replace(header.setup, names=("one", "two"))
    header = replace(header, **{"folder": "/elsewhere", "context": None, **fields, "setup": setup})
    found = AuthorsMatches(Path("/srv/logs"), Path(ROOT), load().game).find_seats(header, "cup/1")
    assert found == tuple(AuthorsSeat(seat=seat, author=author, version=version) for seat, author, version in seats)


@pytest.mark.parametrize(
    ("name", "authors"),
    [("practice/ada/0001/q-1", ["ada"]), ("practice/adam/0001/q-1", []), ("cup/practice/ada/1", []), ("q-1", [])],
)
def test_a_person_is_an_author_in_practice_alone(name: str, authors: list[str]) -> None:
    """Elsewhere any player could have used an author's name."""
    header = replace(read_record(GOLDEN / "clean.jsonl").header, programs=["house:dag", "me:ada"])
    found = AuthorsMatches(Path("/srv/logs"), Path(ROOT), load().game).find_seats(header, name)
    assert [(seat.seat, seat.author) for seat in found] == [(1, author) for author in authors]


def test_lists_are_plain(matches: AuthorsMatches) -> None:
    """The JSON has no path of the organiser's machine."""
    data = msgspec.json.encode(
        [matches.list_own("ada"), matches.explain_match("ada", matches.list_own("ada")[0].match, None)]
    )
    assert json.loads(data)
    assert str(matches.logs).encode() not in data
