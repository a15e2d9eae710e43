"""Who gets the result of a match on its host."""

from pathlib import Path

from referee.cluster.host_run import HostedMatch
from referee.cluster.messages import PlayedMatch

OVER = PlayedMatch(record=b"all of it")


def test_who_waits_is_given_what_came_of_a_match() -> None:
    """The result was fetched then, and a host that is about to end need not wait for that."""
    hosted = HostedMatch(Path("unused"))
    waiting = hosted.wait()
    hosted.end(OVER)
    assert (waiting.result(0), hosted.is_fetched) == (OVER, True)


def test_a_match_that_ends_while_the_connection_is_lost_waits_to_be_fetched() -> None:
    """The waiting call has ended with nothing; the next one gets the result at once."""
    hosted = HostedMatch(Path("unused"))
    waiting = hosted.wait()
    hosted.release()
    hosted.end(OVER)
    assert (waiting.result(0), hosted.is_fetched) == (None, False)
    assert (hosted.wait().result(0), hosted.is_fetched) == (OVER, True)
