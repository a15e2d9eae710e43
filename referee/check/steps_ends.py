"""The steps about ends: of a match, of a part in it, of a connection; and about coming back into a match."""

from protocol.messages import Refused

from .context import CheckContext
from .findings import Failed, Skipped
from .scripted_match import ScriptedMatch, ScriptedTerms
from .session import Session
from .step import CheckStep

_BACK_S = 3.0
"""How long a program that lost its connection is given to come back by itself."""
_ENDED = "after the referee closed the connection"


def _seated(context: CheckContext, session: Session) -> ScriptedMatch:
    return ScriptedMatch(session, ScriptedTerms(game=context.game, seats=context.game.seats[0]))


def _greeted(context: CheckContext, session: Session) -> ScriptedMatch:
    """Take the program in and play up to its turn, which stays open."""
    session.greet()
    match = _seated(context, session)
    match.deal()
    return match


# --- of a match


def _early_end(context: CheckContext) -> str:
    """End a match before the first turn, then see whether the program takes another."""
    with context.welcomed() as session:
        first = _seated(context, session)
        first.start()
        first.void()
        second = _seated(context, session)
        second.play(1)
        second.void()
        return ""


def _crossed(context: CheckContext) -> str:
    """End a match right behind a turn: the answer crosses the end on its way, and is nobody's fault."""
    with context.welcomed() as session:
        first = _seated(context, session)
        first.deal()
        first.void()
        second = _seated(context, session)
        second.play(1)
        second.void()
        return ""


def _two_matches(context: CheckContext) -> str:
    with context.welcomed() as session:
        for _ in range(2):
            match = _seated(context, session)
            match.play(2)
            match.void()
    context.keeps = True  # from here on: to start it anew for every match would only take time
    return ""


def _leaves(context: CheckContext) -> str:
    with context.session() as session:
        session.greet()
        match = _seated(context, session)
        match.play(1)
        match.void()
        session.hang_up()
        return session.expect_exit(_ENDED)


def _expelled(context: CheckContext) -> str:
    with context.session() as session:
        match = _greeted(context, session)
        match.expel()
        session.hang_up()
        return session.expect_exit("after it was expelled, and the connection closed")


# --- of a connection


def _refused(context: CheckContext) -> str:
    with context.session() as session:
        session.accept(context.times.start_s)
        session.hear(context.times.start_s, "a hello")
        session.say(Refused(code="closed", reason="sign-up is over: the check wants to see what the program does"))
        session.hang_up()
        return session.expect_exit("after it was refused, and the connection closed")


def _no_match(context: CheckContext) -> str:
    with context.session() as session:
        session.greet()
        session.hang_up()
        return session.expect_exit(f"{_ENDED} without a match")


def _lost(context: CheckContext) -> str:
    with context.session() as session:
        _greeted(context, session)
        session.hang_up()
        return session.expect_exit("after its connection broke in its turn")


def _torn(context: CheckContext) -> str:
    """Close in the middle of a frame."""
    with context.session() as session:
        session.greet()
        match = _seated(context, session)
        match.play(1)
        session.tear()
        return session.expect_exit("after its connection broke within a frame")


def _paused(context: CheckContext) -> str:
    with context.session() as session:
        match = _greeted(context, session)
        match.pause()
        session.hang_up()
        return session.expect_exit("after the referee paused the match, and closed the connection")


# --- back into a match


def _started_again(context: CheckContext) -> str:
    """Take a program that was started again with its referee into the middle of a match."""
    with context.session() as session:
        session.greet()
        match = _seated(context, session)
        match.play_unseen(2)
        match.take_back()
        match.play(2)
        return ""


def _started_again_early(context: CheckContext) -> str:
    """Take it back while others are still to say ready: there is no view yet."""
    with context.session() as session:
        session.greet()
        match = _seated(context, session)
        match.play_unseen(None)
        match.take_back()
        match.play(1)
        return ""


def _comes_back(context: CheckContext) -> str:
    """Break the connection of a program that nobody has launched: if it comes back, it must do that right."""
    with context.session(is_launched=False) as session:
        match = _greeted(context, session)
        session.drop()
        try:
            session.accept(_BACK_S)
        except Failed:
            raise Skipped("it does not come back by itself, and need not") from None
        hello = session.greet(is_connected=True)
        if hello.token != session.resume:
            raise Failed(
                f"it came back with the token {hello.token!r}",
                expected="`resume` of the offer in `token` of the hello",
                remedy="Keep `resume` of the last offer or resumed while its match is open, and greet with it.",
            )
        match.take_back()
        match.play(2)
        return ""


OF_MATCHES = (
    CheckStep("two-matches", "it plays two matches one after the other", _two_matches),
    CheckStep("early-end", "it survives a match that ends at once, and plays the next", _early_end),
    CheckStep("crossed", "it survives an end in its turn, and plays the next match", _crossed),
)
OF_CONNECTIONS = (
    CheckStep("leaves", "it ends by itself once the referee has closed", _leaves),
    CheckStep("expelled", "it ends by itself once it is expelled", _expelled),
    CheckStep("refused", "it ends by itself once it is refused", _refused),
    CheckStep("no-match", "it ends by itself if there is no match", _no_match),
    CheckStep("lost", "it ends by itself once its connection is lost", _lost),
    CheckStep("torn", "it ends by itself if its connection breaks within a message", _torn),
    CheckStep("paused", "it ends by itself once the match is paused", _paused),
    CheckStep("resumed", "started again, it plays on in the middle of a match", _started_again),
    CheckStep("resumed-early", "started again before the deal, it plays", _started_again_early),
    CheckStep("comes-back", "if it comes back by itself, it does so with its token", _comes_back),
)
