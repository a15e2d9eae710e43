"""The client: it plays each offered match, and returns and prints whether the referee kept its commitment.

The referee is scripted, on a real socket, and breaks the protocol on purpose.
"""

from typing import Any

import msgspec
import pytest

from protocol.client import ClientError, Ended, run
from protocol.deal import DealFinding, nonce_commitment
from protocol.messages import End, Expelled, Hello, Message, Move, Nonce, Ready, type_of

from .scripted import OFFERED, TAKEN_BACK, THEIRS, Line, Serve, end, expelled, say
from .situations import message_for
from .tables import COMMITMENTS, EXPELLED, FOUL_HEAD, HEAD, LAST_HEAD, MATCH, OFFER, TURN, Plain

FIRST, SECOND = "1" * 64, "2" * 64
WRONG_SEED = "11" * 32
SEEDS = (
    f"it committed to {OFFER['commitment']}, and the SHA-256 of the revealed seed is "
    "02d449a31fbb267c8f352e9968a79e3e5fc95c1bbeaa502fd6454ebde5a4bedc"
)
DONE, BROKEN = "the referee kept its commitment", "THE REFEREE BROKE ITS COMMITMENT"
VOID: Plain = {"void": "the disk is full", "winners": [], "ranking": []}
MOVE = {"action": "pass"}

OTHER_NONCE = end(nonces=lambda _own: ["f" * 32, THEIRS])
OPENINGS = (
    f"a player committed to {COMMITMENTS[1]}, and the SHA-256 of its revealed nonce is "
    f"{nonce_commitment(MATCH, 1, 'f' * 32)}"
)
NO_NONCES = end(nonces=lambda _own: [None, None])


ROWS: tuple[tuple[str, tuple[Line, ...], DealFinding | None, str], ...] = (
    ("as it should be", (OFFERED, end()), DealFinding.KEPT, f"{DONE}; last head {HEAD}"),
    (
        "with turns",
        (OFFERED, say(TURN, head=FIRST), say(TURN, turn=2, head=SECOND), end(head=FIRST)),
        DealFinding.KEPT,
        f"{DONE}; last head {FIRST}",
    ),
    (
        "in another seat",
        (say(OFFER, seat=1), end(nonces=lambda own: [THEIRS, own])),
        DealFinding.KEPT,
        f"{DONE}; last head {HEAD}",
    ),
    (
        "with acknowledgements",
        (OFFERED, end(ack=1)),
        DealFinding.KEPT,
        f"{DONE}; last head {HEAD}",
    ),
    (
        "a fixed deal",
        (say(OFFER, nonces=False), NO_NONCES),
        DealFinding.FIXED_DEAL,
        f"{DONE}; fixed deal: your nonce was not used; last head {HEAD}",
    ),
    (
        "a fixed deal, its seed kept back",
        (say(OFFER, nonces=False), end(nonces=lambda _own: [None, None], seed=None)),
        DealFinding.KEPT_BACK,
        f"fixed deal: its seed is kept back, for another match with the same deal; last head {HEAD}",
    ),
    (
        "a seed that is not revealed",
        (OFFERED, end(seed=None)),
        DealFinding.WITHHELD,
        f"{BROKEN}: it committed to {OFFER['commitment']}, and did not reveal its seed; last head {HEAD}",
    ),
    (
        "a fixed deal that was not offered",
        (OFFERED, NO_NONCES),
        DealFinding.NONCE_LEFT_OUT,
        f"{BROKEN}: your nonce NONCE was left out; last head {HEAD}",
    ),
    (
        "a nonce in a fixed deal",
        (say(OFFER, nonces=False), end(nonces=lambda _own: [None, THEIRS])),
        DealFinding.NONCE_USED,
        f"{BROKEN}: it offered a fixed deal without nonces, and revealed a nonce; last head {HEAD}",
    ),
    (
        "taken back as another program",
        (TAKEN_BACK, OTHER_NONCE),
        DealFinding.NOT_KNOWN,
        f"{DONE}; your nonce is not known to this program; last head {HEAD}",
    ),
    ("void", (OFFERED, end(**VOID)), DealFinding.KEPT, f"void; {DONE}; last head {HEAD}"),
    (
        "void before the ready was read",
        (OFFERED, end(**VOID, nonces=lambda _own: [None, THEIRS])),
        DealFinding.NOT_USED,
        f"void; {DONE}; the match is void before your nonce was used; last head {HEAD}",
    ),
    (
        "another seed",
        (OFFERED, end(seed=WRONG_SEED)),
        DealFinding.WRONG_SEED,
        f"{BROKEN}: {SEEDS}; last head {HEAD}",
    ),
    (
        "another seed, void",
        (OFFERED, end(**VOID, seed=WRONG_SEED)),
        DealFinding.WRONG_SEED,
        f"void; {BROKEN}: {SEEDS}; last head {HEAD}",
    ),
    (
        "another nonce",
        (OFFERED, OTHER_NONCE),
        DealFinding.WRONG_NONCE,
        f"{BROKEN}: your nonce is NONCE, and at your seat stands {'f' * 32}; last head {HEAD}",
    ),
    (
        "the nonce left out",
        (OFFERED, end(nonces=lambda _own: [None, THEIRS])),
        DealFinding.NONCE_LEFT_OUT,
        f"{BROKEN}: your nonce NONCE was left out; last head {HEAD}",
    ),
    (
        "another nonce of somebody else",
        (OFFERED, end(nonces=lambda own: [own, "f" * 32])),
        DealFinding.WRONG_OPENING,
        f"{BROKEN}: {OPENINGS}; last head {HEAD}",
    ),
    (
        "too few nonces",
        (OFFERED, end(nonces=lambda own: [own])),
        DealFinding.WRONG_SEATS,
        f"{BROKEN}: it offered seat 0 of 2, and revealed 1 nonces; last head {HEAD}",
    ),
    (
        "expelled",
        (OFFERED, say(TURN, head=FIRST), expelled()),
        None,
        f"expelled for illegal-move; the seed was not revealed; last head {FOUL_HEAD}",
    ),
    (
        "expelled before the first turn",
        (OFFERED, expelled(foul="out-of-turn")),
        None,
        f"expelled for out-of-turn; the seed was not revealed; last head {FOUL_HEAD}",
    ),
    (
        "expelled after the end",
        (OFFERED, end(), expelled(foul="timeout")),
        DealFinding.KEPT,
        f"expelled for timeout; {DONE}; last head {FOUL_HEAD}",
    ),
    (
        "confirmed, and told for good",
        (OFFERED, end(ack=3), end(head=LAST_HEAD)),
        DealFinding.KEPT,
        f"{DONE}; last head {LAST_HEAD}",
    ),
    (
        "confirmed, and told nothing more",
        (OFFERED, end(ack=3)),
        DealFinding.KEPT,
        f"{DONE}; last head {HEAD}",
    ),
    (
        "the connection ends before a turn",
        (OFFERED,),
        None,
        "no end came; the seed was not revealed; no head came",
    ),
    (
        "the connection ends without a word",
        (OFFERED, say(TURN, head=FIRST)),
        None,
        f"no end came; the seed was not revealed; last head {FIRST}",
    ),
)
"""(case, the referee's messages, finding, last line of the match; NONCE stands for the player's own)."""


@pytest.mark.parametrize(("script", "finding", "line"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_the_referee_is_held_to_what_it_promised(
    serve: Serve, capsys: pytest.CaptureFixture[str], script: tuple[Line, ...], finding: DealFinding | None, line: str
) -> None:
    """The finding is returned. The match's last line on stderr has it, with the last head."""
    referee = serve(script)
    (ended,) = run(lambda _view: MOVE, address=referee.address, name="ada", come_back_s=0)
    nonce = next((message.nonce for message in referee.heard[0] if isinstance(message, Nonce)), "")
    assert finding == (ended.verdict and ended.verdict.finding)
    out, err = capsys.readouterr()
    assert out == ""
    assert f"match {MATCH}: {line.replace('NONCE', nonce)}" == err.splitlines()[-1] == ended.line


def test_every_finding_is_said() -> None:
    """Each finding has a case in the table."""
    assert {*DealFinding, None} == {row[2] for row in ROWS}


def test_a_match_is_played(serve: Serve) -> None:
    """Each request gets its answer, each nonce is new, and the end of each match is reported."""
    messages: list[Message] = []
    views: list[Any] = []
    again = [say(OFFER, match="q-2"), end(match="q-2")]
    referee = serve([OFFERED, say(TURN), lambda _: message_for("told"), end(ack=7), *again])

    def choose(view: Any) -> Any:
        views.append(view)
        return MOVE

    run(choose, address=referee.address, name="ada", on_message=messages.append, say=None)
    hello, ready, nonce, move, ack, second, _ = referee.heard[0]
    assert isinstance(hello, Hello)
    assert isinstance(ready, Ready)
    assert isinstance(second, Ready)
    assert hello.name == "ada"
    assert Move(match=MATCH, turn=1, move=MOVE) == move
    assert getattr(ack, "ack", None) == 7
    assert (ready.match, second.match) == (MATCH, "q-2")
    assert isinstance(nonce, Nonce)
    assert ready.commitment == nonce_commitment(MATCH, 0, nonce.nonce)
    assert ready.commitment != second.commitment
    assert message_for("told") in messages
    said = " ".join(map(type_of, messages))
    assert said == "welcome offer reveal turn told end offer reveal end"
    assert [TURN["view"]] == views


def test_each_match_has_its_line(serve: Serve) -> None:
    """Two matches of one connection are judged independently."""
    lines: list[str] = []
    referee = serve([OFFERED, end(seed=WRONG_SEED), say(OFFER, match="q-2"), end(match="q-2")])
    ends = run(lambda _view: MOVE, address=referee.address, say=lines.append)
    assert [ended.line for ended in ends] == lines
    assert [(ended.match, ended.verdict and ended.verdict.finding) for ended in ends] == [
        (MATCH, DealFinding.WRONG_SEED),
        ("q-2", DealFinding.KEPT),
    ]


def test_a_void_end_after_the_end_takes_no_breach_back(serve: Serve) -> None:
    """A match that ends twice has two lines, and the last finding is returned once."""
    lines: list[str] = []
    referee = serve([OFFERED, end(seed=WRONG_SEED), end(**VOID)])
    (ended,) = run(lambda _view: MOVE, address=referee.address, say=lines.append)
    assert isinstance(ended.message, End)
    assert VOID["void"] == ended.message.void
    assert ended.verdict is not None
    assert ended.verdict.finding is DealFinding.WRONG_SEED
    assert [BROKEN in line for line in lines] == [True, True]


def test_silence_can_be_wanted(serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    """With say=None nothing is printed, but the finding is returned."""
    referee = serve([OFFERED, end(seed=WRONG_SEED)])
    (ended,) = run(lambda _view: MOVE, address=referee.address, say=None)
    assert capsys.readouterr() == ("", "")
    assert ended.verdict is not None
    assert not ended.verdict.is_kept


def test_a_player_that_fails_knows_the_last_head(serve: Serve) -> None:
    """If the player's own mistake ends the match, its line is printed, too, and the exception goes on."""
    lines: list[str] = []
    referee = serve([OFFERED, say(TURN, head=FIRST)])

    def fail(_view: Any) -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(fail, address=referee.address, say=lines.append)
    assert [f"match {MATCH}: no end came; the seed was not revealed; last head {FIRST}"] == lines


@pytest.mark.parametrize("raised", [ZeroDivisionError, SystemExit])
def test_what_a_player_raises_is_its_last_word(
    serve: Serve, capsys: pytest.CaptureFixture[str], raised: type[BaseException]
) -> None:
    """On stderr, no line about the match comes before the traceback."""
    referee = serve([OFFERED, say(TURN, head=FIRST)])

    def fail(_view: Any) -> Any:
        raise raised

    with pytest.raises(raised):
        run(fail, address=referee.address)
    assert capsys.readouterr().err == ""


def test_a_refusal_is_an_error(serve: Serve) -> None:
    """A refused player gets an error with the reason; there is no match to report."""
    lines: list[str] = []
    referee = serve([lambda _: message_for("refused")])
    with pytest.raises(ClientError, match="name-taken"):
        run(lambda _view: MOVE, address=referee.address, say=lines.append)
    assert lines == []


HOSTILE = ("q-1\nmatch q-1: the referee kept its commitment", "\x1b[2J", "q\u2028", "\x00")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_line_stays_one_line(name: str) -> None:
    """However the referee names a match or a foul, the line has no control characters."""
    message = msgspec.convert({**EXPELLED, "match": name, "foul": name}, Expelled)
    line = Ended(match=name, message=message, verdict=None, heads=()).line
    assert line.isprintable()
    assert len(line.splitlines()) == 1
