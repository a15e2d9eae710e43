"""The steps about ends (of a match, of a connection, by expulsion) and about returning to a match."""

from collections.abc import Callable
from functools import partial
from typing import Any

from protocol.messages import Refused

from .context import CheckContext, CheckStep
from .findings import Failed, Skipped
from .remedies import SPEC
from .scripted_match import ScriptedMatch
from .session import Session

_BACK_S = 3.0
"""Time that a program has to come back by itself after its connection broke."""
_ASLEEP_S = 0.05
"""Time for which a program is stopped. Its length does not matter: a stopped program does not run meanwhile."""
_ENDED = "after the referee closed the connection"


def _match(context: CheckContext, session: Session, *, nonces: bool = False) -> ScriptedMatch:
    """Wait for the program's hello, and return a match with the program."""
    session.greet()
    return ScriptedMatch(session, context.terms(nonces=nonces))


def _turn(context: CheckContext, session: Session) -> ScriptedMatch:
    """Wait for the program's hello and play up to its first turn, which stays open."""
    match = _match(context, session)
    match.deal()
    return match


# --- of a match


def _void(begin: Callable[[ScriptedMatch], None], context: CheckContext) -> None:
    """End a match as soon as it has begun, then check whether the program plays another."""
    with context.match() as match:
        begin(match)
        match.void()
        _next(context, match).finish(1)


def _next(context: CheckContext, before: ScriptedMatch, **changes: Any) -> ScriptedMatch:
    """Return the next match of a program, on the same connection.

    Raises:
        Skipped: the program says that it can't play so many matches.
    """
    if before.session.matches >= context.most_matches:
        raise Skipped(f"its player.toml says matches = {context.launch.matches}")
    return ScriptedMatch(before.session, context.terms(**changes))


def _two_matches(context: CheckContext) -> None:
    with context.match() as match:
        match.finish(2)
        try:
            _next(context, match).finish(2)
        except Failed as failure:
            failure.remedy += " If it can't play a second match, say so in player.toml: matches = 1."
            raise
    context.keeps = True  # from here on: a new start for each match would only take time


def _forgets(context: CheckContext) -> None:
    """Break off a match, and play the next from another seat: answers computed for the first match are wrong there."""
    with context.match(nonces=True) as first:
        first.finish(2)
        # With another seat, a program that still holds data of its first match gives a wrong answer.
        seat = context.game.seats[0] - 1
        second = _next(context, first, nonces=True, seat=seat)
        second.finish(3)
        nonce = second.fold.nonces.opened[seat]
        if nonce == first.fold.nonces.opened[first.seat]:
            raise Failed(
                f"two matches on one connection got the same nonce, {nonce}",
                "a new one for each offer",
                f"Draw a new nonce for each offer, not one when the program starts ({SPEC}, Match after match).",
            )


def _sleep(context: CheckContext) -> None:
    with context.match() as match:
        match.finish(1)
        after = _next(context, match)
        match.session.sleep(_ASLEEP_S)
        after.finish(1)


# --- of a connection


def _exits(prepare: Callable[[CheckContext, Session], object], when: str, context: CheckContext) -> str:
    with context.session() as session:
        prepare(context, session)
        session.hang_up()
        return session.expect_exit(when)


def _refuse(context: CheckContext, session: Session) -> None:
    session.accept(context.times.start_s)
    session.hear(context.times.start_s, "a hello")
    session.say(Refused(code="closed", reason="the check of the player refuses the program to see what it does"))


def _tear(context: CheckContext, session: Session) -> None:
    _match(context, session).play(1)
    session.tear()


# --- return to a match


def _resume(unseen: int | None, moves: int, context: CheckContext) -> None:
    """Start the program again in the middle of a match, as a restarted referee does.

    Args:
        unseen: number of the program's moves before the restart; None: the restart comes before the deal, while the
            other players are not ready yet.
        moves: number of moves that the program has to make after the restart.
        context: the program under check.
    """
    with context.session() as session:
        match = _match(context, session, nonces=True)
        match.play_unseen(unseen)
        match.take_back()
        match.play(moves)


def _comes_back(context: CheckContext) -> None:
    """Break the connection of a program that runs as a remote player. If it reconnects, it must follow the rules."""
    with context.session(is_launched=False) as session:
        match = _turn(context, session)
        _break_connection(session)
        match.take_back()
        match.play(2)


def _comes_back_early(context: CheckContext) -> None:
    """Break the connection after the program has committed to a nonce. If it reconnects, it must open that nonce."""
    with context.session(is_launched=False) as session:
        match = _match(context, session, nonces=True)
        match.open()
        match.take(session.hear(context.times.start_s, "a ready"))
        session.unsay()
        _break_connection(session)
        match.take_seat_back()
        match.play(1)


def _break_connection(session: Session) -> None:
    """Break the connection, and wait until the program connects again.

    Raises:
        Failed: its hello does not have the token that was in `resume` of its offer.
        Skipped: it does not connect again.
    """
    session.drop()
    try:
        session.accept(_BACK_S)
    except Failed:
        raise Skipped("it does not connect again by itself; it does not have to") from None
    hello = session.greet(is_connected=True)
    if hello.token != session.resume:
        raise Failed(
            f"it connected again with the token {hello.token!r}",
            "`token` of the hello equal to `resume` of the offer",
            "Store `resume` of the last `offer` or `resumed` until the match ends; send it as `token` of the hello.",
        )


MATCH_STEPS = (
    CheckStep("two-matches", "it plays two matches one after the other", _two_matches),
    CheckStep("forgets", "in its second match it has forgotten the first", _forgets),
    CheckStep("stopped", "if its process is stopped for a while between two matches, it plays the second", _sleep),
    CheckStep(
        "early-end", "it survives a match that ends at once, and plays the next", partial(_void, ScriptedMatch.start)
    ),
    # The end is sent right after a turn, so the program's answer is on its way at the same time. That is no foul.
    CheckStep(
        "crossed", "it survives an end in its turn, and plays the next match", partial(_void, ScriptedMatch.deal)
    ),
)
_EXITS: tuple[tuple[str, str, Callable[[CheckContext, Session], object], str], ...] = (
    ("leaves", "once the referee has closed the connection", lambda *given: _match(*given).finish(1), _ENDED),
    (
        "expelled",
        "once it is expelled",
        lambda *given: _turn(*given).expel(),
        "after it was expelled and the connection was closed",
    ),
    ("refused", "once it is refused", _refuse, "after it was refused and the connection was closed"),
    ("no-match", "if there is no match", lambda _, session: session.greet(), f"{_ENDED} without a match"),
    ("lost", "once its connection is lost", _turn, "after its connection broke in its turn"),
    ("torn", "if its connection breaks within a message", _tear, "after its connection broke within a frame"),
    (
        "paused",
        "once the match is paused",
        lambda *given: _turn(*given).pause(),
        "after the referee paused the match and closed the connection",
    ),
)
"""Rows: key, condition in the title, function that runs before the connection is closed, condition in a failure."""
CONNECTION_STEPS = (
    *(
        CheckStep(key, f"it ends by itself {title}", partial(_exits, prepare, when))
        for key, title, prepare, when in _EXITS
    ),
    CheckStep("resumed", "started again, it plays on in the middle of a match", partial(_resume, 2, 2)),
    CheckStep("resumed-early", "started again before the deal, it plays", partial(_resume, None, 1)),
    CheckStep("comes-back", "if it connects again by itself, it sends its token", _comes_back),
    CheckStep("comes-back-early", "if it connects again after its ready, it opens the same nonce", _comes_back_early),
)
