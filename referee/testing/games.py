"""Checks that a game keeps the contract of `games.base.Game`, by playing it at random."""

# Each check holds in every state of every game. A play returns a new state and does not change the old one; a view
# shows its seat no more than it may know; equal seeds and moves give equal states; a hostile move is refused with the
# id of a rule. Authors need no tests of these; the tests of a game are about its own rules.

from collections.abc import Mapping
from copy import deepcopy
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec

from protocol.limits import MAX_STRING_BYTES

from .. import chance
from ..games.base import BadSetup, IllegalMove, MalformedMove, Outcome, Step, rank_seats
from ..tournament.pairing.base import PairingFormat
from .seats import AnyGame, plain

if TYPE_CHECKING:
    from random import Random
from xml.etree import ElementTree as ET

# A player can send all of these: integers at both ends of msgpack's range, the last character before the surrogates,
# the longest text, deep nesting. Values that the protocol refuses never reach a game, and would test nothing.
JUNK: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 2**31, -(2**63), 2**64 - 1, 0.5, -1e300, "", "pass", "\x00", "x" * MAX_STRING_BYTES),
    *([], [[]], [None] * 100, [0, 0, 0], {}, {"": {}}, {"action": None}, {"action": []}, {"action": "\ud7ff"}),
    *({"action": "pass", "extra": 1}, {"type": "move"}, [[[[[[[[{}]]]]]]]]),
)
"""Plain values that a hostile player may send instead of a move or of a part of a move."""
_SAMPLE = 12
"""Most legal moves that are tried in one state, which may have thousands: enough over a whole game."""


def check_game(
    game: AnyGame, source: "Random", *, options: Mapping[str, Any] | None = None, games: int = 3, max_turns: int = 100
) -> None:
    """Check that a game keeps the contract of `games.base.Game`, by playing it at random.

    Args:
        game: the rules.
        source: random source of moves; the same seed gives the same checks.
        options: the game's options, plain; missing ones take their default.
        games: number of games to play, spread over the numbers of seats.
        max_turns: number of turns after which the seats are dropped one by one, which must end the game, too.

    Raises:
        AssertionError: the contract is broken; the text says how.
        Exception: the game raised it where the contract does not allow it.

    >>> from random import Random
    >>> from referee.games.quincy.game import QuincyGame
    >>> check_game(QuincyGame(), Random(1), games=1, max_turns=5)
    """
    _check_description(game)
    parsed = game.parse_options(dict(options or {}))
    for number in range(games):
        seats = game.seats[number % len(game.seats)]
        key = source.randbytes(chance.SEED_BYTES)
        _GameCheck(game, source, parsed, seats, key).play(max_turns)


def _check_description(game: AnyGame) -> None:
    for rule_id, rule in game.rules.items():
        assert rule_id == rule.id, f"the key {rule_id} has the rule {rule.id}"
        assert rule.text, f"{rule_id} has no text"
        assert rule.source, f"{rule_id} has no source"
    _check_schema(game.schema(), game.name)
    check_options(game, BadSetup)


def check_options(described: AnyGame | PairingFormat[Any], refusal: type[Exception]) -> None:
    """Check that a game or a format has a name, a title and seats, and refuses unknown options.

    Args:
        described: the game or the format.
        refusal: the exception that it raises for unknown options.

    Raises:
        AssertionError: something is missing, or an unknown option is accepted.
    """
    assert described.name, "there is no name"
    assert described.title, f"{described.name} has no title"
    assert described.seats, f"{described.name} has no number of seats"
    for option in ({"no such option": 1}, {"": None}):
        try:
            described.parse_options(option)
        except refusal:
            continue
        raise AssertionError(f"{described.name} accepts the options {option}")


def _check_schema(part: Any, where: str) -> None:
    """Check that every property of a JSON Schema is described, by the docstring below a field or by its `Meta`."""
    for name, value in part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ():
        if name == "properties":
            for key, described in value.items():
                assert described.get("description"), f"{where}: its property {key} has no description"
        _check_schema(value, value.get("title", where) if isinstance(value, dict) else where)


class _GameCheck(msgspec.Struct):
    """One game that is played and checked."""

    game: AnyGame
    source: "Random"
    """Random source of moves."""
    options: Any
    """Parsed options."""
    seats: int
    key: bytes
    """32 bytes from which the deal follows."""

    def play(self, max_turns: int) -> None:
        """Play one game to its end; then play the same moves again, which must give the same state."""
        state = self._deal()
        assert state == self._deal(), "the same seed gave another deal"
        # States are compared by their repr before and after a call. That also shows a change that their `==` ignores,
        # such as one of a cache that two states share.
        moves: list[Any] = []
        ended: Outcome | None = self._check_state(state)
        while ended is None and len(moves) < max_turns:
            # Not in every state: these checks take longer than the game, and a game has many states.
            if self.source.random() < 0.2:
                self._check_refusals(state)
                self._check_legal_moves(state)
                self._check_steps(state)
                self._check_drops(state)
            # Moves come from both sources, because they reach different positions: a list of legal moves may be
            # incomplete (Q lists single tiles), but steps can make every move.
            is_listed = self.source.random() < 0.5
            move = self.source.choice(self.game.legal_moves(state)) if is_listed else self._stepwise(state)
            moves.append(plain(move))
            state = self._play_legal(state, move)
            ended = self._check_state(state)
            check_drawing(self.game.draw_svg(state))
            check_drawing(self.game.draw_svg(state, (len(moves) % self.seats,), ()))
        self._check_drops(state)
        # Replay: a record has only the seed and the plain moves, and must lead to the same state.
        again = self._deal()
        for raw in moves:
            again = self.game.deliver(self.game.play(again, self.game.parse_move(raw)))
        assert state == again, "the same seed and the same moves gave another state"
        assert hash(state) == hash(again), "equal states have different hashes"

    def _deal(self) -> Any:
        return self.game.new(self.options, self.seats, chance.Dealer(self.key))

    def _play(self, state: Any, move: Any) -> Any:
        """Play one of the moves that the game lists as legal."""
        try:
            return self.game.play(state, move)
        except IllegalMove as error:
            raise AssertionError(f"{move} is among the legal moves, but is not legal: {error}") from error

    def _play_legal(self, state: Any, move: Any) -> Any:
        """Play a legal move, and check that the old state and its news do not change."""
        game, before = self.game, repr(state)
        played = self._play(state, move)
        assert before == repr(state), f"play changed the old state: {move}"
        game.check_invariants(played)
        news = game.news(played)
        _check_plain(news.public, "public news")
        _check_plain(news.draws, "draws")
        after = repr(played)
        delivered = game.deliver(played)
        assert after == repr(played), "deliver changed the old state"
        if self.source.random() < 0.1:
            self._check_drops(played, mover=game.to_move(state))
        return delivered

    def _check_state(self, state: Any) -> Outcome | None:
        """Check everything that holds in any state, and return its outcome."""
        game = self.game
        game.check_invariants(state)
        assert self.seats == game.seat_count(state), "the number of seats changed"
        for seat in range(self.seats):
            _check_plain(game.view(state, seat), f"the view of seat {seat}")
            _check_type(plain(game.view(state, seat)), game.view_type)
        game.draw_text(state)
        game.draw_text(state, (0,))
        outcome = game.outcome(state)
        if outcome is None:
            assert game.to_move(state) in range(self.seats), "a seat that does not exist is to move"
            self._check_imagination(state)
            if self.source.random() < 0.1:
                self._check_unseen(state, self.source.randrange(self.seats))
        else:
            self._check_outcome(outcome)
        return outcome

    def _check_imagination(self, state: Any) -> None:
        """Check that a view shows only what its seat may know: any state imagined from it gives the same view."""
        game = self.game
        for seat in range(self.seats):
            view = game.view(state, seat)
            imagined = game.imagine(self.options, view, chance.Dealer(self.source.randbytes(chance.SEED_BYTES)))
            game.check_invariants(imagined)
            assert plain(view) == plain(game.view(imagined, seat)), f"seat {seat} imagines a state with another view"
            if seat == game.to_move(state):
                assert seat == game.to_move(imagined), f"seat {seat} is to move, but not in the imagined state"

    def _check_unseen(self, state: Any, seat: int) -> None:
        """Check that drawings show no more than the seats they are for may know.

        Two states that have the same view for a seat must have the same drawing for it and for spectators. The same
        goes for the states after a move that is legal in both, unless the news of the move differ.
        """
        # A drawing leaks more easily than a view: the order of elements, the width of a card or an empty group can
        # show what is hidden, and nobody sees that by looking at it. So the drawings of two states are compared that
        # differ only in hidden cards or tiles.
        game, view = self.game, self.game.view(state, seat)
        keys = (self.source.randbytes(chance.SEED_BYTES) for _ in range(2))
        first, other = (game.imagine(self.options, view, chance.Dealer(key)) for key in keys)
        for eyes in ((), (seat,)):
            drawn = {game.draw_svg(imagined, eyes) for imagined in (first, other)}
            assert len(drawn) == 1, f"a drawing for {f'seat {seat}' if eyes else 'spectators'} shows what is hidden"
        assert "data-hand" not in game.draw_svg(state, ()), "a drawing for spectators shows what seats hold"
        common = [move for move in game.legal_moves(first) if move in game.legal_moves(other)]
        if common:
            move = self.source.choice(common)
            after = [self._play(state, move) for state in (first, other)]
            if game.news(after[0]).public == game.news(after[1]).public:
                drawn = {game.draw_svg(state, ()) for state in after}
                assert len(drawn) == 1, f"a drawing for spectators shows what is hidden, after {move}"

    def _check_outcome(self, outcome: Outcome) -> None:
        seats = [seat for level in outcome.ranking for seat in level]
        assert sorted(seats) == sorted(set(outcome.order)), f"{seats} are ranked, not {outcome.order}"
        assert all(outcome.ranking), "a rank without a seat"
        assert self.seats == len(outcome.scores), "every seat has its score"
        if self.game.is_ranked_by_scores:
            assert outcome.ranking == rank_seats(outcome.scores, outcome.order), "the ranking is not by scores"
        assert outcome.reason in self.game.rules, f"ended by {outcome.reason}, which is not a rule"

    def _some_moves(self, state: Any) -> list[Any]:
        legal = self.game.legal_moves(state)
        return self.source.sample(legal, min(_SAMPLE, len(legal)))

    def _check_legal_moves(self, state: Any) -> None:
        """Check that listed moves are legal, also after they were encoded and decoded."""
        picked = self._some_moves(state)
        assert picked, "there is no legal move, but the game goes on"
        for move in picked:
            assert move == self.game.parse_move(plain(move)), f"{move} is another move after encoding and decoding"
            self._play_legal(state, move)

    def _stepwise(self, state: Any) -> Any:
        """Return a move of random steps."""
        chosen: tuple[Step, ...] = ()
        while (move := self.game.move_of(chosen)) is None:
            offered = self.game.legal_steps(state, chosen)
            assert offered, f"the steps {chosen} can't become a move"
            assert len(set(offered)) == len(offered), f"a step is offered twice after {chosen}"
            chosen = (*chosen, self.source.choice(offered))
        return move

    def _check_steps(self, state: Any) -> None:
        """Check that random steps make legal moves, and that legal moves can be made by steps."""
        game = self.game
        stepwise = self._stepwise(state)
        self._play_legal(state, game.parse_move(plain(stepwise)))
        for move in [stepwise, *self._some_moves(state)]:
            steps = game.steps_of(move)
            for at, step in enumerate(steps):
                legal = game.legal_steps(state, steps[:at])
                _check_places(sorted(map(game.places_of, legal)))
                assert step in legal, f"the step {step} of {move} is not legal"
                assert (at + 1 < len(steps)) == (game.move_of(steps[: at + 1]) is None), f"{move} is complete too early"
            assert move == game.move_of(steps), f"the steps of {move} make another move"

    def _check_refusals(self, state: Any) -> None:
        """Check that hostile and illegal moves are refused with the id of a rule, and change nothing."""
        copy, shown = deepcopy(state), repr(state)
        spoiled = [spoilt(plain(move), self.source) for move in self._some_moves(state) for _ in range(4)]
        for raw in [*JUNK, *spoiled, *self._moves_of_others(state)]:
            given, rule_id = repr(raw), None
            try:
                self.game.play(state, self.game.parse_move(raw))
            except MalformedMove:
                pass
            except IllegalMove as error:
                rule_id = error.rule_id
            assert rule_id is None or rule_id in self.game.rules, f"{rule_id} is not a rule of {self.game.name}"
            assert given == repr(raw), f"the player's value was changed: {given:.200}"
        assert shown == repr(state), "a refused move changed the state"
        assert copy == state, "a refused move changed the state"

    def _moves_of_others(self, state: Any) -> list[Any]:
        """Return moves that would be legal one turn later; most of them are illegal now."""
        later = self.game.deliver(self._play(state, self.source.choice(self.game.legal_moves(state))))
        return [] if self.game.outcome(later) is not None else list(map(plain, self._some_moves(later)))

    def _check_drops(self, state: Any, mover: int | None = None) -> None:
        """Drop all seats one by one, with a turn in between if one is due, and check that the game ends.

        With a mover, the state is the one right after its play, before its draw was delivered.
        """
        game, ended = self.game, self.game.outcome(state)
        seats = list(range(self.seats)) if ended is None else list(ended.order)
        gone: set[int] = set()
        for seat in self.source.sample(seats, len(seats)):
            before = repr(state)
            dropped = game.drop(state, seat)
            assert before == repr(state), "drop changed the old state"
            state = dropped
            gone.add(seat)
            if mover not in (None, seat):
                state = game.deliver(state)
            mover = None
            outcome = self._check_state(state)
            if outcome is None:
                assert game.to_move(state) not in gone, f"seat {game.to_move(state)} was dropped, but is to move"
                state = game.deliver(self._play(state, self.source.choice(game.legal_moves(state))))
                outcome = self._check_state(state)
            if outcome is not None:
                assert not gone & set(outcome.order), "a dropped seat is ranked"
        assert game.outcome(state) is not None, "all seats were dropped, but the game goes on"
        check_drawing(game.draw_svg(state))


def spoilt(raw: Any, source: "Random") -> Any:
    """Return a copy of a plain value with one part replaced by junk, left out or doubled.

    >>> from random import Random
    >>> spoilt({"action": "pass"}, Random(7)) != {"action": "pass"}
    True
    """
    if isinstance(raw, dict) and raw and source.random() < 0.8:
        key = source.choice(sorted(raw))
        rest = {name: value for name, value in raw.items() if name != key}
        # Damaged legal moves reach more of the rules than junk, whose form is nearly always wrong.
        return rest if source.random() < 0.1 else {**raw, key: spoilt(raw[key], source)}
    if isinstance(raw, list) and raw and source.random() < 0.8:
        index = source.randrange(len(raw))
        if source.random() < 0.2:
            return [*raw, raw[index]]
        return [*raw[:index], spoilt(raw[index], source), *raw[index + 1 :]]
    if isinstance(raw, int) and not isinstance(raw, bool) and source.random() < 0.5:
        return raw + source.choice((-2, -1, 1, 2))
    return source.choice(JUNK)


def _check_places(paths: list[tuple[str, ...]]) -> None:
    """Check that each step has its own path of places for a person to touch; the paths are in ascending order."""
    for path, following in pairwise(paths):
        assert path != following[: len(path)], f"{path} is the beginning of the paths of two steps"


def _check_type(view: Any, view_type: type[msgspec.Struct]) -> None:
    try:
        msgspec.convert(view, view_type, strict=True)
    except msgspec.ValidationError as error:
        raise AssertionError(f"a view is not a {view_type.__name__}: {error}") from error


def _check_plain(value: Any, what: str) -> None:
    """Check that a value is the same in JSON and in msgpack, so that neither players nor records lose any of it."""
    # Players receive msgpack, and records hold JSON. Tuples as keys, bytes and infinite numbers exist only in one of
    # the two.
    over_json = msgspec.json.decode(msgspec.json.encode(value))
    assert plain(value) == over_json, f"{what} is not plain: {value}"


# The drawing of a plugin's game becomes part of the pages of the organiser's site. A list of what is forbidden would
# never be complete: SVG has scripts, foreign objects, animations that set attributes, styles and images that load. So
# the check lists what is allowed, and a game that needs more elements has to have them added here.
_SVG = "{http://www.w3.org/2000/svg}"
_SHAPES = {
    _SVG + name
    for name in (
        *("svg", "g", "defs", "symbol", "use", "title", "desc", "text", "tspan", "path", "rect", "circle", "ellipse"),
        *("line", "polyline", "polygon", "clipPath", "mask", "pattern", "linearGradient", "radialGradient", "stop"),
    )
}
"""Elements of a drawing, none of which can run, load or restyle the page around it."""


def check_drawing(svg: str) -> None:
    """Check that a drawing can be put into any page: an SVG document of shapes and text that runs and loads nothing.

    Args:
        svg: the drawing.

    Raises:
        AssertionError: it can't be put into a page; the text says why.

    >>> check_drawing('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect onclick="alert()"/></svg>')
    Traceback (most recent call last):
        ...
    AssertionError: the drawing acts: onclick
    """
    try:
        root = ET.fromstring(svg)  # noqa: S314  # the drawing comes from an installed game, not from a stranger
    except ET.ParseError as error:
        raise AssertionError(f"the drawing is not well-formed XML: {error}") from error
    assert root.tag == f"{_SVG}svg", f"the drawing is a {root.tag}"
    assert root.get("viewBox"), "the drawing has no viewBox"
    for element in root.iter():
        assert element.tag in _SHAPES, f"the drawing has a {element.tag}"
        for name, value in element.items():
            local = name.rpartition("}")[2].lower()
            assert not local.startswith("on"), f"the drawing acts: {name}"
            assert local not in ("style", "src"), f"the drawing has the attribute {name}"
            assert local != "href" or value.startswith("#"), f"the drawing links outside: {value}"
            # References within the drawing are taken out first; any that is left points outside.
            assert "url(" not in value.lower().replace("url(#", ""), f"the drawing loads {value}"
