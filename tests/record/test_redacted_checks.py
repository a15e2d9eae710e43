"""Redacted records that were sealed with the key: their content must be consistent, and in one form."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from referee.record.audit.redacted import check_with_seed
from referee.record.reader import RecordError
from referee.record.redacted_record import check_redacted_record

from ..match.folding import SEED
from ..mutations.records import lines_of, redacted, rewritten
from .forging import REGISTRY
from .records import STORIES, record_of

pytestmark = pytest.mark.forges
Lines = list[dict[str, Any]]
Forge = Callable[[Lines], object]
SEAT = 0
FINISHED = [name for name in STORIES if b'"kind":"seal"' in record_of(name)]


def shown(name: str = "late move") -> Lines:
    """Return the lines of a record, redacted for its first seat."""
    return lines_of(redacted(name, SEAT))


def refused(path: Path, lines: Lines) -> RecordError:
    """Seal lines with the key, and return the error."""
    path.write_bytes(rewritten(lines))
    with pytest.raises(RecordError) as caught:
        check_redacted_record(path, GAME)
    return caught.value


def events(lines: Lines, name: str) -> list[dict[str, Any]]:
    """Return the events of a name."""
    return [line["event"] for line in lines if line["kind"] == "step" and line["event"]["event"] == name]


def commands(lines: Lines, name: str) -> list[dict[str, Any]]:
    """Return the commands of a name."""
    return [command for line in lines for command in line.get("commands", ()) if command["command"] == name]


def entries(lines: Lines, least: int) -> list[dict[str, Any]]:
    """Return the `open` entries of lines that have at least `least` of them."""
    return [line["open"] for line in lines if len(line.get("open", ())) >= least]


def turned(holder: dict[str, Any]) -> None:
    """Reverse the order of an object's keys."""
    items = list(holder.items())
    holder.clear()
    holder.update(reversed(items))


def without_view(lines: Lines) -> None:
    """Leave out a view, but not its digest."""
    next(entry for opened in entries(lines, 1) for entry in opened.values() if len(entry) > 2).pop()


def view_of_a_move(lines: Lines) -> None:
    """Replace a move by a digest, and show the value behind it."""
    opened = next(opened for opened in entries(lines, 1) if "event.move" in opened)
    opened["event.move"] = [opened["event.move"][0], "", {"a": 1}]


def everywhere(lines: Lines, **said: Any) -> None:
    """Let every end say the same as the result."""
    for key, value in said.items():
        both(lines, key, value)
    for command in commands(lines, "end-seat"):
        command.update(said)


def both(lines: Lines, key: str, value: Any) -> None:
    """Let the result's line and the last command say the same."""
    lines[-2]["result"][key] = value
    commands(lines, "close-match")[0]["result"][key] = value


def detail(lines: Lines) -> list[Any]:
    """Return the shown entry for the detail of a foul."""
    return next(entry for opened in entries(lines, 1) for path, entry in opened.items() if path.endswith("foul.detail"))


FORMS: dict[str, Forge] = {
    "opened in another order": lambda lines: turned(entries(lines, 2)[0]),
    "a view left out": without_view,
    "a view of what is none": view_of_a_move,
    "keys of a header in another order": lambda lines: turned(lines[0]["setup"]),
    "keys of an event in another order": lambda lines: turned(lines[3]["event"]),
    "keys of a command in another order": lambda lines: turned(commands(lines, "tell-seat")[0]),
    "keys of a result in another order": lambda lines: turned(lines[-2]["result"]),
    "keys of a foul in another order": lambda lines: turned(lines[-2]["result"]["fouls"][0]),
    "an instant without a point": lambda lines: events(lines, "move-received")[0].update(at_ms=5),
    "a limit without a point": lambda lines: commands(lines, "ask-move")[0].update(limit_ms=1000),
    "a key that is left out if it is null": lambda lines: lines[0].update(folder=None),
    "a key that is left out if it is false": lambda lines: commands(lines, "ask-move")[0].update(goes_on=False),
    "a key that no command has": lambda lines: commands(lines, "tell-seat")[0].update(x=1),
    "a code that is hidden": lambda lines: commands(lines, "expel-seat")[0]["foul"].update(code={"hidden": "0" * 64}),
    "a play that is hidden": lambda lines: commands(lines, "tell-seat")[0].update(what={"a": {"hidden": "0" * 64}}),
    "a hash that is none": lambda lines: events(lines, "move-received")[1].update(move={"hidden": "x"}),
    "something that stands openly": lambda lines: events(lines, "move-received")[1].update(move={"action": "pass"}),
}


@pytest.mark.parametrize("forge", FORMS.values(), ids=FORMS)
def test_a_redacted_record_has_one_form(tmp_path: Path, forge: Forge) -> None:
    """With the key, nobody can write one with the same content in another form, or one that hides more."""
    lines = shown()
    forge(lines)
    assert refused(tmp_path / "m", lines).line is not None


CONTENTS: dict[str, tuple[str, Forge, str]] = {
    "an event before the one before": (
        "late move",
        lambda lines: events(lines, "ready-received")[2].update(at_ms=0.5, first_byte_ms=0.5),
        "an instant from",
    ),
    "a first byte before the request": (
        "late move",
        lambda lines: events(lines, "move-received")[0].update(first_byte_ms=0.0),
        "instants in order",
    ),
    "a lag of more than the time": (
        "late move",
        lambda lines: events(lines, "ready-received")[0].update(lag_ms=99.0),
        "instants in order",
    ),
    "an answer of who is out": (
        "silent offer",
        lambda lines: events(lines, "move-received")[1].update(seat=1),
        "no event of seat 1",
    ),
    "a seat that there is not": (
        "late move",
        lambda lines: events(lines, "move-received")[0].update(seat=3),
        "a seat from 0 to 2",
    ),
    "an expulsion for time in time": (
        "late move",
        lambda lines: commands(lines, "ask-move")[1].update(limit_ms=5000.0),
        "a limit of",
    ),
    "a turn that is left out": ("late move", lambda lines: commands(lines, "ask-move")[1].update(turn=3), "turn 2"),
    "turns that were not asked for": ("late move", lambda lines: both(lines, "turns", 9), "turns, as were asked for"),
    "a foul of another code": (
        "out of turn",
        lambda lines: events(lines, "protocol-broken")[0].update(code="flood"),
        "a foul of ProtocolBroken",
    ),
    "a foul of another cause": (
        "crashed",
        lambda lines: commands(lines, "expel-seat")[0]["foul"].update(cause="disconnected"),
        "a foul of ProgramExited",
    ),
    "a foul of another ending": (
        "crashed",
        lambda lines: commands(lines, "expel-seat")[0]["foul"].update(ending="ended"),
        "a foul of ProgramExited",
    ),
    "a foul at another time": (
        "crashed",
        lambda lines: commands(lines, "expel-seat")[0]["foul"].update(at_ms=1.0),
        "a foul of ProgramExited",
    ),
    "a rule that is broken by leaving": (
        "crashed",
        lambda lines: commands(lines, "expel-seat")[0]["foul"].update(rule="q.move.tile"),
        "a foul of ProgramExited",
    ),
    "an illegal move that breaks no rule": (
        "illegal move",
        lambda lines: commands(lines, "expel-seat")[0]["foul"].update(rule=None),
        "a foul of MoveReceived",
    ),
    "a result of another foul": (
        "crashed",
        lambda lines: lines[-2]["result"]["fouls"][0].update(turn=1),
        "the fouls of the expulsions",
    ),
    "a result that was not told": (
        "clean",
        lambda lines: lines[-2]["result"].update(scores=[9, 9, 9]),
        "the result that closed the match",
    ),
    "a ranking with nobody": ("clean", lambda lines: everywhere(lines, ranking=[[0, 1]]), "one rank for every seat"),
    "the worse ranked first": (
        "dealt",
        lambda lines: everywhere(lines, ranking=[[1], [0]], winners=[1]),
        "a ranking by scores",
    ),
    "a tie of unequal scores": (
        "dealt",
        lambda lines: everywhere(lines, ranking=[[0, 1]], winners=[0, 1]),
        "a ranking by scores",
    ),
    "scores of the loser": (
        "dealt",
        lambda lines: everywhere(lines, scores=[0, 1]),
        "a ranking by scores",
    ),
    "another winner": ("clean", lambda lines: everywhere(lines, winners=[1]), "the seats of the best rank"),
    "a detail that is an object": (
        "quadominos",
        lambda lines: detail(lines).__setitem__(1, {"hidden": "0" * 64}),
        "a line of kind step",
    ),
    "another end for one seat": (
        "clean",
        lambda lines: commands(lines, "end-seat")[0].update(scores=[9, 0, 0]),
        "the result's scores",
    ),
    "used time of nobody": ("clean", lambda lines: both(lines, "used_ms", [0.0, 0.0, 0.0]), "used_ms"),
}


@pytest.mark.parametrize(("name", "forge", "expected"), CONTENTS.values(), ids=CONTENTS)
def test_what_is_shown_contradicts_nothing(tmp_path: Path, name: str, forge: Forge, expected: str) -> None:
    """Visible fields are compared with each other, although most of a record is hidden."""
    lines = shown(name)
    forge(lines)
    error = refused(tmp_path / "m", lines)
    assert expected in error.expected


# --- with the seed

DEALT = (
    "dealt",
    "dealt, acknowledged",
    "whole deal",
    "duplicate deal",
    "seats by lot",
    "quincy",
    "quadominos",
    "quincala",
)
GAME = REGISTRY.game
OTHER = "00" * 32


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("name", DEALT)
def test_the_seed_gives_the_hand_that_was_dealt(tmp_path: Path, name: str, seat: int) -> None:
    """With the seed, the first view must follow; another seed contradicts the commitment."""
    path = tmp_path / "m"
    path.write_bytes(redacted(name, seat))
    redaction = check_redacted_record(path, GAME)
    assert redaction.seat == seat
    game = GAME(redaction.header.setup.game)
    check_with_seed(redaction.record, seat, SEED.hex(), game)
    with pytest.raises(RecordError, match="line 0: expected commitment"):
        check_with_seed(redaction.record, seat, OTHER, game)


def another_hand(lines: Lines) -> None:
    """Let the first view show a hand that was not dealt."""
    entry = next(entry for opened in entries(lines, 1) for entry in opened.values() if len(entry) > 2)
    entry[2]["hand"].reverse()


def my_play(lines: Lines) -> dict[str, Any]:
    """Return the shown fields of the seat's own first play after which it drew."""
    return next(entry for entry in entries(lines, 2) if "commands.0.draws" in entry)


def other_draws(lines: Lines) -> None:
    """Let the seat draw something else."""
    my_play(lines)["commands.0.draws"][1] = ["red-star"]


def other_move(lines: Lines) -> None:
    """Replace the seat's move by another legal one."""
    my_play(lines)["event.move"][1] = {"action": "pass"}


def other_points(lines: Lines) -> None:
    """Let a play score more."""
    for command in commands(lines, "tell-seat")[:2]:
        command["what"]["score"] += 1


def other_rule(lines: Lines) -> None:
    """Let the seat be expelled for a malformed move that has in fact the right form."""
    move = next(entry["event.move"] for entry in entries(lines, 1) if "event.move" in entry)[1]
    shown = next(line for line in lines if "event.frame" in line.get("open", {}))
    turn = shown["event"]["turn"]
    body = msgspec.msgpack.encode({"type": "move", "match": "m", "turn": turn, "move": move}).hex()
    shown["open"]["event.frame"][1] = body
    shown["open"]["event.move"][1] = move
    for path, entry in (item for opened in entries(lines, 1) for item in opened.items()):
        if path.endswith("evidence"):
            entry[1] = body


def other_turn(lines: Lines) -> None:
    """Let the third seat have the second turn, and the time for it."""
    (asked,) = (command for command in lines[10]["commands"] if command["command"] == "ask-move")
    asked["seat"] = lines[11]["event"]["seat"] = 2
    used_ms = lines[-2]["result"]["used_ms"]
    took_ms = lines[11]["event"]["at_ms"] - lines[11]["event"]["sent_ms"]
    both(lines, "used_ms", [used_ms[0], used_ms[1] - took_ms, used_ms[2] + took_ms, used_ms[3]])


@pytest.mark.parametrize(
    ("name", "forge", "expected"),
    [
        ("dealt", another_hand, "the view of seat 0"),
        ("dealt", other_draws, "draws"),
        ("dealt", other_points, "a play that the rules allow"),
        ("dealt", other_move, "a play that the rules allow"),
        ("dealt", lambda lines: everywhere(lines, scores=[9, 3]), "scores"),
        ("dealt", lambda lines: both(lines, "reason", "q.end.finished"), "reason"),
        ("quincy", other_draws, "draws"),
        ("quadominos", other_points, "a play that the rules allow"),
        ("quadominos", other_rule, "rule and code of the move"),
        ("seats by lot", lambda lines: lines[0]["setup"]["names"].reverse(), "seats by lot"),
        ("whole deal", other_turn, "a turn of seat 1; found 2"),
    ],
)
def test_what_does_not_follow_from_the_seed_is_found(tmp_path: Path, name: str, forge: Forge, expected: str) -> None:
    """Without the seed, the record holds."""
    lines = shown(name)
    forge(lines)
    path = tmp_path / "m"
    path.write_bytes(rewritten(lines))
    record = check_redacted_record(path, GAME).record
    with pytest.raises(RecordError, match=f"expected {expected}"):
        check_with_seed(record, SEAT, SEED.hex(), GAME(record.header.setup.game))


def test_a_match_of_too_many_is_none_of_the_game(tmp_path: Path) -> None:
    """The error is the same as at the beginning of a match; nothing is dealt."""
    lines = shown("dealt")
    lines[0]["setup"]["options"] = {"q_bonus": -1}
    path = tmp_path / "m"
    path.write_bytes(rewritten(lines))
    with pytest.raises(RecordError, match="line 0: expected a setup of q"):
        check_redacted_record(path, GAME)


@pytest.mark.parametrize("name", FINISHED)
def test_what_was_redacted_holds(tmp_path: Path, name: str) -> None:
    """Records of every kind of match, redacted for any seat, pass the audit."""
    path = tmp_path / "m"
    path.write_bytes(redacted(name, SEAT))
    assert (check_redacted_record(path, GAME).seat, path.read_bytes()) == (SEAT, rewritten(shown(name)))
