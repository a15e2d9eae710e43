"""The dispatcher: the Dask client of one run of a tournament, in a process of its own, without key or site.

It hands bytes on. It has one connection, and ends with it: the coordinator starts another one.
"""

import asyncio
import os
import re
import secrets
import socket
import sys
from typing import Any, NoReturn

import msgspec

from ..net.jobs.messages import Frames, framed
from . import calls
from .closed_pickle import plain_client
from .messages import (
    MAX_ANSWER_BYTES,
    MAX_TOLD_BYTES,
    ORDERS,
    SEEN_S,
    Ask,
    Connect,
    Drop,
    HostAnswer,
    KnownHosts,
    Order,
    Report,
    SeenHost,
    ToldByHost,
)

REPLY_S = 20.0
"""How long the scheduler, or a host in a call, may take to answer."""
_READ_BYTES = 1 << 18
_MOST_TEXT = 300
_NAME = re.compile(r"[\w.-]{1,100}", re.ASCII)
"""Of a host: of its machine, and of its own. Files are named by it."""


class Dispatcher:
    """Hands the coordinator's asks on to hosts, and what comes back to it.

    Args:
        client: of Dask.
        writer: to the coordinator.
    """

    def __init__(self, client: Any, writer: asyncio.StreamWriter) -> None:
        self._client = client
        self._writer = writer
        self._life = secrets.token_hex(4)
        self._going_on: dict[int, asyncio.Task[None]] = {}
        """By number of the ask."""

    def take(self, order: Order) -> None:
        """Carry out an order."""
        if isinstance(order, Ask):
            self._going_on[order.number] = asyncio.ensure_future(self._asked(order))
        elif isinstance(order, Drop) and order.number in self._going_on:
            self._going_on.pop(order.number).cancel()

    async def look(self) -> None:
        """Tell of all hosts, again and again, for as long as the scheduler answers.

        Raises:
            OSError: it does not.
        """
        while True:
            async with asyncio.timeout(REPLY_S):
                found = await self._client.scheduler.identity(n_workers=-1)
            hosts = (_seen(address, about) for address, about in found["workers"].items())
            self._report(KnownHosts(hosts=tuple(host for host in hosts if host is not None)))
            await asyncio.sleep(SEEN_S)

    def told(self, event: Any) -> None:
        """Hand on what a host tells of a match, if it is that."""
        try:
            told = msgspec.convert(event[1], ToldByHost)
        except (msgspec.ValidationError, TypeError, LookupError):
            return  # no host of this program says that
        if len(told.lines) + len(told.host) + len(told.match) <= MAX_TOLD_BYTES:
            self._report(told)

    async def _asked(self, ask: Ask) -> None:
        """Ask a host, and report its answer, or why there is none."""
        data, why = None, "its answer is no plain data"
        try:
            found = await (self._played(ask) if ask.call in calls.PLAYS else self._called(ask))
            if isinstance(found, bytes) and len(found) <= MAX_ANSWER_BYTES:
                data, why = found, ""
        except Exception as error:  # noqa: BLE001  # whatever it is, there is no answer
            why = f"{type(error).__name__}: {error}"[:_MOST_TEXT]
        self._going_on.pop(ask.number, None)
        self._report(HostAnswer(number=ask.number, data=data, why=why))

    async def _played(self, ask: Ask) -> Any:
        """Have a match played: it waits at its host for the tables that it takes, and no other host takes it."""
        tables = calls.PLAYS[ask.call]
        future = self._client.submit(
            calls.play,
            ask.data,
            key=f"match-{self._life}-{ask.number}",
            workers=[ask.host],
            allow_other_workers=False,
            resources={"tables": tables} if tables else None,
            pure=False,
            retries=0,
        )
        try:
            return await future
        finally:
            future.release()

    async def _called(self, ask: Ask) -> Any:
        async with asyncio.timeout(REPLY_S):
            found = await self._client.run(calls.CALLS[ask.call], ask.data, workers=[ask.host])
        return found.get(ask.host)

    def _report(self, report: Report) -> None:
        self._writer.write(framed((report,)))


def _seen(address: Any, about: Any) -> SeenHost | None:
    """Return a host as the scheduler describes it; None: it is none of this program."""
    try:
        tables = int(about["resources"].get("tables", 0))
        seen = msgspec.convert({"name": about["name"], "address": address, "tables": max(tables, 0)}, SeenHost)
    except (TypeError, ValueError, AttributeError, LookupError, msgspec.ValidationError):
        return None
    return seen if _NAME.fullmatch(seen.name) else None


async def _orders(reader: asyncio.StreamReader, frames: Frames[tuple[Order, ...]]) -> list[tuple[Order, ...]]:
    """Read until there are orders; none: the coordinator is gone."""
    while data := await reader.read(_READ_BYTES):
        if found := frames.add(data):
            return found
    return []


async def _serve(descriptor: int) -> None:
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=descriptor))
    frames: Frames[tuple[Order, ...]] = Frames(ORDERS)
    first = [order for orders in await _orders(reader, frames) for order in orders]
    if not first or not isinstance(first[0], Connect):
        return
    connect = first[0]
    client = plain_client(connect.address, connect.keys, REPLY_S)
    async with asyncio.timeout(REPLY_S):
        await client
    dispatcher = Dispatcher(client, writer)
    client.subscribe_topic(connect.topic, dispatcher.told)
    for order in first[1:]:
        dispatcher.take(order)
    looking = asyncio.ensure_future(dispatcher.look())
    looking.add_done_callback(_failed)
    while found := await _orders(reader, frames):
        for orders in found:
            for order in orders:
                dispatcher.take(order)
    os._exit(0)  # the coordinator is gone: nothing here is worth waiting for


def _failed(looking: "asyncio.Future[None]") -> None:
    """End this process with the connection: what was asked is asked again by another one."""
    if not looking.cancelled():
        _end(looking.exception() or ConnectionError("the scheduler is gone"))


def _end(error: BaseException) -> NoReturn:
    """End this process, with its last words; Dask's threads would hold it up."""
    sys.stderr.write(f"{type(error).__name__}: {error}"[:_MOST_TEXT])
    sys.stderr.flush()
    os._exit(1)


def run(descriptor: int) -> None:
    """Hand on what comes over a socket, until its other end is gone, or the scheduler.

    Args:
        descriptor: of the socket.
    """
    os.set_inheritable(descriptor, False)
    try:
        asyncio.run(_serve(descriptor))
    except Exception as error:  # noqa: BLE001  # the coordinator tells of it
        _end(error)


if __name__ == "__main__":
    run(int(sys.argv[1]))
