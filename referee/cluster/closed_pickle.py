"""Closes every way in which data that Dask delivers could run as code in this process.

Dask's own setting (`deserializers`) covers the answers to calls. It does not cover events and the exceptions of tasks,
which the scheduler sends on a permanent stream. So pickle is replaced where Dask reads it. This relies on Dask's
internals: tests/cluster/test_closed_pickle.py sends such data of each kind from a hostile host, and must pass with
every new version of Dask.
"""

from pathlib import Path
from typing import Any, NoReturn

from distributed import Client
from distributed.protocol import pickle
from distributed.protocol.serialize import families, register_serialization_family

from .security import load_security

_PLAIN = ["msgpack", "error"]


class Unreadable(TypeError):
    """Raised for data that can be read only by running it as code."""


def make_plain_client(address: str, keys: Path | None, reply_s: float) -> Any:
    """Return a Dask client that is not connected yet. From now on, this process reads only plain data from Dask.

    Args:
        address: the scheduler's address.
        keys: folder of the certificates; None for a connection without encryption.
        reply_s: seconds that the scheduler may take to answer.
    """
    close_pickle()
    return Client(  # type: ignore[no-untyped-call]
        address,
        timeout=reply_s,
        security=load_security(keys),
        asynchronous=True,
        set_as_default=False,
        direct_to_workers=False,
        serializers=_PLAIN,
        deserializers=_PLAIN,
    )


def close_pickle() -> None:
    """Refuse to read pickles from now on. This process still writes data as before."""
    # Hosts are the organiser's own machines, but student programs run on them, and a sandbox may be off there. A
    # program that breaks out must not be able to reach the signing key through a pickle.
    pickle.loads = _refuse
    for name in ("pickle", "dask"):
        register_serialization_family(name, families[name][0], _refuse)  # type: ignore[no-untyped-call]


def _refuse(*_args: Any, **_kwargs: Any) -> NoReturn:
    raise Unreadable("this process does not read pickles")
