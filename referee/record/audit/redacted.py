"""Checks the visible part of a redacted record, and plays its match again if the seed is known."""

import dataclasses
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, get_args

import msgspec
from msgspec.structs import fields, replace

from ...games.base import BadSetup, Game, IllegalMove, MalformedMove, Outcome, Shuffle, rank_seats
from ...match import events as e
from ...match.commands import Result
from ...match.fouls import MAX_DETAIL, SHOWN_HEX, Cause, Foul, identify_foul
from ...match.outcome import default_outcome, make_result
from ...match.setup import restore_position
from ...text import show_json
from ..hidden_fields import FOUL_HIDES
from ..reader import Record, RecordError
from ..schema import Transition
from .chance import check_chance, check_nonces
from .evidence import same
from .match import check_ranking, naming_rules
from .times import check_book

# A redacted record hides what only other seats may know: their moves, hands and messages. Without them, it can't be
# folded. But it shows a lot: instants, turns, the requests, the announcement of every play, and the cause of every
# foul. The checks here find out whether these facts agree with each other. Hidden fields prove nothing, either way.
#
# If the seed is known, the match can be played again: every announced play must be legal, and the views and draws of
# the record's own seat must follow. The hidden bytes of an expelled seat are not needed for this, because nothing but
# its expulsion followed from them.

_PUBLIC = tuple(name for name in Foul.__struct_fields__ if name not in FOUL_HIDES)
"""Fields of a foul that everybody may see."""
_BYTES = ("frame", "pending", "evidence")
"""Fields of an event from which the evidence of its foul is taken."""
_END_FIELDS = ("winners", "ranking", "scores", "void")
"""Fields of a result that each seat is sent at the end."""
_ACCUSING = (e.ProtocolBroken, e.ProgramExited, e.ConnectionLost, e.SeatVacant)
_ROUNDING_MS = 0.001
_TIMED = (e.Answer, e.DeadlinePassed)
_ANSWER_CAUSES = (Cause.TIMEOUT, Cause.REFUSED_TO_START, Cause.ILLEGAL_MOVE, Cause.MALFORMED_MESSAGE, Cause.OUT_OF_TURN)


def check_visible(record: Record, game: Game[Any, Any, Any]) -> None:
    """Check the visible part of a redacted record.

    Args:
        record: record with placeholders for hidden fields; see redacted_record.parse_visible.
        game: game of the match.

    Raises:
        RecordError: a line contradicts itself or another line.
    """
    _check_instants(record)
    _check_turns(record)
    _check_fouls(record)
    _check_own_words(record)
    with naming_rules(record, game):
        _check_news_of_all(record, game)
    check_nonces(record)
    check_book(record)
    check_ranking(record)
    if game.is_ranked_by_scores:
        _check_scores(record)


def check_with_seed(record: Record, seat: int, seed: str, game: Game[Any, Any, Any]) -> None:
    """Play the match of a redacted record again from its seed and its news, and compare what its seat was shown.

    Args:
        record: record with placeholders for hidden fields; see redacted_record.parse_visible.
        seat: seat whose fields the record shows.
        seed: seed of the match, in hex.
        game: game of the match.

    Raises:
        RecordError: the seed does not fit the commitment, or the nonces, seats or visible fields do not follow from it.
        BadSetup: the game does not accept the options or the number of seats.
    """
    assert record.result is not None, "a redacted record has one"
    setup = record.header.setup
    shuffle = check_chance(dataclasses.replace(record, result=replace(record.result, seed=seed)))
    if setup.position is None and shuffle is not None:
        with naming_rules(record, game):
            restore_position(game, game.parse_options(setup.options), setup)  # raises BadSetup
            check_replay(record, seat, game, shuffle)


def _check_scores(record: Record) -> None:
    """Check that the seats without a foul are ranked by their scores."""
    if record.result is None or record.result.result.void is not None:
        return
    result = record.result.result
    out = {foul.seat for foul in result.fouls}
    levels = [level for level in result.ranking if out.isdisjoint(level)]
    expected = rank_seats(result.scores, sorted(seat for level in levels for seat in level))
    if [sorted(level) for level in levels] != [*map(list, expected)]:
        verdict = f"ranking {show_json(result.ranking)}, scores {show_json(result.scores)}"
        raise RecordError(record.path, len(record.transitions) + 1, "a ranking by scores", verdict)


def _check_instants(record: Record) -> None:
    """Check that instants are in order, and that an expelled seat has no further events."""
    last_ms, out = 0.0, set[int]()
    for number, transition in enumerate(record.transitions, 1):
        event = transition.event
        if event.at_ms < last_ms:
            raise RecordError(record.path, number, f"an instant from {last_ms} ms on", f"{event.at_ms} ms")
        last_ms = event.at_ms
        if isinstance(event, e.SeatEvent) and event.seat in out:
            what = f"no event of seat {event.seat}, which is expelled"
            raise RecordError(record.path, number, what, type(event).__name__)
        if isinstance(event, _TIMED) and not _are_in_order(event):
            raise RecordError(record.path, number, "instants in order, and lags within them", show_json(event, 200))
        out |= {foul.seat for foul in _list_expulsions(transition)}


def _are_in_order(event: e.Answer | e.DeadlinePassed) -> bool:
    first_ms = event.first_byte_ms if isinstance(event, e.Answer) else event.sent_ms
    span_ms = event.at_ms - event.sent_ms + _ROUNDING_MS
    is_ordered = 0 <= event.sent_ms <= first_ms <= event.at_ms
    return is_ordered and 0 <= event.lag_ms <= span_ms and 0 <= event.stalled_ms <= span_ms


def _check_turns(record: Record) -> None:
    """Check that turns are counted from 1, and that the result states the same number of turns."""
    turns = 0
    for number, transition in enumerate(record.transitions, 1):
        for command in transition.commands:
            if command["command"] == "ask-move":
                if command["turn"] not in (turns, turns + 1):
                    raise RecordError(record.path, number, f"turn {turns + 1}", f"turn {command['turn']}")
                turns = command["turn"]
            stated = command["foul"]["turn"] if command["command"] == "expel-seat" else command.get("turn", turns)
            if stated != turns:
                raise RecordError(record.path, number, f"{command['command']} of turn {turns}", f"turn {stated}")
    assert record.result is not None, "a redacted record has one"
    if record.result.result.turns != turns:
        stated_turns = f"{record.result.result.turns}"
        raise RecordError(record.path, len(record.transitions) + 1, f"{turns} turns, as were asked for", stated_turns)


def _check_fouls(record: Record) -> None:
    """Check that each foul fits its event, and that the result and the last command list the same fouls."""
    fouls = []
    for number, transition in enumerate(record.transitions, 1):
        for foul in _list_expulsions(transition):
            if not _is_that_of(foul, transition.event):
                raise RecordError(
                    record.path, number, f"a foul of {type(transition.event).__name__}", _describe_foul(foul)
                )
            fouls.append(_public(foul))
        _check_shown_bytes(record, number, transition)
    assert record.result is not None, "a redacted record has one"
    line, result = len(record.transitions) + 1, record.result.result
    if fouls != [_public(foul) for foul in result.fouls]:
        raise RecordError(
            record.path,
            line,
            f"the fouls of the expulsions, {show_json(fouls)}",
            show_json([*map(_public, result.fouls)]),
        )
    last = record.transitions[-1].commands if record.transitions else []
    closing = last[-1].get("result") if last else None
    if not isinstance(closing, dict) or _without_fouls(closing) != _without_fouls(msgspec.to_builtins(result)):
        raise RecordError(
            record.path, line, f"the result that closed the match: {show_json(closing, 140)}", show_json(result, 140)
        )
    for command in last:
        if command["command"] == "end-seat":
            _check_end(record, line - 1, command, result)


def _check_own_words(record: Record) -> None:
    """Check that the event, the expulsion and the result describe the seat's own foul in the same words."""
    assert record.result is not None, "a redacted record has one"
    shown: dict[tuple[int, str], str] = {}
    for number, transition in enumerate(record.transitions, 1):
        for command in transition.commands:
            fouls = [command["foul"]] if command["command"] == "expel-seat" else []
            fouls += command["result"]["fouls"] if command["command"] == "close-match" else []
            for foul in fouls:
                _check_words(record, number, foul, shown, transition.event)
    for foul in record.chain.lines[len(record.transitions) + 1].fields["result"]["fouls"]:
        _check_words(record, len(record.transitions) + 1, foul, shown, None)


def _check_words(
    record: Record, number: int, foul: dict[str, Any], shown: dict[tuple[int, str], str], event: e.Event | None
) -> None:
    """Compare the words of a foul with its earlier description, or with its event if there is none."""
    for name in FOUL_HIDES:
        key, text = (foul["seat"], name), foul[name]
        if not isinstance(text, str):
            continue
        source = identify_foul(event)[1].get(name, "") if isinstance(event, _ACCUSING) and key not in shown else text
        expected = shown.setdefault(key, source[:MAX_DETAIL] if name == "detail" else source[:SHOWN_HEX])
        if text != expected:
            raise RecordError(record.path, number, f"the {name} of that foul, {expected[:80]}", text[:80])


def _check_news_of_all(record: Record, game: Game[Any, Any, Any]) -> None:
    """Check the news that all seats were sent: the teams, every play and expulsion, and the end of the match."""
    assert record.result is not None, "a redacted record has one"
    setup, result = record.header.setup, record.result.result
    seats = len(setup.names)
    try:
        teams = game.teams(game.parse_options(setup.options), seats)
    except BadSetup as error:
        raise RecordError(record.path, 0, f"a setup of {game.name}", str(error)) from None
    fouls, is_over = list[Foul](), False
    for number, transition in enumerate(record.transitions, 1):
        fouls += _list_expulsions(transition)
        played: list[Any] = []
        for command in transition.commands:
            kind = command["command"]
            if kind == "offer-match" and not same(teams, command.get("teams", [])):
                raise RecordError(record.path, number, f"teams {show_json(teams)}", show_json(command.get("teams", [])))
            if kind == "tell-seat":
                _check_news(record, number, command["what"], played, fouls)
            if kind in ("end-seat", "close-match") and not is_over:
                is_over = True
                _check_reason(record, game, default_outcome(setup, teams, _present(seats, fouls)))
        if not _has_later_expulsion(record, number):
            for command in (own for own in transition.commands if own["command"] == "end-seat"):
                _check_end(record, number, command, result)


def _check_news(record: Record, number: int, what: dict[str, Any], played: list[Any], fouls: list[Foul]) -> None:
    """Check that a seat was sent the same play as the others, or an expulsion that really happened."""
    if what.get("kind") == "expelled":
        causes = [{"kind": "expelled", "seat": foul.seat, "cause": str(foul.cause)} for foul in fouls]
        if not any(same(cause, what) for cause in causes):
            raise RecordError(record.path, number, "an expulsion that happened", show_json(what))
        return
    if played and not same(played[0], what):
        expected = f"the same news for all seats, {show_json(played[0], 140)}"
        raise RecordError(record.path, number, expected, show_json(what, 140))
    played.append(what)


def _check_reason(record: Record, game: Game[Any, Any, Any], default: Outcome | None) -> None:
    """Check that the stated reason of the end fits the seats that were left, and is a rule of the game."""
    assert record.result is not None, "a redacted record has one"
    result = record.result.result
    if result.void is not None:
        expected, is_fit = "no reason of a void match", result.reason is None
    elif default is not None:
        expected, is_fit = f"the reason {default.reason}, because the others are out", result.reason == default.reason
    else:
        expected, is_fit = f"a rule of {game.name} as the reason", result.reason in game.rules
    if not is_fit:
        raise RecordError(record.path, len(record.transitions) + 1, expected, show_json(result.reason))


def _check_end(record: Record, number: int, command: dict[str, Any], result: Result) -> None:
    """Check the `end` that a seat was sent. It must be the final result, since no seat was expelled after it."""
    wrong = [name for name in _END_FIELDS if not same(getattr(result, name), command[name])]
    is_void_later = result.void is not None and number < len(record.transitions)
    if wrong and not is_void_later:
        raise RecordError(record.path, number, f"the result's {wrong[0]}", show_json(command[wrong[0]], 140))


def _has_later_expulsion(record: Record, number: int) -> bool:
    return any(
        form.command == "expel-seat" for transition in record.transitions[number - 1 :] for form in transition.forms
    )


def _present(seats: int, fouls: Sequence[Foul]) -> list[int]:
    out = {foul.seat for foul in fouls}
    return [seat for seat in range(seats) if seat not in out]


def _check_shown_bytes(record: Record, number: int, transition: Transition) -> None:
    """Check that the visible evidence of a foul is the beginning of the bytes in its event."""
    for evidence in (
        command["foul"]["evidence"] for command in transition.commands if command["command"] == "expel-seat"
    ):
        offence = next((getattr(transition.event, name) for name in _BYTES if hasattr(transition.event, name)), "")
        if isinstance(evidence, str) and evidence != offence[:SHOWN_HEX]:
            raise RecordError(record.path, number, f"the evidence of its event, {offence[:80]}", evidence[:80])


def _list_expulsions(transition: Transition) -> list[Foul]:
    """Return the fouls of a transition without their hidden fields."""
    expulsions = [command for command in transition.commands if command["command"] == "expel-seat"]
    return [msgspec.convert({name: command["foul"][name] for name in _PUBLIC}, Foul) for command in expulsions]


def _is_that_of(foul: Foul, event: e.Event) -> bool:
    """Return whether an event can be the reason for a foul."""
    if not isinstance(event, e.SeatEvent) or (foul.seat, foul.at_ms) != (event.seat, event.at_ms):
        return False
    if (foul.rule is not None) != (foul.cause is Cause.ILLEGAL_MOVE):
        return False
    if isinstance(event, e.ProtocolBroken | e.ProgramExited | e.ConnectionLost | e.SeatVacant):
        cause, facts = identify_foul(event)
        return (foul.cause, foul.code, foul.ending) == (cause, facts.get("code"), facts.get("ending"))
    if isinstance(event, e.DeadlinePassed):
        return foul.cause in (Cause.TIMEOUT, Cause.REFUSED_TO_START)
    return foul.cause in _ANSWER_CAUSES


def _public(foul: Foul) -> tuple[Any, ...]:
    return tuple(getattr(foul, name) for name in _PUBLIC)


def _describe_foul(foul: Foul) -> str:
    return f"{foul.cause} of seat {foul.seat} at {foul.at_ms} ms, rule {foul.rule}, code {foul.code}"


def _without_fouls(result: dict[str, Any]) -> bytes:
    return msgspec.json.encode({key: value for key, value in result.items() if key != "fouls"})


_BY_OUTCOME = ("winners", "ranking", "scores", "reason")
"""Fields of a result that follow from the game."""


class _Replay:
    """Plays the match of a redacted record again, line by line.

    Args:
        record: the redacted record. Its match began with a deal, not with a position.
        seat: seat whose fields the record shows.
        game: game of the match.
        shuffle: shuffle of the first deal.
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
        """Expelled seats, in the order of their expulsion."""
        self._dropped: set[int] = set()
        """Expelled seats whose pieces were taken out of the game."""
        self._arriving: int | None = None
        """Seat that has to confirm what it drew; None if there is none."""
        self.is_over = False
        self.outcome: Outcome | None = None

    def take(self, number: int, transition: Transition) -> None:
        """Apply the next line.

        Raises:
            RecordError: the line shows something that does not follow from the seed and the news.
        """
        event, commands = transition.event, transition.commands
        expelled = {command["seat"]: command["foul"] for command in commands if command["command"] == "expel-seat"}
        if isinstance(event, e.MoveReceived):
            self._judge(number, event, expelled.get(event.seat))
        if isinstance(event, e.AckReceived) and event.seat == self._arriving and event.seat not in expelled:
            self._deliver()
        self._out += expelled
        news_commands = [command for command in commands if command["command"] == "tell-seat"]
        plays = [command for command in news_commands if command["what"].get("kind") == "played"]
        if plays:
            self._play(number, event, plays)
        for command in commands:
            self._follow(number, command)

    def _follow(self, number: int, command: dict[str, Any]) -> None:
        """Apply an announced expulsion or the end to the game, or compare any other command with the game."""
        kind, seat = command["command"], command.get("seat")
        if kind == "tell-seat" and command["what"].get("kind") == "expelled":
            self._tell_of_foul(number, command["what"].get("seat"))
        elif kind in ("end-seat", "close-match") and not self.is_over:
            self._end()
        elif kind == "ask-move":
            self._demand(number, "a turn of seat", self._to_move(number), seat)
        if seat == self._seat and isinstance(command.get("view"), str):
            view = msgspec.msgpack.encode(self._game.view(self._state, seat))
            self._demand(number, f"the view of seat {seat}:", hashlib.sha256(view).hexdigest(), command["view"])

    def _judge(self, number: int, event: e.MoveReceived, foul: dict[str, Any] | None) -> None:
        """Judge a move of the record's own seat: it must be legal, or break the rule that the foul names."""
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
        self._demand(number, "rule and code of the move:", broken, foul and (foul["rule"], foul["code"]))

    def _play(self, number: int, event: e.Event, told: list[dict[str, Any]]) -> None:
        """Make the play that was announced to the seats, and compare what the record's own seat drew."""
        mover = self._to_move(number)
        what = {key: value for key, value in told[0]["what"].items() if key != "kind"}
        moves = self._moves(what)
        if mover == self._seat and isinstance(event, e.MoveReceived):
            moves = self._parse(event.move)
        self._state = self._try_moves(number, moves, what)
        for command in told:
            self._demand(number, "the same news for all seats,", told[0]["what"], command["what"])
            if command["seat"] == self._seat:
                due = self._game.news(self._state).draws if mover == self._seat else None
                self._demand(number, "draws", due, command["draws"])
        self._arriving = mover
        if all(command["ack"] is None for command in told):
            self._deliver()

    def _try_moves(self, number: int, moves: Iterator[Any], what: dict[str, Any]) -> Any:
        """Return the state after the first of the moves that is legal and has this announcement."""
        for move in moves:
            try:
                state = self._game.play(self._state, move)
            except IllegalMove:
                continue
            if same(self._game.news(state).public, what):
                return state
        raise RecordError(self._path, number, "a play that the rules allow", show_json(what, 200))

    def _moves(self, what: dict[str, Any]) -> Iterator[Any]:
        """Yield the moves that an announcement can mean: moves made from its fields, then all legal moves."""
        for form in get_args(self._game.move_type) or (self._game.move_type,):
            config = form.__struct_config__
            named = {field.encode_name: what[field.encode_name] for field in fields(form) if field.encode_name in what}
            yield from self._parse({**({config.tag_field: config.tag} if config.tag_field else {}), **named})
        yield from self._game.legal_moves(self._state)

    def _parse(self, raw: Any) -> Iterator[Any]:
        try:
            yield self._game.parse_move(raw)
        except MalformedMove:
            return

    def _to_move(self, number: int) -> int:
        if self._game.outcome(self._state) is not None:
            raise RecordError(self._path, number, "the end of the match, because the game is over", "a turn")
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
        """Determine the outcome, when the `end` is sent for the first time; later fouls do not change it."""
        self.is_over = True
        present = [seat for seat in range(len(self._setup.names)) if seat not in self._out]
        for seat in self._out:
            self._drop(seat)
        self.outcome = default_outcome(self._setup, self._teams, present) or self._game.outcome(self._state)

    def _demand(self, number: int, what: str, expected: object, shown: object) -> None:
        if not same(expected, shown):
            raise RecordError(self._path, number, f"{what} {show_json(expected, 200)}", show_json(shown, 200))


def check_replay(record: Record, seat: int, game: Game[Any, Any, Any], shuffle: Shuffle) -> None:
    """Check the views, draws, plays, own moves and the result in a redacted record, from the deal on.

    Args:
        record: record with placeholders for hidden fields. Its match began with a deal, not with a position.
        seat: seat whose fields the record shows.
        game: game of the match.
        shuffle: shuffle of the first deal.

    Raises:
        RecordError: a line shows something that does not follow from the seed. The error names the first such line.
    """
    replay = _Replay(record, seat, game, shuffle)
    for number, transition in enumerate(record.transitions, 1):
        replay.take(number, transition)
    assert record.result is not None, "a redacted record has one"
    result = record.result.result
    if result.void is not None:
        return
    out = {foul.seat for foul in result.fouls}
    derived = make_result(replay.outcome, result.fouls, result.used_ms, out=out, turns=result.turns)
    for name in _BY_OUTCOME:
        expected, stated = getattr(derived, name), getattr(result, name)
        if expected != stated:
            raise RecordError(
                record.path, len(record.transitions) + 1, f"{name} {show_json(expected)}", show_json(stated)
            )
