"""Random matches of OpenSpiel's games over the protocol: every view fits into its limits, and every record is valid."""

import io
import json
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import chess.pgn
import pytest

from protocol.messages import End, Expelled, Move, Turn
from referee.pages.exports import games_pgn
from referee.pages.match_summary import replay_as_pgn
from referee.pages.summary import Summary
from referee.record.reader import read_record
from referee.tournament.match_context import Fixture, make_entry
from referee.tournament.points import Scoring
from referee_openspiel.catalogue import LIBRARY, list_fit
from referee_openspiel.game import SpielGame

from .in_memory import InMemoryMatch

KINDS = {kind.short_name: kind for kind in list_fit()}
pytestmark = pytest.mark.usefixtures("example_packages")  # the audit of each record needs the rules


def list_legal(view: Any) -> list[Any]:
    """Return the legal moves that a player reads in a view."""
    legal = view["legal"] or [number for first, last in view["legal_runs"] for number in range(first, last + 1)]
    assert len(legal) == view["legal_count"] > 0
    return list(legal)


def play(folder: Path, name: str, turns: int, source: Random, **options: Any) -> InMemoryMatch:
    """Play a match at random, and return it with its record audited.

    Args:
        folder: folder for the record.
        name: the library's name of the game.
        turns: number of turns after which seats make a wrong move and are expelled.
        source: source of chance.
        options: options of the game.
    """
    game = SpielGame(KINDS[name])
    played = InMemoryMatch(folder, game.seats[0], game=game, options=options)
    played.ready()
    while not played.result:
        (seat,) = played.match.open_requests
        turn = next(message for message in reversed(played.peers[seat].heard()) if isinstance(message, Turn))
        move = source.choice(list_legal(turn.view)) if turn.turn <= turns else "no such move"
        played.peers[seat].say(Move(match="m1", turn=turn.turn, move=move))
    played.end()
    return played


@pytest.mark.parametrize("name", KINDS)
def test_a_random_match_is_played_and_audited(name: str, tmp_path: Path) -> None:
    """The library's version is in the header; only the wrong moves at the end are fouls; all seats are told the end."""
    played = play(tmp_path, name, 60, Random(name))
    header = json.loads(played.path.read_text().splitlines()[0])
    assert header["rules_version"] == LIBRARY
    assert {foul.rule for foul in played.match.fouls} <= {"openspiel.illegal"}
    assert all(foul.turn > 60 for foul in played.match.fouls)
    assert all(isinstance(peer.heard()[-1], End | Expelled) for peer in played.peers)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("mnk", {"m": 30, "n": 30}),
        ("dark_hex", {"num_rows": 24, "num_cols": 24}),
        ("kriegspiel", {}),
        ("crazy_eights", {}),
        ("chinese_checkers", {}),
        ("battleship", {"num_shots": 200}),
    ],
)
def test_large_views_and_action_sets_fit_into_the_wire(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    """More than 500 legal moves, texts of more than 4,096 bytes and histories of many actions, to the end of a game."""
    played = play(tmp_path, name, 100_000, Random(1), **options)
    assert played.match.fouls == []


def write_pgn(played: InMemoryMatch) -> str:
    """Return a match in the form in which a tournament's report exports it."""
    fixture = Fixture(match="m1", number=1, round=1, table="", leg=0, attempt=0, entrants=(0, 1))
    record = read_record(played.path)
    assert record.result is not None
    entry = make_entry(fixture, played.setup.names, record.result.result, head="")
    summary = SimpleNamespace(
        results=[entry],
        history=SimpleNamespace(uncounted_reason=lambda _: ""),
        match_summaries={
            "m1": SimpleNamespace(
                opened="2026-01-01T00:00:00+00:00", pgn=replay_as_pgn(record, lambda _: played.match.game)
            )
        },
        spec=SimpleNamespace(scoring=Scoring()),
    )
    return "".join(games_pgn(cast("Summary", summary)))


@pytest.mark.parametrize(("turns", "options"), [(1000, {}), (31, {}), (0, {}), (1000, {"chess960": True})], ids=str)
def test_a_program_for_chess_reads_the_moves(turns: int, options: dict[str, Any], tmp_path: Path) -> None:
    """python-chess has all moves, no errors, the result and the final position; also of a match that a foul ended."""
    played = play(tmp_path, "chess", turns, Random(4), **options)
    text = write_pgn(played)
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    board = game.end().board()
    assert game.errors == []
    assert board.chess960 == bool(options)
    state = played.match.state
    assert game.end().ply() - game.ply() == len(state.history) - state.drawn == min(turns, played.match.turn)
    assert max(map(len, text.splitlines())) <= 255
    if played.match.fouls:
        assert game.headers["Result"] == ("0-1" if turns % 2 == 0 else "1-0")
        assert game.headers["Termination"] == "rules infraction"
    else:
        assert board.result(claim_draw=True) == game.headers["Result"]
        assert game.headers["Termination"] == "normal"
    assert board.fen().split()[:2] == str(state.native).split()[:2]
