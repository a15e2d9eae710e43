"""Wrong arguments for the client: the error comes at once, before any connection."""

from typing import Any, cast

import pytest

from protocol import client
from protocol.client import Client, ClientError, connect

run = cast("Any", client.run)
NOBODY = "tcp:127.0.0.1:1"


def choose(view: Any) -> Any:
    """Return a move."""
    return view


@pytest.mark.parametrize(
    ("arguments", "more", "kind", "error"),
    [
        ((3,), {}, TypeError, "choose is a function from a view to a move, not of the type int"),
        ((dict,), {}, TypeError, "dict is a class, and choose is a function .*; give make="),
        ((), {"make": 3}, TypeError, "make is a function from an offer to a function that chooses the moves"),
        ((choose,), {"address": 3}, TypeError, "address is text, not of the type int"),
        ((choose,), {"name": 3}, TypeError, "name is text, not of the type int"),
        ((choose,), {"name": "two words"}, ClientError, "the name 'two words' must be 1 to 20 ASCII letters"),
        ((choose,), {"name": "x" * 21}, ClientError, "must be 1 to 20 ASCII letters"),
        ((choose,), {"token": b"x"}, TypeError, "token is text, not of the type bytes"),
        ((choose,), {"say": 3}, TypeError, "say is a function of a line, not of the type int"),
        ((choose,), {"on_message": 3}, TypeError, "on_message is a function of a message, not of the type int"),
        ((choose,), {"come_back_s": "x"}, TypeError, "come_back_s is a number of seconds, not of the type str"),
        ((choose,), {"come_back_s": -1}, ValueError, "come_back_s is at least 0 seconds, not -1"),
    ],
)
def test_a_wrong_argument_gets_a_sentence(
    arguments: tuple[Any, ...], more: dict[str, Any], kind: type[Exception], error: str
) -> None:
    """A wrong type is a TypeError, as in Python's own functions; an impossible value is a ClientError."""
    with pytest.raises(kind, match=error):
        run(*arguments, **{"address": NOBODY, **more})


def test_who_connects_wrongly_is_told_so() -> None:
    """The address, the time and the socket are checked."""
    for address in (3, None, b"tcp:x:1"):
        with pytest.raises(ClientError, match=r"an address is tcp:HOST:PORT, .*, as text, not of the type"):
            connect(cast("Any", address))
    with pytest.raises(TypeError, match="wait_s is a number of seconds, not of the type str"):
        connect(NOBODY, wait_s=cast("Any", "x"))
    with pytest.raises(ClientError, match=r"no machine can be called 'x+'; is the address right"):
        connect(f"tcp:{'x' * 80}.:1", wait_s=0)
    with pytest.raises(TypeError, match=r"sock is a connected socket; connect\(address\) makes a client"):
        Client(cast("Any", 3))
