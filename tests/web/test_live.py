"""Spectators of a running match see what all its players may know, for every game and every outlet."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import msgspec
import pytest
from msgspec import Raw
from msgspec.structs import replace
from twisted.internet.task import Clock

from referee.chance import SEED_BYTES, Dealer
from referee.match import commands as c
from referee.match import events as e
from referee.match.machine import Match
from referee.observers import MatchTransition
from referee.observers.spectating import SeenTable, SpectatedTables
from referee.pages.contest_page import live_page
from referee.plugins import installed
from referee.record.hidden_fields import EVENT_HIDES, FOUL_HIDES
from referee.testing.seats import ScriptedSeat
from referee.tournament.match_context import Fixture
from referee.web.event_streams import PACE_S
from referee.web.live import LiveTable, LiveTables

from ..driving import drive, random_chooser
from ..match.folding import SEED, setup_of
from ..tournament.playing import begun, spec_of
from .looking import Visitor

GAMES = sorted(installed().games)
FIXTURE = Fixture(match="m", number=1, round=1, table="", leg=0, attempt=0, entrants=(0, 1))
OPENED = LiveTable(
    tournament="cup",
    table=1,
    match="m",
    round=1,
    names=["a", "<b>"],
    addresses=[None, None],
    opened="2026-12-01T18:00:00Z",
)
MOST_TURNS = 12
EXPELLED = "nothing that is a move"


def steps_of(name: str) -> list[MatchTransition]:
    """Return the transitions of a match that goes on for some turns, until a seat is expelled."""
    game, source = installed().game(name), Random(name)
    match = Match(game, setup_of(2, game=name, names=("a", "<b>"), nonces=True), SEED)
    play = random_chooser(game, source, match)

    def _choose(view: Any) -> Any:
        return play(view) if match.turn < MOST_TURNS else EXPELLED

    seats = [ScriptedSeat(_choose, nonce=source.randbytes(16).hex()) for _ in match.setup.names]
    steps = enumerate(drive(match, seats), 1)
    return [MatchTransition.of(*step, match, (line, f"{line:064x}")) for line, step in steps]


def retold(step: MatchTransition, source: Random) -> MatchTransition:
    """Return a transition that differs in everything that is not public, and in nothing else."""
    game = installed().game(step.setup.game)
    position, setup = step.position, replace(step.setup, position=source.random())
    if position is not None and game.outcome(position) is None:
        view = game.view(position, step.turn % 2)
        position = game.imagine(game.parse_options({}), view, Dealer(source.randbytes(SEED_BYTES)))
    hidden = EVENT_HIDES.get(str(step.event.__struct_config__.tag), ())
    event = replace(step.event, **{field: f"other {source.random()}" for field in hidden})
    commands = tuple(_other(command, source) for command in step.commands)
    return replace(step, setup=setup, position=position, event=event, commands=commands)


def _other(command: c.Command, source: Random) -> c.Command:
    secret = f"other {source.random()}"
    match command:
        case c.StartSeat() | c.AskMove() | c.ResumeSeat():
            return replace(command, view=Raw(msgspec.msgpack.encode(secret)))
        case c.TellSeat():
            return replace(command, draws=(secret,))
        case c.ExpelSeat():
            return replace(command, foul=replace(command.foul, **dict.fromkeys(FOUL_HIDES, secret)))
    return command


def seen_of(steps: Sequence[MatchTransition]) -> Iterator[bytes]:
    """Yield the output of the tournament's process for each step."""
    told: list[Any] = []
    tables = SpectatedTables(told.append, installed().game, lambda: 5.0)
    tables.on_match_opened("m", 1, FIXTURE)
    for step in steps:
        tables.on_match_advanced(step)
        tables.refresh()
    for line in told:
        assert line["event"] == "table-changed"
        yield msgspec.json.encode(line["table"])


def outlets(steps: Sequence[MatchTransition]) -> list[bytes]:
    """Return all outputs of a contest for these transitions: of its process, as events, as JSON, as a page."""
    clock, visitor, found = Clock(), Visitor(), list[bytes]()
    live = LiveTables(clock, "board only")
    live.open_match(OPENED)
    live.streams.add(visitor)
    for line in seen_of(steps):
        live.show_match("cup", msgspec.json.decode(line, type=SeenTable))
        clock.advance(PACE_S)
        found += [line, *visitor.events(), live.whole(), live_page("Contest", live.state, 0.0).encode()]
    return found


@pytest.mark.parametrize("name", GAMES)
def test_nothing_leaves_that_is_not_for_everybody(name: str) -> None:
    """Two matches that differ only in what players may not know of each other give the same bytes.

    So hands, piles, seeds, nonces, draws, views, evidence and details of fouls can't be in them.
    """
    steps = steps_of(name)
    first, other = ([retold(step, Random(key)) for step in steps] for key in (1, 2))
    told = outlets(first)
    assert told == outlets(other)
    assert first != other
    assert sum(b"<svg" in part for part in told) > MOST_TURNS


@pytest.mark.parametrize("name", GAMES)
def test_the_real_steps_tell_the_same_words(name: str) -> None:
    """They have moves as they were sent, the expulsion with its cause, harmless names, and no secret of the match."""
    steps = steps_of(name)
    *_, last = seen_of(steps)
    table = msgspec.json.decode(last, type=SeenTable)
    assert (table.line, table.head) == (len(steps), f"{len(steps):064x}")
    live = LiveTables(Clock(), "board only")
    live.open_match(OPENED)
    live.show_match("cup", table)
    page = live_page("Contest", live.state, 0.0)
    assert "&lt;b&gt;" in page
    assert f"made from the record up to line {table.line}, head {table.head}" in page
    assert "<b></b>" not in page
    everything = b"".join(outlets(steps)).decode()
    nonces = [step.event.nonce for step in steps if isinstance(step.event, e.NonceReceived)]
    assert len(nonces) == 2
    for secret in (*nonces, SEED.hex(), EXPELLED, EXPELLED.encode().hex()):
        assert secret not in everything


@pytest.mark.parametrize("name", GAMES)
def test_moves_are_told_in_words_of_the_game(name: str) -> None:
    """Fields of messages are not shown; the points of a move are."""
    lines = [line for told in seen_of(steps_of(name)) for line in msgspec.json.decode(told, type=SeenTable).told]
    assert lines
    assert not any(sign in line.text for line in lines for sign in "{}[]_")
    assert [line.is_expulsion for line in lines].count(True)
    if name == "q":
        assert any(line.text.startswith("red ") or line.text.endswith(" points") for line in lines)


def shown(live: LiveTables) -> list[tuple[str, bool, bool]]:
    """Return match, whether it is over, and whether its board is shown, by table."""
    return [(table.match, table.is_over, table.board is not None) for table in live.state.tables]


def test_a_table_keeps_its_place() -> None:
    """It keeps it until its tournament is no longer played; late messages of an earlier match are dropped."""
    *_, last = seen_of(steps_of("q"))
    seen = msgspec.json.decode(last, type=SeenTable)
    live = LiveTables(Clock(), "board only")
    live.open_match(OPENED)
    live.show_match("other", seen)
    assert shown(live) == [("m", False, False)]
    live.show_match("cup", seen)
    live.close_match("cup", "m", "ada beat bob; 3 : 1")
    assert shown(live) == [("m", True, True)]
    live.open_match(replace(OPENED, match="m2"))
    live.show_match("cup", seen)
    assert shown(live) == [("m2", False, False)]
    live.clear_tournament("cup")
    assert shown(live) == []


def test_a_delay_delays_all() -> None:
    """A match begins, goes on and ends later by the delay, and so do its clocks."""
    told = [msgspec.json.decode(line, type=SeenTable) for line in seen_of(steps_of("q"))]
    seen = next(table for table in told if table.asked)
    clock = Clock()
    live = LiveTables(clock, "delay 60", 60.0)
    live.open_match(OPENED)
    clock.advance(10)
    live.show_match("cup", seen)
    clock.advance(10)
    live.close_match("cup", "m", "ada beat bob; 3 : 1")
    assert shown(live) == []
    for delay_s, expected in ((40, ("m", False, False)), (10, ("m", False, True)), (10, ("m", True, True))):
        clock.advance(delay_s)
        assert shown(live) == [expected]
        if expected == ("m", False, True):
            assert live.state.tables[0].asked_at == 65.0


@pytest.mark.parametrize("is_duplicate", [False, True])
def test_nothing_is_told_of_duplicate_deals(*, is_duplicate: bool) -> None:
    """Entrants that are still to play the deal could see it."""
    told: list[Any] = []
    tables = SpectatedTables(told.append, installed().game)
    tables.on_tournament_begun(begun(spec_of(2, duplicate=is_duplicate)), None)
    tables.on_match_opened("m", 1, FIXTURE)
    for step in steps_of("q"):
        tables.on_match_advanced(step)
    tables.refresh()
    assert len(told) == (not is_duplicate)
