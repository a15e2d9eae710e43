"""The players' nonces: all seats commit, then all open, so the last seat to answer has no choice."""

from typing import Any

import pytest

from protocol.deal import nonce_commitment
from referee import chance
from referee.games.q.game import QGame
from referee.match import commands as c
from referee.match import events as e
from referee.match.events import ImpossibleEvent
from referee.match.fouls import Cause
from referee.match.machine import Match, Phase
from referee.match.setup import Nonces

from .folding import (
    COMMITMENTS,
    LIMIT,
    NONCE,
    SEED,
    START,
    fold,
    lost,
    opened,
    overdue,
    ready,
    resumed,
    returned,
    revealed,
    setup_of,
)

OTHER = "e1" * 16


def committed(seats: int = 3, **fields: Any) -> Match:
    """Return a match whose seats have all committed."""
    match = Match(QGame(), setup_of(seats, nonces=True, **fields), SEED)
    fold(match, opened(), *(ready(seat) for seat in range(seats)))
    return match


def dealt(nonces: list[str | None]) -> Any:
    """Return the state of a deal."""
    game = QGame()
    key = chance.shuffle_key(SEED, nonces)
    return game.new(game.parse_options({}), len(nonces), chance.Dealer(key))


def test_nobody_opens_before_all_have_committed() -> None:
    """A commitment leads to no request until the last one has come; then all seats are asked at once."""
    match = Match(QGame(), setup_of(2, nonces=True), SEED)
    assert fold(match, opened(), ready(1)) == ()
    assert fold(match, ready(0)) == tuple(c.AskNonce(seat=seat, limit_ms=LIMIT) for seat in (0, 1))
    assert match.phase is Phase.REVEALING
    assert match.nonces.commitments == COMMITMENTS[:2]
    assert match.nonces.opened == [None, None]
    assert fold(match, revealed(1)) == ()
    assert [type(command) for command in fold(match, revealed(0))][:2] == [c.StartSeat, c.StartSeat]


def test_who_is_out_before_has_no_commitment_to_open() -> None:
    """A seat that said `ready` and left is asked nothing, and its commitment is dropped."""
    match = Match(QGame(), setup_of(3, nonces=True), SEED)
    commands = fold(match, opened(), ready(0), lost(0, 1.5), ready(1, 2.0), ready(2, 2.0))
    assert [command.seat for command in commands if isinstance(command, c.AskNonce)] == [1, 2]
    assert match.nonces.commitments == [None, *COMMITMENTS[1:3]]


def test_the_only_one_left_opens_too() -> None:
    """Its nonce counts, as it was promised."""
    match = Match(QGame(), setup_of(2, nonces=True, default_margin=5), SEED)
    fold(match, opened(), ready(0), overdue(1, START + 1, sent=0.0))
    fold(match, revealed(0, START + 2, sent=START + 1))
    assert match.nonces.opened == [NONCE, None]
    assert match.result is not None
    assert match.result.winners == (0,)


REFUSALS: tuple[tuple[str, e.Event, Cause, str | None, str], ...] = (
    ("says nothing", overdue(2, LIMIT + 2, sent=1.0), Cause.TIMEOUT, None, ""),
    ("is late", revealed(2, LIMIT + 2), Cause.TIMEOUT, None, ""),
    ("leaves", lost(2, 3.0), Cause.DISCONNECTED, None, ""),
    ("opens another", revealed(2, 3.0, nonce=OTHER, frame="0c"), Cause.MALFORMED_MESSAGE, "nonce", "0c"),
)


@pytest.mark.parametrize(("event", "cause", "code", "evidence"), [row[1:] for row in REFUSALS], ids=str)
def test_who_does_not_open_is_out(event: e.Event, cause: Cause, code: str | None, evidence: str) -> None:
    """It is expelled, the deal does not use its nonce, and the others play on."""
    match = committed()
    fold(match, revealed(0), revealed(1))
    fold(match, event)
    (foul,) = match.fouls
    assert (foul.seat, foul.cause, foul.code, foul.evidence, foul.turn) == (2, cause, code, evidence, 0)
    assert match.nonces.opened == [NONCE, NONCE, None]
    assert match.state == QGame().drop(dealt([NONCE, NONCE, None]), 2)
    assert match.phase is Phase.PLAYING


def test_an_opened_nonce_counts_whatever_becomes_of_its_seat() -> None:
    """A seat that leaves after it has opened changes no tile."""
    match = committed()
    fold(match, revealed(2), lost(2, 3.0), revealed(0, 4.0), revealed(1, 4.0))
    assert match.nonces.opened == [NONCE] * 3
    assert match.state == QGame().drop(dealt([NONCE] * 3), 2)


def test_a_copied_commitment_can_not_be_opened() -> None:
    """A seat that copies another's commitment can't open it, not even with that seat's nonce."""
    match = Match(QGame(), setup_of(2, nonces=True), SEED)
    fold(match, opened(), ready(0), ready(1, commitment=COMMITMENTS[0]), revealed(0))
    fold(match, revealed(1, 3.0))
    assert [(foul.seat, foul.code) for foul in match.fouls] == [(1, "nonce")]
    assert match.nonces.opened == [NONCE, None]


@pytest.mark.parametrize("where", [("m", 1, NONCE), ("m2", 0, NONCE), ("m", 0, OTHER)])
def test_match_seat_and_nonce_are_all_in_a_commitment(where: tuple[str, int, str]) -> None:
    nonces = Nonces("m", 2)
    nonces.commitments = [nonce_commitment(*where), None]
    assert not nonces.open(0, NONCE)
    assert nonces.opened == [None, None]


def test_nobody_opens_twice_nor_commits_again() -> None:
    """Such an event can't happen, because the connection has refused it already."""
    match = committed()
    fold(match, revealed(0))
    for event in (revealed(0, 3.0), ready(1, 3.0, commitment=COMMITMENTS[1])):
        with pytest.raises(ImpossibleEvent):
            match.handle(event)


def test_a_player_that_comes_back_is_asked_again() -> None:
    """Its commitment stands: it is asked to open it, in the time that is left."""
    match = committed(2)
    commands = fold(match, returned(0, 101.0))
    assert commands == (
        c.ResumeSeat(seat=0, turn=0, view=None),
        c.AskNonce(seat=0, limit_ms=LIMIT - 100.0),
    )
    fold(match, revealed(1, 200.0), revealed(0, 300.0, sent=150.0))
    assert match.nonces.opened == [NONCE, NONCE]


def test_before_the_deal_a_referee_that_is_back_offers_anew() -> None:
    """Programs that were started again know no nonce, so all earlier answers are dropped."""
    match = committed(3)
    fold(match, lost(2, 1.5), revealed(0))
    commands = fold(match, resumed(2.0))
    assert [(type(command), command.seat) for command in commands if isinstance(command, c.SeatCommand)] == [
        (c.OfferMatch, 0),
        (c.OfferMatch, 1),
    ]
    assert match.nonces.commitments == match.nonces.opened == [None] * 3
    again = [nonce_commitment("m", seat, OTHER) for seat in (0, 1)]
    fold(match, *(ready(seat, 4.0, sent=3.5, commitment=again[seat]) for seat in (0, 1)))
    fold(match, *(revealed(seat, 6.0, sent=5.0, nonce=OTHER) for seat in (0, 1)))
    assert match.nonces.opened == [OTHER, OTHER, None]
    assert match.phase is Phase.PLAYING
