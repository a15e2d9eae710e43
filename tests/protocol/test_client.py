"""The client: it plays what is offered, says of each match whether the referee kept its commitment, and returns it.

A referee of a few lines listens on a real socket and says what a script tells it; what it breaks, it breaks on purpose.
"""

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
import pytest

from protocol import Connection, Need, Role
from protocol.client import ClientError, Ended, run
from protocol.fairness import Finding
from protocol.messages import End, Expelled, Hello, Message, Move, Offer, Ready, Turn

from .situations import message_for, typed
from .tables import END, EXPELLED, HEAD, MATCH, NONCES, OFFER, TURN, Plain

THEIRS = NONCES[1]
FIRST, SECOND = "1" * 64, "2" * 64
WRONG_SEED = "11" * 32
SEEDS = (
    f"it committed to {OFFER['commitment']}, and the SHA-256 of the revealed seed is "
    "02d449a31fbb267c8f352e9968a79e3e5fc95c1bbeaa502fd6454ebde5a4bedc"
)
DONE, BROKEN = "the referee kept its commitment", "THE REFEREE BROKE ITS COMMITMENT"
VOID: Plain = {"void": "the disk is full", "winners": [], "ranking": []}
MOVE = {"action": "pass"}

Line = Callable[[str], Message]
"""From the nonce that the player gave last to the referee's next message."""


def say(plain: Plain, **changes: Any) -> Line:
    """Return a line of a script that needs no nonce."""
    message = typed({**plain, **changes})
    return lambda _nonce: message


def end(*, nonces: Callable[[str], list[str | None]] = lambda own: [own, THEIRS], **changes: Any) -> Line:
    """Return a line of a script that ends the match, by default as it should."""
    return lambda own: typed({**END, "nonces": nonces(own), **changes})


def expelled(**changes: Any) -> Line:
    """Return a line of a script that expels the player."""
    return say(EXPELLED, **changes)


OFFERED = say(OFFER)
NO_NONCES = end(nonces=lambda _own: [None, None])


class ScriptedReferee(threading.Thread):
    """A referee of one connection: it says its lines, and waits for an answer wherever the protocol wants one.

    Args:
        script: what it says behind `welcome`.
    """

    def __init__(self, script: Sequence[Line]) -> None:
        super().__init__(daemon=True)
        self.heard: list[Message] = []
        self._script = script
        self._connection = Connection(Role.REFEREE)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp:127.0.0.1:{self._listener.getsockname()[1]}"

    def run(self) -> None:
        """Serve the connection to the end of the script."""
        sock, _ = self._listener.accept()
        with self._listener, sock:
            self._wait(sock)
            sock.sendall(self._connection.send(message_for("welcome")))
            for line in self._script:
                nonces = [message.nonce for message in self.heard if isinstance(message, Ready)]
                message = line(nonces[-1] if nonces else "")
                sock.sendall(self._connection.send(message))
                if isinstance(message, Offer | Turn) or getattr(message, "ack", None) is not None:
                    self._wait(sock)

    def _wait(self, sock: socket.socket) -> None:
        while (event := self._connection.next_event()) is Need.DATA:
            data = sock.recv(65_536)
            if not data:
                return
            self._connection.receive_data(data)
        assert isinstance(event, Message)
        self.heard.append(event)


Serve = Callable[..., ScriptedReferee]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Return what starts a referee with a script; at the end of the test it has said all its lines."""
    referees: list[ScriptedReferee] = []

    def start(*script: Line) -> ScriptedReferee:
        referees.append(ScriptedReferee(script))
        referees[-1].start()
        return referees[-1]

    yield start
    for referee in referees:
        referee.join(timeout=30)
        assert not referee.is_alive()


ROWS: tuple[tuple[str, tuple[Line, ...], Finding | None, str], ...] = (
    ("as it should be", (OFFERED, end()), Finding.KEPT, f"{DONE}; last head {HEAD}"),
    (
        "with turns",
        (OFFERED, say(TURN, head=FIRST), say(TURN, turn=2, head=SECOND), end(head=FIRST)),
        Finding.KEPT,
        f"{DONE}; last head {FIRST}",
    ),
    (
        "in another seat",
        (say(OFFER, seat=1), end(nonces=lambda own: [THEIRS, own])),
        Finding.KEPT,
        f"{DONE}; last head {HEAD}",
    ),
    (
        "with acknowledgements",
        (OFFERED, end(ack=1)),
        Finding.KEPT,
        f"{DONE}; last head {HEAD}",
    ),
    (
        "a fixed deal",
        (OFFERED, NO_NONCES),
        Finding.FIXED_DEAL,
        f"{DONE}; fixed deal: your nonce was not used; last head {HEAD}",
    ),
    ("void", (OFFERED, end(**VOID)), Finding.KEPT, f"void; {DONE}; last head {HEAD}"),
    (
        "void before the ready was read",
        (OFFERED, end(**VOID, nonces=lambda _own: [None, THEIRS])),
        Finding.NOT_USED,
        f"void; {DONE}; the match is void before your nonce was used; last head {HEAD}",
    ),
    (
        "another seed",
        (OFFERED, end(seed=WRONG_SEED)),
        Finding.WRONG_SEED,
        f"{BROKEN}: {SEEDS}; last head {HEAD}",
    ),
    (
        "another seed, void",
        (OFFERED, end(**VOID, seed=WRONG_SEED)),
        Finding.WRONG_SEED,
        f"void; {BROKEN}: {SEEDS}; last head {HEAD}",
    ),
    (
        "another nonce",
        (OFFERED, end(nonces=lambda _own: ["f" * 32, THEIRS])),
        Finding.WRONG_NONCE,
        f"{BROKEN}: your nonce is NONCE, and at your seat stands {'f' * 32}; last head {HEAD}",
    ),
    (
        "the nonce left out",
        (OFFERED, end(nonces=lambda _own: [None, THEIRS])),
        Finding.NONCE_LEFT_OUT,
        f"{BROKEN}: your nonce NONCE was left out, and others entered the shuffle; last head {HEAD}",
    ),
    (
        "too few nonces",
        (OFFERED, end(nonces=lambda own: [own])),
        Finding.WRONG_SEATS,
        f"{BROKEN}: it offered seat 0 of 2, and revealed 1 nonces; last head {HEAD}",
    ),
    (
        "expelled",
        (OFFERED, say(TURN, head=FIRST), expelled()),
        None,
        f"expelled for illegal-move; the seed was not revealed; last head {FIRST}",
    ),
    (
        "expelled before the first turn",
        (OFFERED, expelled(foul="out-of-turn")),
        None,
        "expelled for out-of-turn; the seed was not revealed; no head was told",
    ),
    (
        "expelled after the end",
        (OFFERED, end(), expelled(foul="timeout")),
        Finding.KEPT,
        f"expelled for timeout; {DONE}; last head {HEAD}",
    ),
    (
        "the connection ends without a word",
        (OFFERED, say(TURN, head=FIRST)),
        None,
        f"no end was told; the seed was not revealed; last head {FIRST}",
    ),
)
"""(what, what the referee says, finding, the match's last line; NONCE stands for the player's own)."""


@pytest.mark.parametrize(("script", "finding", "line"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_the_referee_is_held_to_what_it_promised(
    serve: Serve, capsys: pytest.CaptureFixture[str], script: tuple[Line, ...], finding: Finding | None, line: str
) -> None:
    """The finding is returned, and it and the last head stand in the match's last line on stderr."""
    referee = serve(*script)
    (ended,) = run(lambda _view: MOVE, address=referee.address, name="ada")
    nonce = next(message.nonce for message in referee.heard if isinstance(message, Ready))
    assert finding == (ended.verdict and ended.verdict.finding)
    out, err = capsys.readouterr()
    assert out == ""
    assert f"match {MATCH}: {line.replace('NONCE', nonce)}" == err.splitlines()[-1] == ended.line


def test_every_finding_is_said() -> None:
    """The table provokes each finding."""
    assert {*Finding, None} == {row[2] for row in ROWS}


def test_a_match_is_played(serve: Serve) -> None:
    """Each request has its answer, each nonce is new, and what happened is told."""
    told: list[Message] = []
    views: list[Any] = []
    again = [say(OFFER, match="q-2"), end(match="q-2")]
    referee = serve(OFFERED, say(TURN), lambda _: message_for("told"), end(ack=7), *again)

    def choose(view: Any) -> Any:
        views.append(view)
        return MOVE

    run(choose, address=referee.address, name="ada", on_told=told.append, say=None)
    hello, ready, move, ack, second = referee.heard
    assert isinstance(hello, Hello)
    assert isinstance(ready, Ready)
    assert isinstance(second, Ready)
    assert hello.name == "ada"
    assert Move(match=MATCH, turn=1, move=MOVE) == move
    assert getattr(ack, "ack", None) == 7
    assert (ready.match, second.match) == (MATCH, "q-2")
    assert ready.nonce != second.nonce
    assert [message_for("told")] == told
    assert [TURN["view"]] == views


def test_each_match_has_its_line(serve: Serve) -> None:
    """Two matches of one connection are judged each by its own promise."""
    lines: list[str] = []
    referee = serve(OFFERED, end(seed=WRONG_SEED), say(OFFER, match="q-2"), end(match="q-2"))
    ends = run(lambda _view: MOVE, address=referee.address, say=lines.append)
    assert [ended.line for ended in ends] == lines
    assert [(ended.match, ended.verdict and ended.verdict.finding) for ended in ends] == [
        (MATCH, Finding.WRONG_SEED),
        ("q-2", Finding.KEPT),
    ]


def test_a_void_end_after_the_end_takes_no_breach_back(serve: Serve) -> None:
    """A match that ends twice has two lines, and the last word of it is returned once."""
    lines: list[str] = []
    referee = serve(OFFERED, end(seed=WRONG_SEED), end(**VOID))
    (ended,) = run(lambda _view: MOVE, address=referee.address, say=lines.append)
    assert isinstance(ended.message, End)
    assert VOID["void"] == ended.message.void
    assert ended.verdict is not None
    assert ended.verdict.finding is Finding.WRONG_SEED
    assert [BROKEN in line for line in lines] == [True, True]


def test_silence_can_be_wanted(serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    """With say=None nothing is printed; the verdict is returned all the same."""
    referee = serve(OFFERED, end(seed=WRONG_SEED))
    (ended,) = run(lambda _view: MOVE, address=referee.address, say=None)
    assert capsys.readouterr() == ("", "")
    assert ended.verdict is not None
    assert not ended.verdict.is_kept


def test_a_player_that_fails_knows_the_last_head(serve: Serve) -> None:
    """What the player's own mistake ends has its line, too, and the mistake is not swallowed."""
    lines: list[str] = []
    referee = serve(OFFERED, say(TURN, head=FIRST))

    def fail(_view: Any) -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(fail, address=referee.address, say=lines.append)
    assert [f"match {MATCH}: no end was told; the seed was not revealed; last head {FIRST}"] == lines


def test_a_refusal_is_an_error(serve: Serve) -> None:
    """A player that is turned down is told why; there is no match to speak of."""
    lines: list[str] = []
    referee = serve(lambda _: message_for("refused"))
    with pytest.raises(ClientError, match="name-taken"):
        run(lambda _view: MOVE, address=referee.address, say=lines.append)
    assert lines == []


HOSTILE = ("q-1\nmatch q-1: the referee kept its commitment", "\x1b[2J", "q\u2028", "\x00")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_line_stays_one_line(name: str) -> None:
    """Whatever the referee calls a match or a foul, nothing of it moves the cursor of a terminal."""
    message = msgspec.convert({**EXPELLED, "match": name, "foul": name}, Expelled)
    line = Ended(match=name, message=message, verdict=None, head=None).line
    assert line.isprintable()
    assert len(line.splitlines()) == 1
