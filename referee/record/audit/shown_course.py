"""Plays the match of a redacted record again, from its seed and what all seats were told, and compares what it shows.

What a seat that was expelled had sent is hidden, and not needed: nothing but its expulsion followed from it.
"""

import hashlib
from collections.abc import Iterator
from typing import Any, get_args

import msgspec
from msgspec.structs import fields

from ...games.base import Game, IllegalMove, MalformedMove, Outcome, Shuffle
from ...match import events as e
from ...match.fouls import Cause
from ...match.outcome import default_outcome, result_of
from ...text import show_json
from ..reader import Record, RecordError
from ..schema import RecordedStep
from .wires import same

_BY_OUTCOME = ("winners", "ranking", "scores", "reason")
"""Of a result, what the game decides."""


class _Course:
    """A game as far as the lines have told it.

    Args:
        record: the redacted record, of a match that was dealt from its seed.
        seat: whose fields it shows.
        game: its rules.
        shuffle: of its first deal.
    """

    def __init__(self, record: Record, seat: int, game: Game[Any, Any, Any], shuffle: Shuffle) -> None:
        setup = record.header.setup
        options = game.parse_options(setup.options)
        self._path = record.path
        self._setup = setup
        self._seat = seat
        self._game = game
        self._teams = game.teams(options, len(setup.names))
        self._state = game.new(options, len(setup.names), shuffle)
        self._out: list[int] = []
        """The seats that were expelled, in their order."""
        self._dropped: set[int] = set()
        self._arriving: int | None = None
        """Who has to confirm what it was handed."""
        self.is_over = False
        self.outcome: Outcome | None = None

    def take(self, number: int, step: RecordedStep) -> None:
        """Take a line.

        Raises:
            RecordError: it shows something that does not follow from the seed and from what was told.
        """
        event, commands = step.event, step.commands
        expelled = {command["seat"]: command["foul"] for command in commands if command["command"] == "expel-seat"}
        if isinstance(event, e.MoveReceived):
            self._judge(number, event, expelled.get(event.seat))
        if isinstance(event, e.AckReceived) and event.seat == self._arriving and event.seat not in expelled:
            self._deliver()
        self._out += expelled
        told = [command for command in commands if command["command"] == "tell-seat"]
        plays = [command for command in told if command["what"].get("kind") == "played"]
        if plays:
            self._play(number, event, plays)
        for command in commands:
            self._follow(number, command)

    def _follow(self, number: int, command: dict[str, Any]) -> None:
        """Compare one command with the game, or let what it tells happen there."""
        kind, seat = command["command"], command.get("seat")
        if kind == "tell-seat" and command["what"].get("kind") == "expelled":
            self._tell_of_foul(number, command["what"].get("seat"))
        elif kind in ("end-seat", "close-match") and not self.is_over:
            self._end()
        elif kind == "ask-move":
            self._demand(number, "a turn of seat", self._to_move(number), seat)
        if seat == self._seat and isinstance(command.get("view"), str):
            view = msgspec.msgpack.encode(self._game.view(self._state, seat))
            self._demand(number, f"for seat {seat} the view", hashlib.sha256(view).hexdigest(), command["view"])

    def _judge(self, number: int, event: e.MoveReceived, foul: dict[str, Any] | None) -> None:
        """Judge a move of the seat itself: whether the rules take it, and if not, which one it breaks."""
        if event.seat != self._seat or (foul is not None and foul["cause"] in (Cause.TIMEOUT, Cause.OUT_OF_TURN)):
            return
        broken: tuple[str | None, str | None] | None = None
        self._to_move(number)
        try:
            self._game.play(self._state, self._game.parse_move(event.move))
        except MalformedMove:
            broken = None, "move"
        except IllegalMove as error:
            broken = error.rule_id, None
        self._demand(number, "of a move its rule and code", broken, foul and (foul["rule"], foul["code"]))

    def _play(self, number: int, event: e.Event, told: list[dict[str, Any]]) -> None:
        """Make the play that seats were told of, and compare what its own seat drew."""
        mover = self._to_move(number)
        what = {key: value for key, value in told[0]["what"].items() if key != "kind"}
        moves = self._moves(what)
        if mover == self._seat and isinstance(event, e.MoveReceived):
            moves = self._parsed(event.move)
        self._state = self._played(number, moves, what)
        for command in told:
            self._demand(number, "the same told to all", told[0]["what"], command["what"])
            if command["seat"] == self._seat:
                due = self._game.news(self._state).draws if mover == self._seat else None
                self._demand(number, "draws", due, command["draws"])
        self._arriving = mover
        if all(command["ack"] is None for command in told):
            self._deliver()

    def _played(self, number: int, moves: Iterator[Any], what: dict[str, Any]) -> Any:
        """Return the state after that move of which this would be told."""
        for move in moves:
            try:
                state = self._game.play(self._state, move)
            except IllegalMove:
                continue
            if same(self._game.news(state).public, what):
                return state
        raise RecordError(self._path, number, "a play that the rules allow then", show_json(what, 200))

    def _moves(self, what: dict[str, Any]) -> Iterator[Any]:
        """Yield the moves that what was told of a play can mean: those of its form, and all that can be listed."""
        for form in get_args(self._game.move_type) or (self._game.move_type,):
            config = form.__struct_config__
            named = {field.encode_name: what[field.encode_name] for field in fields(form) if field.encode_name in what}
            yield from self._parsed({**({config.tag_field: config.tag} if config.tag_field else {}), **named})
        yield from self._game.legal_moves(self._state)

    def _parsed(self, raw: Any) -> Iterator[Any]:
        try:
            yield self._game.parse_move(raw)
        except MalformedMove:
            return

    def _to_move(self, number: int) -> int:
        if self._game.outcome(self._state) is not None:
            raise RecordError(self._path, number, "the end of the match, for its game is over", "a turn")
        return self._game.to_move(self._state)

    def _deliver(self) -> None:
        self._state = self._game.deliver(self._state)
        self._arriving = None

    def _tell_of_foul(self, number: int, seat: object) -> None:
        if not isinstance(seat, int) or seat not in self._out:
            raise RecordError(
                self._path, number, f"one of the seats {self._out}, which were expelled", f"seat {show_json(seat, 40)}"
            )
        self._drop(seat)

    def _drop(self, seat: int) -> None:
        if seat not in self._dropped:
            self._dropped.add(seat)
            self._state = self._game.drop(self._state, seat)

    def _end(self) -> None:
        """Take the outcome as it stands when the end is told first; later fouls change nothing in it."""
        self.is_over = True
        present = [seat for seat in range(len(self._setup.names)) if seat not in self._out]
        for seat in self._out:
            self._drop(seat)
        self.outcome = default_outcome(self._setup, self._teams, present) or self._game.outcome(self._state)

    def _demand(self, number: int, what: str, expected: object, found: object) -> None:
        if not same(expected, found):
            raise RecordError(self._path, number, f"{what} {show_json(expected, 200)}", show_json(found, 200))


def check_course(record: Record, seat: int, game: Game[Any, Any, Any], shuffle: Shuffle) -> None:
    """Check what a redacted record shows of its match from the deal on: views, draws, plays, its own moves, the result.

    Args:
        record: with stand-ins for what is hidden, of a match that was dealt from its seed.
        seat: whose fields it shows.
        game: its rules.
        shuffle: of its first deal.

    Raises:
        RecordError: the first line that shows something else than what follows from the seed.
    """
    course = _Course(record, seat, game, shuffle)
    for number, step in enumerate(record.steps, 1):
        course.take(number, step)
    assert record.result is not None, "a redacted record has one"
    result = record.result.result
    if result.void is not None:
        return
    out = {foul.seat for foul in result.fouls}
    due = result_of(course.outcome, result.fouls, result.used_ms, out=out, turns=result.turns, void=None)
    for name in _BY_OUTCOME:
        expected, found = getattr(due, name), getattr(result, name)
        if expected != found:
            raise RecordError(record.path, len(record.steps) + 1, f"{name} {show_json(expected)}", show_json(found))
