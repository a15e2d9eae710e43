"""A blocking client for authors: `run(choose)` connects, plays every match that it is offered, and returns.

A whole player of the Q game that passes in every turn:

    from protocol.client import run

    run(lambda view: {"action": "pass"})

The client handles the socket and the environment of a launched program. After every match, it checks whether the
referee kept its commitment. It knows no game: `choose` gets the view as plain data and returns the move as plain data.
"""

import contextlib
import os
import socket
import sys
import time
from collections.abc import Callable
from typing import Any

from msgspec import Struct, field

from . import messages as m
from .address import Address, AddressError, AddressKind, parse_address
from .arguments import check_function, check_player_name, check_seconds, check_text
from .connection import Connection, Need, Role
from .deal import DealFinding, DealVerdict, Witness, nonce_commitment
from .errors import ProtocolError
from .limits import PROTOCOL_VERSION

Choose = Callable[[Any], Any]
"""view -> move, both plain: dicts, lists, strings, numbers."""

_READ_BYTES = 65_536
RETRY_S = 0.05
"""Pause between two attempts to connect, in seconds: short compared with any limit, and cheap for the machine."""
CA_VARIABLE = "REFEREE_CA"
"""Environment variable: PEM file of the authority that has signed the referee's certificate, in place of the system's
authorities."""
COME_BACK_S = 60.0
"""Time to try to come back, in seconds: enough for an organiser to see a crash and start the referee again."""


class ClientError(Exception):
    """The client can't continue; the text says why and what to do."""


class Ended(Struct, frozen=True, kw_only=True):
    """The end of one match for this player.

    >>> Ended(match="q-1", message=None, verdict=None, heads=()).line
    'match q-1: no end came; the seed was not revealed; no head came'
    """

    match: str
    message: m.End | m.Expelled | None
    """The referee's last message; None if the connection ended or `choose` raised before one came."""
    verdict: DealVerdict | None
    """The verdict on the referee's commitment; None if it never revealed its seed to this player."""
    heads: tuple[str, ...]
    """The heads of the match's record in order of arrival: hashes of lines, in hex, which the record must all have."""

    @property
    def line(self) -> str:
        """The end in one line, with all unprintable characters escaped."""
        parts = []
        if isinstance(self.message, m.Expelled):
            parts.append(f"expelled for {self.message.foul}")
        elif self.message is None:
            parts.append("no end came")
        elif self.message.void is not None:
            parts.append("void")
        parts += [*_describe_verdict(self.verdict), f"last head {self.heads[-1]}" if self.heads else "no head came"]
        line = f"match {self.match}: {'; '.join(parts)}"
        return line if line.isprintable() else ascii(line)[1:-1]


def _describe_verdict(verdict: DealVerdict | None) -> list[str]:
    if verdict is None:
        return ["the seed was not revealed"]
    if not verdict.is_kept:
        return [f"THE REFEREE BROKE ITS COMMITMENT: {verdict.text}"]
    if verdict.finding is DealFinding.KEPT_BACK:
        return [verdict.text]
    note = [] if verdict.finding is DealFinding.KEPT else [verdict.text]
    return ["the referee kept its commitment", *note]


def say_on_stderr(line: str) -> None:
    """Print a line on stderr, as `run` does at the end of each match if its argument `say` is not given.

    >>> import contextlib
    >>> with contextlib.redirect_stderr(sys.stdout):
    ...     say_on_stderr("match q-1: the referee kept its commitment")
    match q-1: the referee kept its commitment
    """
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


class Client:
    """One player's side of one connection, blocking. `run` uses it; you can use it to write your own loop.

    Args:
        sock: a connected socket; closed by close().

    >>> ours, referees = socket.socketpair()
    >>> client = Client(ours)
    >>> client.send(m.Hello(version=1, name="ada"))
    >>> referee = Connection(Role.REFEREE)
    >>> referee.receive_data(referees.recv(4096))
    >>> referee.next_event()
    Hello(version=1, name='ada', token=None)
    >>> client.close()
    >>> referees.close()
    """

    def __init__(self, sock: socket.socket) -> None:
        if not isinstance(sock, socket.socket):
            raise TypeError("sock is a connected socket; connect(address) makes a client of an address")
        self._sock = sock
        self.connection = Connection(Role.PLAYER)
        self.witness = Witness()

    def receive(self) -> m.Message | None:
        """Wait for the referee's next message; None once it has closed the connection.

        Raises:
            RemoteProtocolError: the referee broke the protocol.
        """
        while (event := self.connection.next_event()) is Need.DATA:
            try:
                data = self._sock.recv(_READ_BYTES)
            except OSError:  # it was reset or, with TLS, cut without a close_notify: the connection has ended
                data = b""
            if not data:
                return None
            self.connection.receive_data(data)
        assert isinstance(event, m.Message)
        self.witness.see(event)
        return event

    def send(self, message: m.Message) -> None:
        """Send a message.

        Raises:
            LocalProtocolError: it may not be sent now.
            OSError: the connection is gone.
        """
        self._sock.sendall(self.connection.send(message))
        self.witness.see(message)

    def close(self) -> None:
        """Close the connection."""
        self._sock.close()


def connect(address: str, *, wait_s: float = 10.0) -> Client:
    """Connect to a referee, waiting for it to listen.

    Args:
        address: `tcp:HOST:PORT`, `tls:HOST:PORT` or `unix:PATH`.
        wait_s: seconds during which to try again while nobody listens.

    Raises:
        ClientError: the address is not of that form, nobody listens there, or the referee can't prove its name (`tls`).
        ValueError: wait_s is below 0.
        TypeError: an argument is of another type.

    >>> connect("localhost")
    Traceback (most recent call last):
    protocol.client.ClientError: an address is tcp:HOST:PORT, tls:HOST:PORT or unix:PATH, not 'localhost'
    >>> connect("unix:/nonexistent/referee.sock", wait_s=0)
    Traceback (most recent call last):
    protocol.client.ClientError: no referee at unix:/nonexistent/referee.sock: ...; is it running?
    """
    check_seconds("wait_s", wait_s)
    try:
        where = parse_address(address)
    except AddressError as error:
        raise ClientError(str(error)) from None
    give_up = time.monotonic() + wait_s
    while True:
        try:
            sock = _open_socket(where)
            break
        except UnicodeError:
            raise ClientError(f"no machine can be called {where.host[:60]!r}; is the address right?") from None
        except OSError as error:  # perhaps the referee is not listening yet
            if time.monotonic() >= give_up:
                raise ClientError(f"no referee at {address}: {error}; is it running?") from None
            time.sleep(RETRY_S)
    return Client(_start_tls(sock, where) if where.kind is AddressKind.TLS else sock)


def _open_socket(where: Address) -> socket.socket:
    if where.kind is AddressKind.UNIX:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.connect(where.path)
        except OSError:
            sock.close()
            raise
        return sock
    sock = socket.create_connection((where.host, where.port))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # a move is one small write: don't hold it back
    return sock


def _start_tls(sock: socket.socket, where: Address) -> socket.socket:
    """Start TLS on a connection, and close it if the referee can't prove its name."""
    import ssl  # noqa: PLC0415  # the import takes time, and launched programs never need it

    authority = os.environ.get(CA_VARIABLE) or None
    try:
        return ssl.create_default_context(cafile=authority).wrap_socket(sock, server_hostname=where.host)
    except OSError as error:
        sock.close()
        vouches = f"{CA_VARIABLE} is {authority}" if authority else f"{CA_VARIABLE} can name another authority's file"
        raise ClientError(f"no TLS with {where.host}: {error}; {vouches}") from None


def run(
    choose: Choose | None = None,
    *,
    make: Callable[[m.Terms], Choose] | None = None,
    on_message: Callable[[m.Message], None] | None = None,
    address: str | None = None,
    name: str | None = None,
    token: str | None = None,
    say: Callable[[str], None] | None = say_on_stderr,
    come_back_s: float | None = None,
) -> list[Ended]:
    """Connect, play every match that is offered, and return when the referee closes the connection.

    Args:
        choose: view -> move, for every turn of every match.
        make: alternative to choose: called with each offer, returns the choose of that match; also called when the
            player is taken back into a match. Keep data about a match in the function that it returns, because another
            match may follow on the same connection.
        on_message: called with every message of the referee, before it is answered: `told` says what others did, and
            `turn` how much time is left.
        address: where the referee listens; None: `REFEREE_ADDRESS` of the environment.
        name: 1 to 20 letters, digits, - and _, first a letter or digit; None: `REFEREE_NAME`, else `player`.
        token: the token that reserves a seat; None: `REFEREE_TOKEN` of the environment.
        say: called with one line at the end of each match: whether the referee kept its commitment, and the last head
            of the record. None: nothing is printed. `say_on_stderr` is not called if a function of yours raised an
            exception.
        come_back_s: seconds for each attempt to come back into a match after the connection broke. None: 60, or 0 for a
            launched program, which is started again with its referee.

    Returns:
        The end of each match for this player, in order. The `verdict` of each says whether the referee broke its
        commitment.

    Raises:
        ClientError: there is no address, the name has a wrong form, nobody listens, or the referee refuses this player
            or does not take it back.
        TypeError: an argument is of another type.
        ValueError: come_back_s is below 0.
        RemoteProtocolError: the referee broke the protocol.

    An example with a referee that refuses the player:

    >>> import threading
    >>> listener = socket.create_server(("127.0.0.1", 0))
    >>> def refuse() -> None:
    ...     sock, _ = listener.accept()
    ...     referee = Connection(Role.REFEREE)
    ...     referee.receive_data(sock.recv(4096))
    ...     hello = referee.next_event()
    ...     sock.sendall(referee.send(m.Refused(code="closed", reason="the match is running")))
    ...     sock.close()
    >>> thread = threading.Thread(target=refuse)
    >>> thread.start()
    >>> port = listener.getsockname()[1]
    >>> run(lambda view: {"action": "pass"}, address=f"tcp:127.0.0.1:{port}", name="ada")
    Traceback (most recent call last):
    protocol.client.ClientError: the referee refuses this player: the match is running (closed)
    >>> thread.join()
    >>> listener.close()
    """
    check_function("on_message", on_message, "of a message")
    check_function("say", say, "of a line")
    for argument, text in (("address", address), ("name", name), ("token", token)):
        check_text(argument, text)
    if come_back_s is not None:
        check_seconds("come_back_s", come_back_s)
    session = _Session(_check_choice(choose, make), on_message, say)
    try:
        session.play_all(address, name, token, come_back_s)
    except BaseException as error:
        # The traceback of the author's own function should come last on stderr, so a line without news is left out.
        is_own = not isinstance(error, ClientError | ProtocolError | KeyboardInterrupt)
        if is_own and say is say_on_stderr and session.witness.verdict is None:
            session.say = None
        raise
    finally:
        session.close()
    return list(session.ends.values())


def _check_choice(choose: Choose | None, make: Callable[[m.Terms], Choose] | None) -> Callable[[m.Terms], Choose]:
    """Return the function that makes the `choose` of a match; exactly one of the two arguments must be given."""
    check_function("choose", choose, "from a view to a move")
    check_function("make", make, "from an offer to a function that chooses the moves")
    if isinstance(choose, type):
        raise TypeError(f"{choose.__name__} is a class, and choose is a function from a view to a move; give make=")
    if make is not None and choose is None:
        return make
    if choose is not None and make is None:
        return lambda _terms: choose
    raise TypeError("run() takes either choose or make")


# A session outlives its connections. The referee's promises (the witness), the resume token and the open match belong
# to it, because a broken connection ends none of them. A match that broke off is concluded only when it can't go on any
# more: another match is offered, or the time to come back is over.
class _Session(Struct):
    """All matches of one player, over several connections if one broke off."""

    make: Callable[[m.Terms], Choose]
    on_message: Callable[[m.Message], None] | None
    say: Callable[[str], None] | None
    choose: Choose | None = None
    """The function that chooses the moves of the match that was offered last."""
    witness: Witness = field(default_factory=Witness)
    open_match: str | None = None
    broken_off: Ended | None = None
    """End of the open match after its connection broke; valid unless the referee takes this player back into it."""
    is_taken_in: bool = False
    """True if the last connection led into a match."""
    resume: str | None = None
    """Token to come back into the open match; None if no match is open."""
    nonce: str | None = None
    """The nonce of the last `ready`."""
    ends: dict[str, Ended] = {}
    """Match -> its end; a later one replaces it, because a match can become void after its end came."""

    def play_all(self, address: str | None, name: str | None, token: str | None, come_back_s: float | None) -> None:
        """Play until the referee closes the connection, and come back whenever it broke within a match."""
        address = address or os.environ.get("REFEREE_ADDRESS")
        if not address:
            raise ClientError("no address: set REFEREE_ADDRESS, e.g. to tcp:HOST:PORT, or pass address=")
        name = name or os.environ.get("REFEREE_NAME") or "player"
        try:
            check_player_name(name)
        except ValueError as error:
            raise ClientError(str(error)) from None
        if come_back_s is None:
            come_back_s = 0.0 if "REFEREE_PLAYER_SEED" in os.environ else COME_BACK_S
        self._play(connect(address), name, token or os.environ.get("REFEREE_TOKEN"))
        give_up = 0.0
        while come_back_s > 0 and self.resume is not None:
            if self.is_taken_in:  # it was in a match: the time begins again
                give_up = time.monotonic() + come_back_s
            elif time.monotonic() >= give_up:
                raise ClientError(f"the referee at {address} did not take this player back within {come_back_s:g} s")
            else:
                time.sleep(RETRY_S)
            self._play(connect(address, wait_s=max(give_up - time.monotonic(), 0.0)), name, self.resume)

    def _play(self, client: Client, name: str, token: str | None) -> None:
        """Greet, and answer until the referee closes the connection."""
        client.witness = self.witness
        self.is_taken_in = False
        try:
            _send(client, m.Hello(version=PROTOCOL_VERSION, name=name, token=token))
            while (message := client.receive()) is not None:
                self._answer(client, message)
        finally:
            client.close()
            if self.open_match is not None:
                self.broken_off = self._make_end(self.open_match, None)

    def close(self) -> None:
        """Conclude a match that ended without a last message of the referee."""
        if self.broken_off is not None:
            self._conclude(self.broken_off)

    def _answer(self, client: Client, message: m.Message) -> None:
        if self.on_message is not None:
            self.on_message(message)
        match message:
            case m.Refused():
                raise ClientError(f"the referee refuses this player: {message.reason} ({message.code})")
            case m.Offer() | m.Resumed():
                self._take_seat(message)
                if isinstance(message, m.Offer):
                    self._commit(client, message)
            case m.Reveal():
                self._open_commitment(client, message.match)
            case m.Turn():
                assert self.choose is not None, "the connection lets no turn come before an offer"
                move = self.choose(message.view)
                _send(client, m.Move(match=message.match, turn=message.turn, move=move))
            case m.End() | m.Expelled():
                self._take_end(message)
        ack = getattr(message, "ack", None)
        if ack is not None:
            _send(client, m.Ack(match=getattr(message, "match", ""), ack=ack))

    def _take_end(self, message: m.End | m.Expelled) -> None:
        """Conclude the match, unless the end must be confirmed: then a second `end` follows, with the last head."""
        ended = self._make_end(message.match, message)
        if getattr(message, "ack", None) is None:
            self._conclude(ended)
        else:
            self.open_match, self.resume, self.broken_off = None, None, ended

    def _take_seat(self, terms: m.Offer | m.Resumed) -> None:
        if self.broken_off is not None and self.broken_off.match != terms.match:
            self._conclude(self.broken_off)
        self.open_match, self.resume, self.is_taken_in = terms.match, terms.resume, True
        self.choose = self.make(terms)

    def _commit(self, client: Client, offer: m.Offer) -> None:
        """Accept an offer, and commit to a new random nonce, which stays secret until all players have committed."""
        self.nonce = os.urandom(16).hex()
        commitment = nonce_commitment(offer.match, offer.seat, self.nonce)
        _send(client, m.Ready(match=offer.match, commitment=commitment))

    def _open_commitment(self, client: Client, match: str) -> None:
        if self.nonce is None:
            raise ClientError(f"the referee asks for the nonce of match {match}, which another program committed to")
        _send(client, m.Nonce(match=match, nonce=self.nonce))

    def _make_end(self, match: str, last: m.End | m.Expelled | None) -> Ended:
        return Ended(match=match, message=last, verdict=self.witness.verdict, heads=tuple(self.witness.heads))

    def _conclude(self, ended: Ended) -> None:
        self.open_match = self.broken_off = self.resume = self.nonce = None
        self.ends[ended.match] = ended
        if self.say is not None:
            self.say(ended.line)


def _send(client: Client, message: m.Message) -> None:
    """Send a message; ignore a broken connection, because the referee's last messages may still wait to be read."""
    with contextlib.suppress(OSError):
        client.send(message)


__all__ = ["Choose", "Client", "ClientError", "Ended", "ProtocolError", "connect", "run", "say_on_stderr"]
