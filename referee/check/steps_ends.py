"""The steps about ends: of a match, of the program's part in it, of a connection; and about return into a match."""

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
"""Time for which a program is stopped. Any will do: a stopped program sees no time pass."""
_ENDED = "after the referee closed the connection"


def _match(context: CheckContext, session: Session, *, nonces: bool = False) -> ScriptedMatch:
    """Welcome the program, and return a match with it."""
    session.greet()
    return ScriptedMatch(session, context.terms(nonces=nonces))


def _turn(context: CheckContext, session: Session) -> ScriptedMatch:
    """Welcome the program and play up to its turn, which stays open."""
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
    """Break off a match, and play the next from another seat, where all that belongs to the first match is wrong."""
    with context.match(nonces=True) as first:
        first.finish(2)
        # Another seat, so that a program which still believes in its first match answers with the wrong one.
        seat = context.game.seats[0] - 1
        second = _next(context, first, nonces=True, seat=seat)
        second.finish(3)
        nonce = second.fold.nonces.opened[seat]
        if nonce == first.fold.nonces.opened[first.seat]:
            raise Failed(
                f"two matches on one connection got the same nonce, {nonce}",
                "a new one for each offer",
                f"Draw the nonce when the offer comes, not when the program starts ({SPEC}, Match after match).",
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
    session.say(Refused(code="closed", reason="sign-up is over: the check wants to see what the program does"))


def _tear(context: CheckContext, session: Session) -> None:
    _match(context, session).play(1)
    session.tear()


# --- back into a match


def _resume(unseen: int | None, moves: int, context: CheckContext) -> None:
    """Start the program again in the middle of a match, as a restarted referee does.

    Args:
        unseen: number of the program's moves that were played before; None: there is no view yet, because other players
            have not sent ready.
        moves: number of moves that the program has to make now.
        context: the program under check.
    """
    with context.session() as session:
        match = _match(context, session, nonces=True)
        match.play_unseen(unseen)
        match.take_back()
        match.play(moves)


def _comes_back(context: CheckContext) -> None:
    """Break the connection of a program that no referee launched: if it reconnects, it must do so by the rules."""
    with context.session(is_launched=False) as session:
        match = _turn(context, session)
        _break_connection(session)
        match.take_back()
        match.play(2)


def _comes_back_early(context: CheckContext) -> None:
    """Break a program's connection after it has committed to a nonce: once it is back, it must open that nonce."""
    with context.session(is_launched=False) as session:
        match = _match(context, session, nonces=True)
        match.open()
        match.take(session.hear(context.times.start_s, "a ready"))
        session.unsay()
        _break_connection(session)
        match.take_seat_back()
        match.play(1)


def _break_connection(session: Session) -> None:
    """Break the connection, and wait until the program is back.

    Raises:
        Failed: it comes back with a token that is not the one in `resume` of its offer.
        Skipped: it does not come back.
    """
    session.drop()
    try:
        session.accept(_BACK_S)
    except Failed:
        raise Skipped("it does not come back by itself, and need not") from None
    hello = session.greet(is_connected=True)
    if hello.token != session.resume:
        raise Failed(
            f"it came back with the token {hello.token!r}",
            "`resume` of the offer in `token` of the hello",
            "Keep `resume` of the last offer or resumed while its match is open, and greet with it.",
        )


MATCH_STEPS = (
    CheckStep("two-matches", "it plays two matches one after the other", _two_matches),
    CheckStep("forgets", "in its next match it has forgotten the one before", _forgets),
    CheckStep("stopped", "stopped between two matches, it plays the next when it may go on", _sleep),
    CheckStep(
        "early-end", "it survives a match that ends at once, and plays the next", partial(_void, ScriptedMatch.start)
    ),
    # The end comes right after a turn, so that the answer crosses it on the way. That is nobody's fault.
    CheckStep(
        "crossed", "it survives an end in its turn, and plays the next match", partial(_void, ScriptedMatch.deal)
    ),
)
_EXITS: tuple[tuple[str, str, Callable[[CheckContext, Session], object], str], ...] = (
    ("leaves", "once the referee has closed", lambda *given: _match(*given).finish(1), _ENDED),
    (
        "expelled",
        "once it is expelled",
        lambda *given: _turn(*given).expel(),
        "after it was expelled, and the connection closed",
    ),
    ("refused", "once it is refused", _refuse, "after it was refused, and the connection closed"),
    ("no-match", "if there is no match", lambda _, session: session.greet(), f"{_ENDED} without a match"),
    ("lost", "once its connection is lost", _turn, "after its connection broke in its turn"),
    ("torn", "if its connection breaks within a message", _tear, "after its connection broke within a frame"),
    (
        "paused",
        "once the match is paused",
        lambda *given: _turn(*given).pause(),
        "after the referee paused the match, and closed the connection",
    ),
)
"""Key, condition in the title, function that runs before the connection is closed, and its description in a failure."""
CONNECTION_STEPS = (
    *(
        CheckStep(key, f"it ends by itself {title}", partial(_exits, prepare, when))
        for key, title, prepare, when in _EXITS
    ),
    CheckStep("resumed", "started again, it plays on in the middle of a match", partial(_resume, 2, 2)),
    CheckStep("resumed-early", "started again before the deal, it plays", partial(_resume, None, 1)),
    CheckStep("comes-back", "if it comes back by itself, it does so with its token", _comes_back),
    CheckStep("comes-back-early", "if it comes back after its ready, it opens what it committed to", _comes_back_early),
)
