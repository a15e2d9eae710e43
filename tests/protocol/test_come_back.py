"""Coming back: a client whose connection breaks during a match connects again, and plays on from there.

The referee is scripted, on a real socket. Each of its scripts is one connection, which ends as after a crash.
"""

import hashlib
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from protocol import client
from protocol.client import ClientError, run
from protocol.deal import DealFinding
from protocol.messages import End, Expelled, Hello, Message, Nonce, Terms, Told, type_of

from .scripted import OFFERED, REVEALED, TAKEN_BACK, THEIRS, Line, Script, Serve, end, expelled, say
from .situations import message_for
from .tables import FOUL_HEAD, HEAD, MATCH, OFFER, RESUMED, REVEAL, START, TOLD, TURN, VIEW, Plain

FIRST = "1" * 64
OTHER_SEED = "11" * 32
OTHER_COMMITMENT = hashlib.sha256(bytes.fromhex(OTHER_SEED)).hexdigest()
VOID: Plain = {"void": "the disk is full", "winners": [], "ranking": []}
MOVE = {"action": "pass"}
ASKED = say(TURN)
TOLD_TO_CONFIRM = say(TOLD, ack=2)


class StoppedClock:
    """A clock that advances only while somebody sleeps, and then at once."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        """Return the seconds that were slept."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds


@pytest.fixture(autouse=True)
def _not_launched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make sure that the client does not take this program for one that a referee launched."""
    monkeypatch.delenv("REFEREE_TOKEN", raising=False)


@pytest.fixture
def _stopped_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the client a clock that never makes it wait."""
    monkeypatch.setattr(client, "time", StoppedClock())


def names(heard: Sequence[Sequence[Message]]) -> list[str]:
    """Return the types of the received messages, one string for each connection."""
    return [" ".join(map(type_of, messages)) for messages in heard]


def play(address: str, **settings: Any) -> tuple[list[client.Ended], list[Terms]]:
    """Play with small limits; return the ends, and the arguments of the calls of `make`."""
    made: list[Terms] = []

    def make(terms: Terms) -> client.Choose:
        made.append(terms)
        return lambda _view: MOVE

    return run(make=make, **{"address": address, "name": "ada", "say": None, "come_back_s": 5, **settings}), made


ROWS: tuple[tuple[str, tuple[Script, ...], str, str, DealFinding | None], ...] = (
    (
        "in a turn",
        ([OFFERED, ASKED], [TAKEN_BACK, ASKED, end()]),
        "hello ready nonce move, hello move",
        "offer resumed",
        DealFinding.KEPT,
    ),
    (
        "before the ready was written down",
        ([OFFERED], [OFFERED, ASKED, end()]),
        "hello ready nonce, hello ready nonce move",
        "offer offer",
        DealFinding.KEPT,
    ),
    (
        "before the deal",
        ([OFFERED], [say(RESUMED, turn=0, view=None), say(START), ASKED, end()]),
        "hello ready nonce, hello move",
        "offer resumed",
        DealFinding.KEPT,
    ),
    (
        "before a start was confirmed",
        ([OFFERED, say(START, ack=1)], [TAKEN_BACK, say(START, ack=1), end()]),
        "hello ready nonce ack, hello ack",
        "offer resumed",
        DealFinding.KEPT,
    ),
    (
        "before a told was confirmed",
        ([OFFERED, ASKED, TOLD_TO_CONFIRM], [TAKEN_BACK, TOLD_TO_CONFIRM, ASKED, end()]),
        "hello ready nonce move ack, hello ack move",
        "offer resumed",
        DealFinding.KEPT,
    ),
    (
        "before an end that is to be confirmed",
        ([OFFERED, ASKED], [TAKEN_BACK, end(ack=3)]),
        "hello ready nonce move, hello ack",
        "offer resumed",
        DealFinding.KEPT,
    ),
    (
        "twice",
        ([OFFERED, ASKED], [TAKEN_BACK, ASKED], [TAKEN_BACK, ASKED, end()]),
        "hello ready nonce move, hello move, hello move",
        "offer resumed resumed",
        DealFinding.KEPT,
    ),
    (
        "and not taken back at once",
        ([OFFERED, ASKED], [], [TAKEN_BACK, ASKED, end()]),
        "hello ready nonce move, hello, hello move",
        "offer resumed",
        DealFinding.KEPT,
    ),
    (
        "and another program's match",
        ([TAKEN_BACK, ASKED], [TAKEN_BACK, ASKED, end(nonces=lambda _own: [THEIRS, THEIRS])]),
        "hello move, hello move",
        "resumed resumed",
        DealFinding.NOT_KNOWN,
    ),
    (
        "and expelled then",
        ([OFFERED, ASKED], [TAKEN_BACK, ASKED, expelled()]),
        "hello ready nonce move, hello move",
        "offer resumed",
        None,
    ),
    (
        "and void then",
        ([OFFERED, ASKED], [TAKEN_BACK, end(**VOID)]),
        "hello ready nonce move, hello",
        "offer resumed",
        DealFinding.KEPT,
    ),
    (
        "and a seed chosen in between",
        ([OFFERED, ASKED], [say(RESUMED, commitment=OTHER_COMMITMENT), end(seed=OTHER_SEED)]),
        "hello ready nonce move, hello",
        "offer resumed",
        DealFinding.WRONG_SEED,
    ),
)
"""(when it broke, sent on each connection, received on each, arguments of `make`, finding)."""


@pytest.mark.parametrize("torn", [b"", b"\x00\x00\x01", b"\x00\x00\x01\x00\x8a"], ids=["whole", "prefix", "body"])
@pytest.mark.parametrize(
    ("scripts", "heard", "made", "finding"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_a_player_comes_back(
    serve: Serve, scripts: tuple[Script, ...], heard: str, made: str, finding: DealFinding | None, torn: bytes
) -> None:
    """The client says hello with the resume token, makes a new player, and has one end of the match."""
    referee = serve(*scripts, torn=torn)
    (ended,), terms = play(referee.address, token="5ec2e7")
    assert heard == ", ".join(names(referee.heard))
    tokens = [hello.token for (hello, *_) in referee.heard if isinstance(hello, Hello)]
    assert ["5ec2e7"] + [OFFER["resume"]] * (len(scripts) - 1) == tokens
    assert made == " ".join(map(type_of, terms))
    assert ended.match == MATCH
    assert ended.message is not None
    assert finding == (ended.verdict and ended.verdict.finding)


def test_each_ready_has_a_nonce_of_its_own(serve: Serve) -> None:
    """A match that is offered again needs a new nonce."""
    referee = serve([OFFERED], [OFFERED], [OFFERED, end()])
    play(referee.address)
    nonces = [message.nonce for heard in referee.heard for message in heard if isinstance(message, Nonce)]
    assert len(set(nonces)) == 3


def test_what_was_committed_to_is_opened_on_another_connection(serve: Serve) -> None:
    """A player whose connection breaks between `ready` and `reveal` opens the nonce that it had committed to."""
    early = say(RESUMED, turn=0, view=None)
    referee = serve([OFFERED], [early], [early, REVEALED], [early, say(START), ASKED, end()], reveals=False)
    (ended,), _ = play(referee.address)
    assert names(referee.heard) == ["hello ready", "hello", "hello nonce", "hello move"]
    assert ended.verdict is not None
    assert ended.verdict.finding is DealFinding.KEPT


def test_a_program_that_knows_no_nonce_opens_none(serve: Serve) -> None:
    """A program that must open another program's commitment raises an error, and sends nothing."""
    referee = serve([TAKEN_BACK, say(REVEAL)])
    with pytest.raises(ClientError, match="another program committed to"):
        play(referee.address, come_back_s=0)
    assert names(referee.heard) == ["hello"]


def test_the_first_promise_binds_the_referee(serve: Serve) -> None:
    """A match that is offered again has the seed of its first commitment, whatever the second offer says."""
    referee = serve([OFFERED], [say(OFFER, commitment=FIRST), end()])
    (ended,), _ = play(referee.address)
    assert ended.verdict is not None
    assert ended.verdict.finding is DealFinding.KEPT


def test_the_last_token_counts(serve: Serve) -> None:
    """A player returns with the last token of the match that broke off."""
    offers = [OFFERED, end(), say(OFFER, match="q-2", resume="second")]
    referee = serve(offers, [say(RESUMED, match="q-2", resume="third")], [say(RESUMED, match="q-2"), end(match="q-2")])
    ends, made = play(referee.address)
    assert [ended.match for ended in ends] == [MATCH, "q-2"]
    assert [terms.match for terms in made] == ["q-1", "q-2", "q-2", "q-2"]
    assert [getattr(heard[0], "token", None) for heard in referee.heard] == [None, "second", "third"]


def test_the_view_is_shown(serve: Serve) -> None:
    """A program without a memory finds the view in `resumed`, and every turn has the whole view."""
    views: list[Any] = []
    referee = serve([OFFERED], [TAKEN_BACK, ASKED, end()])

    def choose(view: Any) -> Any:
        views.append(view)
        return MOVE

    def make(terms: Terms) -> client.Choose:
        views.append(getattr(terms, "view", "none yet"))
        return choose

    run(make=make, address=referee.address, say=None, come_back_s=5)
    assert views == ["none yet", VIEW, VIEW]


def test_a_plain_function_plays_on(serve: Serve) -> None:
    """A player that is one function of the view can return without further code."""
    referee = serve([OFFERED, ASKED], [TAKEN_BACK, ASKED, end()])
    (ended,) = run(lambda _view: MOVE, address=referee.address, say=None, come_back_s=5)
    assert isinstance(ended.message, End)


def test_the_head_is_remembered(serve: Serve) -> None:
    """Promises from before the break still bind the referee; the match has its line once."""
    lines: list[str] = []
    referee = serve([OFFERED, say(TURN, head=FIRST)], [TAKEN_BACK, expelled()])
    (ended,), _ = play(referee.address, say=lines.append)
    assert ended.heads == (FIRST, FOUL_HEAD)
    assert [f"match {MATCH}: expelled for illegal-move; the seed was not revealed; last head {FOUL_HEAD}"] == lines


def test_another_match_concludes_the_one_that_broke_off(serve: Serve) -> None:
    """If the referee has forgotten the match and begins a new one, both are returned, in order."""
    lines: list[str] = []
    referee = serve([OFFERED, say(TURN, head=FIRST)], [say(OFFER, match="q-2"), end(match="q-2")])
    ends, _ = play(referee.address, say=lines.append)
    assert [ended.line for ended in ends] == lines
    assert [(ended.match, ended.verdict and ended.verdict.finding, ended.heads) for ended in ends] == [
        (MATCH, None, (FIRST,)),
        ("q-2", DealFinding.KEPT, (HEAD,)),
    ]


LOST: tuple[tuple[str, tuple[Script, ...], str], ...] = (
    ("nobody listens", (), "no referee at .*; is it running"),
    ("closed without a word", ([],) * 4, "did not take this player back within 0.12 s"),
    ("refused", ([lambda _: message_for("refused")],), r"\(name-taken\)"),
)
"""(what the player meets, the later connections, the error)."""


@pytest.mark.usefixtures("_stopped_clock")
@pytest.mark.parametrize(("scripts", "error"), [row[1:] for row in LOST], ids=[row[0] for row in LOST])
def test_a_player_gives_up(serve: Serve, scripts: tuple[Script, ...], error: str) -> None:
    """A player that is not taken back in time gets an error with the reason, and a line about its match."""
    lines: list[str] = []
    referee = serve([OFFERED, say(TURN, head=FIRST)], *scripts)
    with pytest.raises(ClientError, match=error):
        play(referee.address, say=lines.append, come_back_s=0.12)
    assert len(scripts) + 1 == len(referee.heard)
    assert [f"match {MATCH}: no end came; the seed was not revealed; last head {FIRST}"] == lines


@pytest.mark.usefixtures("_stopped_clock")
def test_the_time_counts_anew(serve: Serve) -> None:
    """After each return, a player has the whole time again for the next one."""
    referee = serve([OFFERED], [], [], [TAKEN_BACK], [], [], [TAKEN_BACK], [], [], [TAKEN_BACK, end()])
    (ended,), made = play(referee.address, come_back_s=0.12)
    assert isinstance(ended.message, End)
    assert len(made) == 4


LAUNCHED_BY = {"REFEREE_TOKEN": "5ec2e7", "REFEREE_PLAYER_SEED": "00" * 32}
LAUNCHED: tuple[tuple[str, dict[str, str], float | None, int], ...] = (
    ("a player that connected by itself", {}, None, 2),
    ("the same, told not to", {}, 0, 1),
    ("the same, with a token", {"REFEREE_TOKEN": "5ec2e7"}, None, 2),
    ("a launched program", LAUNCHED_BY, None, 1),
    ("a launched program, told to", LAUNCHED_BY, 5, 2),
)
"""(who, its environment, come_back_s, number of connections)."""


@pytest.mark.parametrize(
    ("environment", "come_back_s", "count"), [row[1:] for row in LAUNCHED], ids=[row[0] for row in LAUNCHED]
)
def test_a_launched_program_does_not_come_back(
    serve: Serve,
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    come_back_s: float | None,
    count: int,
) -> None:
    """The referee starts a launched program again; other players return unless come_back_s is 0."""
    scripts: list[list[Line]] = [[OFFERED, ASKED], [TAKEN_BACK, end()]]
    referee = serve(*scripts[:count])
    monkeypatch.setenv("REFEREE_ADDRESS", referee.address)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    (ended,), _ = play("", come_back_s=come_back_s)
    assert (ended.message is None) is (count == 1)
    assert [environment.get("REFEREE_TOKEN"), OFFER["resume"]][:count] == [
        getattr(heard[0], "token", "") for heard in referee.heard
    ]


@pytest.mark.parametrize("script", [[], [OFFERED, end()], [OFFERED, end(ack=3)], [OFFERED, expelled()]])
def test_after_a_match_nobody_comes_back(serve: Serve, script: list[Line]) -> None:
    """Before a match, and after its end is known, a closed connection is the end of the conversation."""
    referee = serve(script)
    ends, _ = play(referee.address)
    assert len(ends) == bool(script)
    assert len(referee.heard) == 1


LAST_WORDS: tuple[tuple[str, list[Line], type[Message]], ...] = (
    ("expelled while it thought", [ASKED, expelled(foul="timeout")], Expelled),
    ("void while it thought", [ASKED, end(**VOID)], End),
    ("expelled before it confirmed", [TOLD_TO_CONFIRM, expelled(foul="timeout")], Expelled),
)
"""(case, messages after the offer that do not wait for an answer, the last word)."""


@pytest.mark.parametrize(("script", "last"), [row[1:] for row in LAST_WORDS], ids=[row[0] for row in LAST_WORDS])
def test_last_words_are_read_though_sending_fails(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: list[Line], last: type[Message]
) -> None:
    """Messages from before the close count, even if the player notices the close only when it answers."""
    monkeypatch.chdir(tmp_path)  # the path of such a socket must be short
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("referee")
    listener.listen()
    referee = serve([OFFERED, *script], listener=listener, is_patient=False)

    def wait_for_the_end(_: Any) -> Any:
        referee.join(timeout=30)
        assert not referee.is_alive()
        return MOVE

    def wait_if_told(message: Message) -> None:
        if isinstance(message, Told):
            wait_for_the_end(message)

    (ended,) = run(wait_for_the_end, on_message=wait_if_told, address=referee.address, say=None, come_back_s=0)
    assert isinstance(ended.message, last)
