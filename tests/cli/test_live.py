"""The views of a running tournament: plain lines, JSON lines, and the live view as rich renders it."""

import io
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from rich.console import Console

from referee.cli.tournament_view import (
    LATELY,
    JsonLines,
    LiveView,
    PlainLines,
    choose_view,
    foul_lines,
    result_text,
    spell,
)
from referee.match import events as e
from referee.match.machine import Match
from referee.observers import MatchTransition, Observer
from referee.pages.words import short_cause
from referee.tournament import events as te
from referee.tournament.commands import SuspendEntrant
from referee.tournament.match_context import Fixture, MatchEntry
from referee.tournament.spec import Participant
from referee.tournament.standings import standings

from ..pages.tournaments import AT, START_DETAIL, Cast, Stage, spec
from ..tournament.playing import begun, spec_of
from ..tournament.playing import closed as match_closed

CAST = Cast(cheats={0: 2}, dead=frozenset({3}), void=frozenset({1}))
ESCAPE = "\x1b[2J[/red][bold]"


class Clock:
    """Seconds that pass when the test wants it."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def stage(folder: Path, size: int = 4, **more: Any) -> Stage:
    """Return a round robin in which an entrant cheats, one never starts, and the referee fails once."""
    return Stage(spec(size, "roundrobin", tie_breaks=(), **more), folder, CAST)


def shown(stage: Stage, watch: Observer, most: int = 100, each: Callable[[], None] = lambda: None) -> None:
    """Play, and notify a watcher of everything, as a runner does."""
    tournament = stage.tournament
    with watch:
        watch.on_tournament_begun(tournament, 6)
        while most and (fixture := next(tournament.fixtures(), None)) is not None:
            most -= 1
            known = set(tournament.suspended)
            watch.on_match_opened(fixture.match, 1, fixture)
            entry, match = stage.play_one(fixture)
            watch.on_match_advanced(step_of(match))
            (watch.on_match_closed if entry.void is None else watch.on_match_voided)(entry)
            for entrant in sorted(tournament.suspended.keys() - known):
                watch.on_entrant_suspended(tournament.suspended[entrant])
            each()
            watch.refresh()
        watch.on_notice(f"low disk {ESCAPE}")
        watch.on_tournament_ended(tournament)


def view(width: int, height: int = 30) -> tuple[LiveView, Console, Clock]:
    """Return a live view on a terminal that is a string."""
    console = Console(file=io.StringIO(), record=True, width=width, height=height, force_terminal=True)
    clock = Clock()
    return LiveView(console, clock), console, clock


def screen(live: LiveView, console: Console) -> list[str]:
    """Return the present screen, row by row."""
    page = Console(file=io.StringIO(), record=True, width=console.width, height=console.height)
    page.print(live.screen(), end="")
    return page.export_text().splitlines()


# --- lines


def test_plain_lines(tmp_path: Path) -> None:
    """There is a line for the beginning, each result, foul, void match, suspension and note, and the end."""
    lines: list[str] = []
    told = stage(tmp_path)
    shown(told, PlainLines(lines.append))
    assert lines[0] == "cup: q, roundrobin, 4 entrants, 6 matches"
    assert "cup-00002: void, to be played again: the disk is full" in lines
    assert lines.count(f"  bot03 expelled: crashed: {START_DETAIL}") == 1
    assert f"  bot03 expelled: crashed: {short_cause(START_DETAIL)}" in lines
    assert f"bot03 is suspended: {short_cause(f'failed to start in 2 matches: {START_DETAIL}')}" in lines
    assert [line for line in lines if line.startswith("  bot00 expelled: illegal-move q.place.")] != []
    results = [line for line in lines if line.startswith("[")]
    counted = [entry for entry in told.entries if entry.void is None]
    of = (6, 6, 5, 5, 5)  # the third match suspends an entrant
    assert [line.split()[:2] for line in results] == [
        [f"[{number}/{total}]", f"{entry.match}:"]
        for number, (entry, total) in enumerate(zip(counted, of, strict=True), 1)
    ]
    assert lines[-5] == r"low disk \x1b[2J[/red][bold]"
    assert lines[-4] == "cup is over: 5 matches, 1 given up, 1 void"


def test_a_drawn_match_that_is_played_again_is_one_more_of_all() -> None:
    """Lines, the live view and JSON count up to a total that grows, never beyond."""
    lines: list[str] = []
    told: list[dict[str, Any]] = []
    live, console, _ = view(80)
    watches: list[Observer] = [PlainLines(lines.append), JsonLines(told.append), live]
    tournament = begun(spec_of(3, "knockout", format_options={"replays": 2}))
    rows = []
    with live:
        for watch in watches:
            watch.on_tournament_begun(tournament, tournament.total)
        while (fixture := next(tournament.fixtures(), None)) is not None:
            tournament.handle(te.MatchOpened(at=AT, fixture=fixture))
            ranking = ((0, 1),) if fixture.number % 3 else ((0,), (1,))  # two draws before each win
            closed = match_closed(tournament, fixture.match, Random(1), ranking=ranking, fouls=())
            tournament.handle(closed)
            for watch in watches:
                watch.on_match_closed(closed.entry)
            rows.append(screen(live, console)[1].split("   ")[0])
    assert [line.split()[0] for line in lines] == ["cup:", "[1/3]", "[2/4]", "[3/4]", "[4/5]", "[5/6]", "[6/6]"]
    assert [(item["played"], item["total"]) for item in told if "match" in item] == [
        (1, 3), (2, 4), (3, 4), (4, 5), (5, 6), (6, 6)
    ]  # fmt: skip
    assert rows == [f"{line[1]} of {line[3]} matches" for line in lines[1:]]


def test_plain_lines_tell_who_beat_whom_and_why(tmp_path: Path) -> None:
    """The points follow the sentence, in the order of its names."""
    lines: list[str] = []
    told = stage(tmp_path)
    shown(told, PlainLines(lines.append))
    fouled = next(entry for entry in told.entries if len(entry.fouls) == 1 and entry.void is None)
    (foul,) = fouled.fouls
    best = fouled.names[1 - foul.seat]
    scores = dict(zip(fouled.names, fouled.scores, strict=True))
    loser = fouled.names[foul.seat]
    fault = {"illegal-move": "made an illegal move", "timeout": "was too late", "crashed": "crashed"}[foul.cause]
    wanted = f"{fouled.match}: {best} beat {loser} ({loser} {fault}); {scores[best]} : {scores[loser]}"
    assert wanted in {line.partition("] ")[2] for line in lines}


def test_json_lines(tmp_path: Path) -> None:
    """Events come in the order of the record; standings come before the end."""
    written: list[Any] = []
    told = stage(tmp_path)
    shown(told, JsonLines(written.append))
    written = msgspec.json.decode(msgspec.json.encode(written))
    assert written[0] == {
        "event": "tournament-begun",
        "tournament": "cup",
        "game": "q",
        "format": "roundrobin",
        "entrants": ["bot00", "bot01", "bot02", "bot03"],
        "total": 6,
        "played": 0,
    }
    by_event = {
        kind: [item for item in written if item["event"] == kind] for kind in {item["event"] for item in written}
    }
    assert [item["match"] for item in by_event["match-opened"]] == [entry.match for entry in told.entries]
    closed = [entry for entry in told.entries if entry.void is None]
    assert [(item["match"], item["scores"], item["head"]) for item in by_event["match-closed"]] == [
        (entry.match, list(entry.scores), entry.head) for entry in closed
    ]
    (void,) = by_event["match-voided"]
    assert (void["match"], void["void"]) == ("cup-00002", "the disk is full")
    (suspended,) = by_event["entrant-suspended"]
    assert (suspended["name"], suspended["given_up"]) == ("bot03", 1)
    assert [item["event"] for item in written[-2:]] == ["standings", "tournament-over"]
    counts = {"played": 5, "total": 5, "awarded": 0, "given_up": 1, "void": 1}
    assert written[-1] == {"event": "tournament-over", "is_over": True, **counts}
    assert written[-2]["standings"][0] == {
        "name": written[-2]["standings"][0]["name"],
        **msgspec.to_builtins(first_standing(told)),
    }


def test_standings_are_written_once_a_second() -> None:
    """A match takes 0.25 s; the standings of three entrants come after a second at least, and at the end."""
    written: list[dict[str, Any]] = []
    clock = Clock()
    lines = JsonLines(written.append, clock)
    tournament = begun(spec_of(3, "roundrobin", format_options={"cycles": 10}))
    lines.on_tournament_begun(tournament, tournament.total)
    while (fixture := next(tournament.fixtures(), None)) is not None:
        tournament.handle(te.MatchOpened(at=AT, fixture=fixture))
        closed = match_closed(tournament, fixture.match, Random(1), fouls=())
        tournament.handle(closed)
        clock.now_s += 0.25
        lines.on_match_closed(closed.entry)
    lines.on_tournament_ended(tournament)
    played = [item["played"] for item in written if item["event"] == "standings"]
    assert played == [3, 9, 15, 21, 27, 30]


def first_standing(told: Stage) -> Any:
    """Return the first line of the standings, counted again."""
    return standings(told.tournament.table, ())[0]


@pytest.mark.parametrize("kind", ["plain", "json", "screen"])
def test_who_joins_late_has_a_name(tmp_path: Path, kind: str) -> None:
    """Its name is shown everywhere, although it was not there at the beginning."""
    live, console, clock = view(120)
    said: list[Any] = []
    watch: Observer = {"plain": PlainLines(said.append), "json": JsonLines(said.append), "screen": live}[kind]
    told = Stage(spec(4), tmp_path)
    watch.on_tournament_begun(told.tournament, None)
    told.take(te.EntrantJoined(at=AT, participant=Participant(name="late", player="house:dag"), digest=None))
    fixture = Fixture(match="cup-00009", number=9, round=1, table="", leg=0, attempt=0, entrants=(4, 0))
    watch.on_match_opened(fixture.match, 1, fixture)
    if kind == "screen":
        said += screen(live, console)
    watch.on_entrant_suspended(SuspendEntrant(entrant=4, why="so"))
    clock.now_s += 1.0
    watch.on_tournament_ended(told.tournament)
    assert "late" in str(said)


# --- the live view


@pytest.mark.parametrize("width", [80, 160])
def test_everything_is_on_the_screen(tmp_path: Path, width: int) -> None:
    """Tables with the seat to move, standings, rate, remaining time, and recent events."""
    live, console, clock = view(width)
    told = stage(tmp_path, 6)
    with live:
        shown_to(told, live, clock, matches=5)
        fixture = next(told.tournament.fixtures())
        live.on_match_opened("cup-00009", 7, fixture)
        live.on_match_advanced(step_of(half_played(told), "cup-00009"))
        clock.now_s += 65.0
        rows = screen(live, console)
    text = "\n".join(rows)
    names = [told.spec.entrants[entrant].name for entrant in fixture.entrants]
    (table,) = [row for row in rows if row.startswith("    7")]
    assert table.split()[:4] == ["7", str(fixture.round), *names]
    assert table.split()[4:6] == ["2", "1m"]
    assert f"{told.tournament.played} of 15 matches   1m 55s so far" in rows[1]
    assert "a minute" in rows[1]
    assert "left" in rows[1]
    assert all(item.name in text for item in told.spec.entrants)
    assert "void, to be played again" in text


def test_the_time_that_is_left_counts_what_open_matches_have_played(tmp_path: Path) -> None:
    """At four tables, the first of the matches of twenty seconds has ended, and three others are about to end."""
    live, console, clock = view(160)
    told = Stage(spec(10, "roundrobin", tie_breaks=()), tmp_path)
    fixtures = list(told.tournament.fixtures())
    with live:
        live.on_tournament_begun(told.tournament, told.tournament.total)
        for table, fixture in enumerate(fixtures[:4]):
            live.on_match_opened(fixture.match, table, fixture)
        clock.now_s += 20.0
        entry, _ = told.play_one(fixtures[0])
        live.on_match_closed(entry)
        live.on_match_opened(fixtures[4].match, 0, fixtures[4])
        (head,) = [row for row in screen(live, console) if "so far" in row]
    total = told.tournament.total
    assert total is not None
    assert f"about {spell((total - 4) / 4 * 20)} left" in head


def shown_to(told: Stage, live: LiveView, clock: Clock, matches: int) -> None:
    """Play some matches of ten seconds each."""
    live.on_tournament_begun(told.tournament, 15)
    for _ in range(matches):
        fixture = next(told.tournament.fixtures())
        live.on_match_opened(fixture.match, 1, fixture)
        entry, _match = told.play_one(fixture)
        clock.now_s += 10.0
        (live.on_match_closed if entry.void is None else live.on_match_voided)(entry)


def step_of(match: Match, name: str | None = None) -> MatchTransition:
    """Return the last transition of a match, which may get another name."""
    step = MatchTransition.of(e.MatchOpened(at_ms=0.0), (), match, (1, "0" * 64))
    return step if name is None else replace(step, setup=replace(step.setup, match=name))


def half_played(told: Stage) -> Match:
    """Return a match in its second turn."""
    fixture = next(told.tournament.fixtures())
    for match, _ in told.steps_of(fixture):
        if match.turn == 2:
            return match
    raise AssertionError("a match of two turns at least")


@pytest.mark.parametrize(("width", "height"), [(80, 24), (160, 50), (40, 10), (20, 5)])
def test_the_screen_fits_the_terminal(tmp_path: Path, width: int, height: int) -> None:
    """No line is too wide, there are not too many lines, and the standings are among them."""
    live, console, clock = view(width, height)
    told = stage(tmp_path, 12)
    with live:
        shown_to(told, live, clock, matches=6)
        for table in range(1, 65):
            live.on_match_opened(f"cup-{table}", table, next(told.tournament.fixtures()))
        for number in range(2 * LATELY):
            live.on_notice(f"note {number} " + "x" * 300)
        rows = screen(live, console)
    assert len(rows) < height
    assert all(len(row) < width for row in rows)
    if height >= 24:
        assert any("points" in row for row in rows)
        assert any("more tables" in row for row in rows)


def test_what_went_wrong_before_it_was_stopped_is_shown(tmp_path: Path) -> None:
    """A resumed view shows the last recorded fouls and void matches, until newer ones replace them."""
    told = stage(tmp_path).play(4)
    seen, console, _ = view(160)
    live, fresh, _ = view(160)
    with seen, live:
        shown_to(stage(tmp_path / "again"), seen, Clock(), matches=4)
        for entry in told.entries:
            live.on_match_recalled(entry)
        live.on_tournament_begun(told.tournament, 6)
        wrong = screen(seen, console)[-LATELY:]
        assert wrong == screen(live, fresh)[-LATELY:]
        assert any("expelled: illegal-move" in row for row in wrong)
        assert any("void, to be played again" in row for row in wrong)
        for number in range(LATELY):
            live.on_notice(f"note {number}")
        assert screen(live, fresh)[-LATELY:] == [f"note {number}" for number in range(LATELY)]


@pytest.mark.parametrize(("height", "expected"), [(30, LATELY), (24, 3), (18, 0)])
def test_the_last_results_are_on_the_screen_in_words(tmp_path: Path, height: int, expected: int) -> None:
    """Results are above the trouble, as many as leave room for tables and standings."""
    told = stage(tmp_path, 6)
    live, console, clock = view(120, height)
    with live:
        shown_to(told, live, clock, matches=8)
        rows = screen(live, console)
    counting = [entry for entry in told.entries if entry.void is None][-expected or 99 :]
    wanted = [f"{entry.match} {result_text(told.tournament, entry)}" for entry in counting]
    assert [row for row in rows if " beat " in row or ": draw" in row or "nobody won" in row] == wanted


def test_a_ladder_shows_the_rating_that_decides_its_places(tmp_path: Path) -> None:
    """The rating is on the screen while the ladder runs, and in the last lines."""
    told = Stage(spec(6, "ladder", format_options={"matches": 40}), tmp_path)
    live, console, clock = view(80)
    lines: list[str] = []
    with live:
        shown_to(told, live, clock, matches=12)
        rows = screen(live, console)
    head = next(index for index, row in enumerate(rows) if "rating points played" in row)
    ratings = [float(row.split()[2]) for row in rows[head + 1 : head + 7]]
    assert ratings == sorted(told.tournament.placing_ratings() or (), reverse=True)
    PlainLines(lines.append).on_tournament_ended(told.tournament)
    assert f"(rating {ratings[0]:.1f})" in lines[1]


def test_a_screen_that_grows_shows_what_was_cut(tmp_path: Path) -> None:
    """A line that was cut for a narrow terminal is whole again on a wide one."""
    live, console, _ = view(20)
    with live:
        live.on_tournament_begun(stage(tmp_path).tournament, 6)
        live.on_notice("low disk in " + "x" * 30)
        assert screen(live, console)[-1].endswith("…")
        console.width = 80
        assert screen(live, console)[-1] == "low disk in " + "x" * 30


def test_hostile_text_can_not_draw_on_the_terminal(tmp_path: Path) -> None:
    """Details and notes are shown literally, without escapes and markup."""
    live, console, _ = view(160)
    told = Stage(spec(4, "roundrobin"), tmp_path, Cast(rude={0: 1}, junk=ESCAPE))
    with live:
        shown(told, live, most=1)
        live.on_notice(ESCAPE)
        rows = screen(live, console)
    assert rows[-1] == r"\x1b[2J[/red][bold]"
    assert not any("\x1b" in row for row in rows)


def test_it_is_drawn_four_times_a_second_at_most(tmp_path: Path) -> None:
    """Two drawings are at least a quarter of a second apart, however often it is refreshed."""
    live, console, clock = view(80)
    told = stage(tmp_path)
    file = console.file
    assert isinstance(file, io.StringIO)
    with live:
        live.on_tournament_begun(told.tournament, 6)
        sizes = []
        for step in range(9):
            clock.now_s = 100.0 + step / 16
            live.refresh()
            sizes.append(len(file.getvalue()))
    assert [number for number in range(1, 9) if sizes[number] != sizes[number - 1]] == [4, 8]


def test_before_anything_is_known() -> None:
    """A view without any event shows that, and refreshing it is harmless."""
    live, console, _ = view(80)
    with live:
        live.refresh()
        assert screen(live, console) == ["nothing is played yet"]


def test_a_pipe_gets_lines() -> None:
    """Without a terminal, the watcher writes plain lines, or JSON if that is wanted."""
    assert isinstance(choose_view(as_json=False), PlainLines)
    assert isinstance(choose_view(as_json=True), JsonLines)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.9, "0s"), (59.9, "59s"), (65, "1m 05s"), (7800, "2h 10m"), (97_200, "1d 03h")],
)
def test_times_are_spelled_briefly(seconds: float, text: str) -> None:
    """Two units are enough."""
    assert spell(seconds) == text


def test_a_match_that_was_given_up_leaves_its_table(tmp_path: Path) -> None:
    """A match whose player was suspended is never closed: it disappears when its table has another one."""
    live, console, _ = view(80)
    told = stage(tmp_path)
    fixture = next(told.tournament.fixtures())
    with live:
        live.on_tournament_begun(told.tournament, None)
        for name in ("cup-1", "cup-2"):
            live.on_match_opened(name, 1, fixture)
        assert len([row for row in screen(live, console) if row.startswith("    1")]) == 1


def test_an_entry_that_nobody_opened(tmp_path: Path) -> None:
    """After a restart, a view gets results of matches that it never saw opened."""
    live, console, _ = view(160)
    told = stage(tmp_path).play(4)
    entry: MatchEntry = next(item for item in told.entries if item.fouls and item.void is None)
    with live:
        live.on_tournament_begun(told.tournament, None)
        before = screen(live, console)
        live.on_match_closed(entry)
        live.on_match_advanced(step_of(half_played(told), entry.match))
        after = screen(live, console)
    assert not [row for row in after if row.startswith("    1")]  # it takes no table
    assert after[: len(before)] == before
    assert after[-len(entry.fouls) :] == [f"{entry.match} {line}" for line in foul_lines(entry)]
