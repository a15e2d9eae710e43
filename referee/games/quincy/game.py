"""Quincy: hands, turns, draws and ends. Squares and lines are in board.py, moves and views in forms.py.

Source: Quincy, M. Whitley. Where the source is silent, we have decided:

* A play that wins draws nothing.
* A player without a domino is skipped. So is a player who can play no domino when nothing is left to draw; these
  dominoes are discarded.
* The hand of an eliminated player lies face down. In a game of four, the partner plays on alone.
"""

from collections.abc import Collection, Mapping
from typing import Any

from msgspec.structs import replace

from ..base import BadSetup, Game, IllegalMove, News, Outcome, Shuffle, Step, replace_at, rules_beside
from ..drawing import square_name
from . import board as b
from .board import Domino, Pair, Square, Squares
from .drawing import describe, draw_svg, draw_text
from .forms import Add, Discard, Move, Options, Position, PublicEvent, Remove, State, StoneLine, View

HAND_SIZE = 5

_ADDS = b.map_reach(Add)
_REMOVES = b.map_reach(Remove)
_DISCARDS = tuple(map(Discard, b.DOMINOES))
"""With _ADDS and _REMOVES, every move that is possible. Each is made once: the legal moves are picked from these."""


class QuincyGame(Game[State, View, Move]):
    """The rules of Quincy."""

    name = "quincy"
    title = "Quincy"
    is_ranked_by_scores = True
    seats = range(2, 5, 2)
    options_type = Options
    view_type = View
    move_type = Move
    position_type = Position
    rules = rules_beside(__file__)

    def new(self, options: Options, seats: int, shuffle: Shuffle) -> State:
        """Deal five of the 55 shuffled dominoes to each seat, seat 0 first; the rest is the pile, next domino first."""
        deck = tuple(shuffle(b.ALL_DOMINOES))
        hands = tuple(deck[seat * HAND_SIZE : (seat + 1) * HAND_SIZE] for seat in range(seats))
        none = ((),) * seats
        return State((0, 0), (0, 0), deck[seats * HAND_SIZE :], hands, tuple(range(seats)), (), (), none)

    def restore(self, options: Options, position: Any) -> State:
        """Return the state of a Position that is given as plain data; seats that can do nothing are skipped."""
        given = self.parse_position(position)
        hands = tuple(map(_numbers, given.hands))
        pile, face_up = _numbers(given.pile), _numbers(given.face_up)
        seats = len(hands)
        if seats not in self.seats:
            raise BadSetup(f"not a position of quincy: {seats} hands, not 2 or 4")
        named = [*pile, *face_up, *(domino for hand in hands for domino in hand)]
        if len(set(named)) != len(named):
            raise BadSetup("not a position of quincy: a domino is in two places")
        stones = b.read_rows(given.board)
        (fixed, count), (other_fixed, other_count) = map(b.survey, stones)
        if max(count, other_count) >= b.LINES_TO_WIN:
            raise BadSetup("not a position of quincy: somebody has two lines already")
        rest = tuple(domino for domino in b.ALL_DOMINOES if domino not in named)
        return _skip_seats(
            State(stones, (fixed, other_fixed), pile, hands, tuple(range(seats)), face_up, rest, ((),) * seats)
        )

    def imagine(self, options: Options, view: View, shuffle: Shuffle) -> State:
        """Deal the dominoes that the view does not show to the other hands, to the pile, and face down.

        Of the other hands, that of the seat to move comes first.
        """
        stones = b.read_rows(view.board)
        unbreakable = b.survey(stones[0])[0], b.survey(stones[1])[0]
        own_hand, face_up = _numbers(view.hand), _numbers(view.face_up)
        unseen = shuffle([domino for domino in b.ALL_DOMINOES if domino not in own_hand and domino not in face_up])
        hands: list[tuple[int, ...]] = [()] * len(view.hand_sizes)
        drew = hands.copy()
        hands[view.seat], drew[view.seat] = own_hand, _numbers(view.drew)
        others = [seat for seat in view.order if seat != view.seat]
        # With an empty pile, a seat without a playable domino would have been skipped. So the seat to move holds a
        # playable domino, and gets one first.
        if not view.pile and view.order[0] in others:
            empty, loose = _open(stones, unbreakable, view.order[0])
            unseen.insert(
                0, unseen.pop(next(i for i, domino in enumerate(unseen) if _is_playable(domino, empty, loose)))
            )
        for seat in others:
            hands[seat], unseen = tuple(unseen[: view.hand_sizes[seat]]), unseen[view.hand_sizes[seat] :]
        return State(
            stones=stones,
            unbreakable=unbreakable,
            pile=tuple(unseen[: view.pile]),
            hands=tuple(hands),
            order=tuple(view.order),
            face_up=face_up,
            face_down=tuple(unseen[view.pile :]),
            drew=tuple(drew),
            log=tuple(view.since),
            same_turn=view.same_turn,
        )

    def teams(self, options: Options, seats: int) -> tuple[tuple[int, ...], ...]:
        """Return the teams of a game of four: partners sit opposite each other."""
        return ((0, 2), (1, 3)) if seats == 4 else ()

    def seat_count(self, state: State) -> int:
        """Count the hands, empty ones too."""
        return len(state.hands)

    def to_move(self, state: State) -> int:
        """Return the first seat of the turn order."""
        return state.order[0]

    def is_same_turn(self, state: State) -> bool:
        """Return whether the seat to move has discarded in this turn."""
        return state.same_turn

    def view(self, state: State, seat: int) -> View:
        """Return the seat's own hand and everything that is public."""
        lines = [
            StoneLine(stone, line)
            for stone, squares in zip(b.STONES, state.stones, strict=True)
            for line in b.lines(squares)
        ]
        since: list[PublicEvent] = []
        for event in reversed(state.log):
            if event.seat == seat and event.action in ("add", "remove", "discard"):
                break
            since.append(event)
        return View(
            seat=seat,
            stone=b.STONES[seat % 2],
            hand=_dominoes(state.hands[seat]),
            drew=_dominoes(state.drew[seat]),
            same_turn=state.same_turn,
            order=list(state.order),
            hand_sizes=[len(hand) for hand in state.hands],
            pile=len(state.pile),
            board=b.write_rows(state.stones),
            lines=lines,
            face_up=_dominoes(state.face_up),
            since=since[::-1],
        )

    def play(self, state: State, move: Move) -> State:
        """Play a move of the first seat of the turn order."""
        seat, domino = state.order[0], b.NUMBERS[move.domino]
        if domino not in state.hands[seat]:
            raise IllegalMove("quincy.play.owned", f"{_show(domino)} is not in the hand")
        if isinstance(move, Add):
            return _add(state, domino, move.square)
        if isinstance(move, Remove):
            return _remove(state, domino, move.square)
        if _is_playable(domino, *_open(state.stones, state.unbreakable, seat)):
            raise IllegalMove("quincy.discard.unplayable", f"{_show(domino)} can be played")
        return _end_play(state, domino, "discard", None, state.stones)

    def news(self, state: State) -> News:
        """Return the last play with its team's number of lines, and the drawn dominoes (None if the play wins)."""
        event = state.log[-1]
        square = {} if event.square is None else {"square": event.square}
        count = b.survey(state.stones[event.seat % 2])[1]
        public = {"action": event.action, "domino": event.dominoes[0], **square, "seat": event.seat, "lines": count}
        return News(public, None if state.arriving is None else tuple(_dominoes(state.arriving)))

    def deliver(self, state: State) -> State:
        """Put the drawn domino at the end of the mover's hand; then skip seats that can do nothing."""
        drawn = state.arriving
        if drawn is None:
            return state
        hands = replace_at(state.hands, state.mover, state.hands[state.mover] + drawn)
        return _skip_seats(replace(state, hands=hands, drew=replace_at(state.drew, state.mover, drawn), arriving=None))

    def drop(self, state: State, seat: int) -> State:
        """Lay the seat's hand face down, with any domino that it has just drawn; a team without a player loses.

        The source has no rule for elimination.
        """
        is_mover = seat == state.mover
        lost = state.hands[seat] + (state.arriving or () if is_mover else ())
        order = tuple(other for other in state.order if other != seat)
        teams = {other % 2 for other in order}
        ends = state.end is None and len(teams) == 1
        return _skip_seats(
            replace(
                state,
                hands=replace_at(state.hands, seat, ()),
                drew=replace_at(state.drew, seat, ()),
                order=order,
                face_down=state.face_down + lost,
                log=(*state.log, PublicEvent(seat, "expelled", (), None)),
                same_turn=state.same_turn and state.order[0] != seat,
                arriving=None if is_mover else state.arriving,
                end="quincy.end.eliminated" if ends else state.end,
                winner=teams.pop() if ends else state.winner,
            )
        )

    def outcome(self, state: State) -> Outcome | None:
        """Return the ranking once the game has ended: the winning team first, or everybody together after a wash.

        A seat still in the game scores 1 if its team won, else 0.
        """
        if state.end is None:
            return None
        won = tuple(seat for seat in state.order if seat % 2 == state.winner)
        others = tuple(seat for seat in state.order if seat not in won)
        scores = tuple(int(seat in won) for seat in range(len(state.hands)))
        return Outcome(tuple(level for level in (won, others) if level), scores, state.order, state.end)

    def legal_moves(self, state: State) -> list[Move]:
        """Return every legal move."""
        empty, loose = _open(state.stones, state.unbreakable, state.order[0])
        moves: list[Move] = []
        for domino in state.hands[state.order[0]]:
            free = b.REACH[domino] & empty
            prey = b.REACH[domino] & loose if b.IS_WILD[domino] else 0
            if free:
                moves += [move for bit, move in _ADDS[domino] if bit & free]
            if prey:
                moves += [move for bit, move in _REMOVES[domino] if bit & prey]
            if not free and not prey:
                moves.append(_DISCARDS[domino])
        return moves

    def check_invariants(self, state: State) -> None:
        """Check order, stones and lines. Check that each domino is in one place, and that the seat to move can act."""
        assert len(set(state.order)) == len(state.order) <= len(state.hands) == len(state.drew)
        assert all(not hand for seat, hand in enumerate(state.hands) if seat not in state.order)
        assert not state.stones[0] & state.stones[1]
        assert not (state.stones[0] | state.stones[1]) & ~sum(b.BITS.values())
        surveys = [b.survey(occupied) for occupied in state.stones]
        assert [squares for squares, _ in surveys] == list(state.unbreakable)
        assert [count >= b.LINES_TO_WIN for _, count in surveys] == [
            state.end == "quincy.end.lines" and state.winner == team for team in (0, 1)
        ]
        hands = [domino for hand in state.hands for domino in hand]
        places = [*hands, *state.pile, *state.face_up, *state.face_down, *(state.arriving or ())]
        assert sorted(places) == list(b.ALL_DOMINOES)
        assert state.end is not None or state.arriving is not None or _can_act(state, state.order[0])

    def places_of(self, step: Step) -> tuple[str, ...]:
        """Return the domino, then the square or the word `discard`."""
        assert isinstance(step, Add | Remove | Discard)
        domino = "{}|{}".format(*sorted(step.domino))
        return domino, "discard" if isinstance(step, Discard) else square_name(*step.square)

    def describe(self, play: Mapping[str, Any]) -> str:
        """Return a play in words."""
        return describe(play)

    def draw_text(self, state: State, eyes: Collection[int] | None = None) -> str:
        """Return the board and every seat's hand, for a terminal."""
        return draw_text(state, eyes)

    def draw_svg(self, state: State, eyes: Collection[int] | None = None, chosen: tuple[Any, ...] | None = None) -> str:
        """Return the board and the hands as an SVG document, with the last move marked."""
        return draw_svg(state, eyes, can_touch=chosen is not None)


def _add(state: State, domino: int, square: Square) -> State:
    """Return the state after a stone is added; refuse an illegal move. Source: Quincy, Game Mechanics."""
    bit, team = b.BITS[square], state.order[0] % 2
    if not bit & b.REACH[domino]:
        rule_id = "quincy.add.wild" if b.IS_WILD[domino] else "quincy.add.named"
        raise IllegalMove(rule_id, f"{_show(domino)} does not reach row {square[0]}, column {square[1]}")
    if bit & (state.stones[0] | state.stones[1]):
        raise IllegalMove("quincy.add.empty", f"row {square[0]}, column {square[1]} is not empty")
    return _end_play(state, domino, "add", square, replace_at(state.stones, team, state.stones[team] | bit))


def _remove(state: State, domino: int, square: Square) -> State:
    """Return the state after a stone is removed; refuse an illegal move.

    Source: Quincy, Game Mechanics, Blanks and the caveat below.
    """
    bit, other = b.BITS[square], 1 - state.order[0] % 2
    where = f"row {square[0]}, column {square[1]}"
    if not b.IS_WILD[domino]:
        raise IllegalMove("quincy.remove.blank", f"{_show(domino)} has no blank")
    if not bit & b.REACH[domino]:
        raise IllegalMove("quincy.remove.wild", f"{_show(domino)} does not reach {where}")
    if not bit & state.stones[other]:
        raise IllegalMove("quincy.remove.opponent", f"no stone of the opponents on {where}")
    if bit & state.unbreakable[other]:
        raise IllegalMove("quincy.remove.unbreakable", f"the stone on {where} is part of a line")
    return _end_play(state, domino, "remove", square, replace_at(state.stones, other, state.stones[other] ^ bit))


def _end_play(state: State, domino: int, action: Any, square: Square | None, stones: Pair) -> State:
    """Return the state after a legal move: its domino lies face up; unless the move wins, a domino is drawn."""
    seat, order, pile, unbreakable, end = state.order[0], state.order, state.pile, state.unbreakable, None
    if action == "add":
        fixed, count = b.survey(stones[seat % 2])
        unbreakable = replace_at(unbreakable, seat % 2, fixed)
        end = "quincy.end.lines" if count >= b.LINES_TO_WIN else None
    # A play that wins draws nothing.
    arriving = None if end else pile[:1]
    hand, at = state.hands[seat], state.hands[seat].index(domino)
    return State(
        stones,
        unbreakable,
        pile if end else pile[1:],
        replace_at(state.hands, seat, hand[:at] + hand[at + 1 :]),
        order if action == "discard" else (*order[1:], seat),
        (*state.face_up, domino),
        state.face_down,
        replace_at(state.drew, seat, ()),
        (*state.log, PublicEvent(seat, action, (b.DOMINOES[domino],), square)),
        action == "discard",
        arriving,
        seat,
        end,
        seat % 2 if end else None,
    )


def _skip_seats(state: State) -> State:
    """Skip seats that can do nothing and discard their dominoes; if no seat can, the game is a draw.

    Source: Quincy, Edge Cases, Unplayable domino and All dominoes exhausted.
    """
    if state.end is not None or state.arriving is not None or _can_act(state, state.order[0]):
        return state
    # Each seat is skipped once at most: if nobody can act then, nobody ever will.
    for _ in state.order:
        seat, hand = state.order[0], state.hands[state.order[0]]
        state = replace(
            state,
            hands=replace_at(state.hands, seat, ()),
            order=(*state.order[1:], seat),
            face_up=state.face_up + hand,
            log=(*state.log, PublicEvent(seat, "skip", tuple(_dominoes(hand)), None)),
            same_turn=False,
        )
        if _can_act(state, state.order[0]):
            return state
    return replace(state, end="quincy.end.wash")


def _can_act(state: State, seat: int) -> bool:
    """Return whether a seat can play, or discard and draw."""
    hand = state.hands[seat]
    if state.pile or not hand:
        return bool(hand)
    empty, loose = _open(state.stones, state.unbreakable, seat)
    return any(_is_playable(domino, empty, loose) for domino in hand)


def _open(stones: Pair, unbreakable: Pair, seat: int) -> Pair:
    """Return the squares without a stone, and the squares whose stones a seat may remove.

    The first set has all bits outside the board, too.
    """
    other = 1 - seat % 2
    return ~(stones[0] | stones[1]), stones[other] & ~unbreakable[other]


def _is_playable(domino: int, empty: Squares, loose: Squares) -> bool:
    """Return whether a domino can add or remove a stone."""
    return bool(b.REACH[domino] & (empty | loose if b.IS_WILD[domino] else empty))


def _numbers(dominoes: Any) -> tuple[int, ...]:
    return tuple(b.NUMBERS[domino] for domino in dominoes)


def _dominoes(numbers: tuple[int, ...]) -> list[Domino]:
    return [b.DOMINOES[number] for number in numbers]


def _show(domino: int) -> str:
    return f"[{b.DOMINOES[domino][0]}, {b.DOMINOES[domino][1]}]"
