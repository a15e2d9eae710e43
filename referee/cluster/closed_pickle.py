"""Closes every way in which something that Dask brings would run as code in this process.

Dask's own setting (`deserializers`) covers answers to calls. What comes on the standing stream from the scheduler
ignores it: events, and the exceptions of tasks. This rests on the insides of Dask: tests/cluster/test_closed_pickle.py
sends each of these from a hostile host, and is to be run with every new version.
"""

from pathlib import Path
from typing import Any, NoReturn

from distributed import Client
from distributed.protocol import pickle
from distributed.protocol.serialize import families, register_serialization_family

from .security import security_of

_PLAIN = ["msgpack", "error"]


class Unreadable(TypeError):
    """Something that would have to be run to be read."""


def plain_client(address: str, keys: Path | None, reply_s: float) -> Any:
    """Return a client, not yet connected, of a process that reads nothing but plain data from now on.

    Args:
        address: of the scheduler.
        keys: folder of the certificates.
        reply_s: how long the scheduler may take to answer.
    """
    close_pickle()
    return Client(  # type: ignore[no-untyped-call]
        address,
        timeout=reply_s,
        security=security_of(keys),
        asynchronous=True,
        set_as_default=False,
        direct_to_workers=False,
        serializers=_PLAIN,
        deserializers=_PLAIN,
    )


def close_pickle() -> None:
    """Read nothing but plain data from now on; what is sent is written as before."""
    pickle.loads = _refuse
    for name in ("pickle", "dask"):
        register_serialization_family(name, families[name][0], _refuse)  # type: ignore[no-untyped-call]


def _refuse(*_args: Any, **_kwargs: Any) -> NoReturn:
    raise Unreadable("a pickle, which is not read here")
