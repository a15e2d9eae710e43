"""Matches in this process: they have the same fouls and the same records as matches over sockets."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

import referee
from referee.record.reader import Record
from tests.api.players import LATE_S, first, illegal, late, malformed, program, raising, stopped

GAMES = ("q", "quincy", "quincala", "quadominos")
INSTANTS = {"at_ms", "sent_ms", "first_byte_ms", "lag_ms", "stalled_ms", "clock_ms", "used_ms", "limit_ms", "opened"}
"""Fields with instants. The limit of a step within a turn is what the earlier steps have left, so it counts as one."""
HEADS = {"prev", "signature", "key", "locked_seed", "match", "process", "standstills", "frame", "evidence"}
HEADS |= {"programs", "folder", "commitments", "n"}
"""Fields that follow from names, keys and instants, or say how a player was given."""
DOING = {"processor_ms", "ending"}
"""Fields about what a late program was doing; for a function, they are unknown."""


def timeless(value: Any) -> Any:
    """Return a plain value without instants and heads, and without the frames of a traceback, which name files."""
    if isinstance(value, str):
        value = re.sub("; [0-9.]+ s of processor time: it was still computing", "", value)
        return re.sub("(?<=exit status 1: ).*(?=LookupError)", "", value)
    if isinstance(value, dict):
        left_out = INSTANTS | HEADS
        if "deadline-passed" in value.values() or "timeout" in value.values():
            left_out |= DOING
        return {key: timeless(item) for key, item in value.items() if key not in left_out}
    return [timeless(item) for item in value] if isinstance(value, list | tuple) else value


def list_transitions(record: Record) -> list[Any]:
    """Return a record without the fields that differ from match to match, such as who was ready first."""
    events = [timeless(msgspec.to_builtins(step.event)) for step in record.transitions]
    ready = [event for event in events if event["event"] == "ready-received"]
    rest = [event for event in events if event not in ready]
    assert record.result is not None
    return [
        timeless(msgspec.to_builtins(record.header)),
        sorted(event["seat"] for event in ready),
        rest,
        [timeless(command) for step in record.transitions for command in step.commands],
        timeless(msgspec.to_builtins(record.result)),
    ]


MATCHES: list[tuple[str, list[Any], float]] = [
    ("q", [illegal, raising, "house:random", "house:ldasg"], 60),
    ("quincy", [malformed, "house:random", "house:greedy", "house:random"], 60),
    ("quincala", ["house:random", "house:greedy"], 60),
    ("quadominos", ["house:random", "house:greedy"], 60),
    ("quincy", [late, "house:random"], LATE_S / 2),
]
"""Game, players and time limit of a move: each game once to its end, and each kind of foul once."""


@pytest.mark.parametrize(("game", "players", "limit_s"), MATCHES)
def test_a_match_over_sockets_has_the_same_record(
    game: str, players: list[Any], limit_s: float, tmp_path: Path
) -> None:
    """The same moves and fouls give the same record in this process and over sockets, except for instants and heads."""
    programs = [player if isinstance(player, str) else program(player, tmp_path) for player in players]
    given = ["--seed", "2", "--time", str(limit_s), "--json"]
    command = [sys.executable, "-m", "referee", "play", game, *programs, *given]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    refereed = referee.load(tmp_path / msgspec.json.decode(done.stdout)["record"])
    assert isinstance(refereed, referee.Match)
    match = referee.play(game, players, seed=2, names=refereed.players, per_move_s=limit_s)
    assert list_transitions(match.record) == list_transitions(refereed.record)
    assert len(match.fouls) == sum(callable(player) for player in players)


@pytest.mark.parametrize("game", GAMES)
def test_a_match_holds(game: str, tmp_path: Path) -> None:
    """A match between a function and a house player is saved, read again, and passes the audit."""
    match = referee.play(game, [first(game), "house:random"], seed=3)
    loaded = referee.load(match.save(tmp_path / "records"))
    assert isinstance(loaded, referee.Match)
    loaded.audit()
    assert loaded.result == match.result
    assert [turn.move for turn in loaded] == [turn.move for turn in match]
    assert str(loaded) == str(match)


def test_nobody_knows_the_deal_without_a_seed() -> None:
    """Without a seed, the deal follows from secrets and from a nonce of every player, and the record holds."""
    match = referee.play("quincy", ["house:random", "house:random"])
    match.audit()
    assert match.record.header.seed is None
    assert match.record.result is not None
    assert all(match.record.result.nonces)


FOULS: list[tuple[Callable[[Any], Any], str, str]] = [
    (illegal, "illegal-move", "q.place.adjacent"),
    (raising, "crashed", "LookupError: no idea"),
    (lambda view: sys.exit(3), "crashed", "SystemExit: 3"),
    (lambda view: object(), "crashed", "a move is plain data"),
    (lambda view: {1: 2}, "malformed-message", "a map's key is of type int"),
    (lambda view: float("nan"), "malformed-message", "not finite"),
    (lambda view: ["x" * 4000] * 40, "crashed", "LocalProtocolError"),
    (malformed, "malformed-message", "Expected `object`"),
]


@pytest.mark.parametrize(("choose", "cause", "told"), FOULS)
def test_a_foul_is_one_here_too(choose: Callable[[Any], Any], cause: str, told: str) -> None:
    """A function that breaks a rule is expelled for the same cause as a program, and the record holds."""
    match = referee.play("q", [choose, "house:dag"], seed=1)
    match.audit()
    (foul,) = match.fouls
    assert (foul.seat, foul.cause) == (0, cause)
    assert told in f"{foul.rule} {foul.detail}"
    assert match.winners == ("dag",)


def test_what_takes_too_long_has_not_come() -> None:
    """A function that takes longer than the limit is expelled once it returns."""
    match = referee.play("quincy", ["house:random", "house:greedy"], per_move_s=1e-6)
    match.audit()
    assert {str(foul.cause) for foul in match.fouls} == {"timeout"}


def test_the_author_sees_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    """The traceback of an exception is printed from the function's own frames on, and stored."""
    match = referee.play("q", [raising, "house:dag"], seed=1)
    printed = capsys.readouterr().err
    assert "raising was expelled; its exception" in printed
    assert "seat.py" not in printed
    assert printed.endswith(match.tracebacks["raising"])


def test_the_user_can_stop_a_player_that_thinks() -> None:
    """Ctrl-C ends the match, blames nobody, and the referee can play the next one."""
    with pytest.raises(KeyboardInterrupt):
        referee.play("q", ["house:dag", stopped], seed=1)
    assert referee.play("q", ["house:dag", "house:dag"], seed=1).players == ("dag1", "dag2")


MISTAKES: list[tuple[str, Any, dict[str, Any], str]] = [
    ("chess", ["house:dag", "house:dag"], {}, "no game 'chess'"),
    ("q", ["house:dag"], {}, "takes 2 to 4 players, not 1"),
    ("q", ["house:gready", "house:dag"], {}, 'did you mean "house:greedy"\\?$'),
    ("q", "house:dag", {}, "a list of one for each seat, not 'house:dag'"),
    ("q", ["my_bot/", "house:dag"], {}, "a player in this process is a function"),
    ("q", ["house:dag", "house:dag"], {"seed": "x"}, "a seed is a whole number, not 'x'"),
    ("q", ["house:dag", "house:dag"], {"seed": -5}, "a seed is a whole number from 0 to 9223372036854775807, not -5"),
    ("q", ["house:dag", "house:dag"], {"seed": 1 << 63}, "a seed is a whole number from 0 to 9223372036854775807"),
    ("q", [f"cmd:{sys.executable}", "house:dag"], {}, "`referee play q` starts"),
    ("q", [7, "house:dag"], {}, "a function from a view to a move"),
    ("q", ["house:dag", "house:dag"], {"options": {"q_bonus": "x"}}, "q_bonus"),
    ("q", ["house:dag", "house:dag"], {"names": ["one"]}, "a name for each of the 2 players"),
    ("q", ["house:dag", "house:dag"], {"names": ["one", "a b"]}, "the name 'a b' must be"),
    ("q", ["house:dag", "house:dag"], {"per_move_s": float("inf")}, "per_move_s is above 0"),
]


@pytest.mark.parametrize(("game", "players", "more", "told"), MISTAKES)
def test_a_mistake_is_told(game: str, players: list[Any], more: dict[str, Any], told: str) -> None:
    """An impossible match is refused, with advice."""
    with pytest.raises(referee.RefereeError, match=told):
        referee.play(game, players, **more)
