"""A process that plays actors over TCP, a thread for each, for the course's cases on the real listener.

Reads one job a line from stdin: {"address", "actors", "staff", "special"}. The actors sign up in order; a thread
ends when the referee closes its connection. Speaks through protocol.client, and writes raw bytes only to garble.
"""

import json
import sys
import threading
from typing import Any

from protocol.client import Client, connect
from protocol.deal import nonce_commitment
from protocol.errors import ProtocolError
from protocol.limits import PROTOCOL_VERSION
from protocol.messages import Ack, End, Hello, Message, Move, Nonce, Offer, Ready, Reveal, Start, Told, Turn, Welcome

from .q_actors import Actor, Kind, Misbehaviour

GARBAGE = b"\x00\x00\x00\x05\xc1void"
"""A whole frame whose body is no msgpack."""
_NONCE = "00" * 16


def main() -> None:
    """Play jobs until stdin ends."""
    for line in sys.stdin:
        _play(json.loads(line))


def _play(job: dict[str, Any]) -> None:
    special = job.get("special")
    specs = list(job["actors"])
    for spec in specs:
        _sign_up(job["address"], str(spec[0]), Actor(spec, staff=job["staff"]))
    if special is not None:
        _sign_up(job["address"], str(special) if str(special).startswith("sendname") else None, None)


def _sign_up(address: str, name: str | None, actor: Actor | None) -> None:
    """Connect and say hello; wait until the referee has seated the player, so that the order of seats is known."""
    client = connect(address)
    if name is not None:
        try:
            client.send(Hello(version=PROTOCOL_VERSION, name=name))
            client.receive()
        except (ProtocolError, OSError):
            client.close()
            return
    threading.Thread(target=_serve, args=(client, actor), daemon=True).start()


def _serve(client: Client, actor: Actor | None) -> None:
    try:
        while (message := client.receive()) is not None:
            if actor is not None:
                _answer(client, actor, message)
    except Misbehaviour as misbehaviour:
        if misbehaviour.kind is Kind.GARBLES:
            client._sock.sendall(GARBAGE)
        if misbehaviour.kind is not Kind.RAISES:
            _ignore(client)
    except (ProtocolError, OSError):
        pass  # the referee ended the conversation
    finally:
        client.close()


def _answer(client: Client, actor: Actor, message: Message) -> None:
    match message:
        case Welcome():
            return
        case Offer():
            commitment = nonce_commitment(message.match, message.seat, _NONCE)
            client.send(Ready(match=message.match, commitment=commitment))
        case Reveal():
            client.send(Nonce(match=message.match, nonce=_NONCE))
        case Turn():
            client.send(Move(match=message.match, turn=message.turn, move=actor.move(message.view)))
        case Start():
            actor.call("setup")
        case Told() if message.draws is not None:
            actor.call("new-tiles")
        case End():
            actor.call("win")
    ack = getattr(message, "ack", None)
    if ack is not None:
        client.send(Ack(match=getattr(message, "match", ""), ack=ack))


def _ignore(client: Client) -> None:
    """Never answer again, until the referee closes the connection."""
    try:
        while client._sock.recv(65_536):
            pass
    except OSError:
        pass  # closed


if __name__ == "__main__":
    main()
