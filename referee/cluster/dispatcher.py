"""The dispatcher: the Dask client of one run of a tournament, in a process of its own.

It forwards bytes between the coordinator and the hosts, and has neither the key nor the site. Dask's client stays out
of the tournament's process for two reasons: it needs an asyncio loop of its own, and nothing that a host sends should
be able to reach the key. The dispatcher has one connection to the scheduler, and exits when the connection is lost. The
coordinator then starts a new dispatcher, which is simpler than to repair a client in place.
"""

import asyncio
import os
import re
import secrets
import socket
import sys
from typing import Any, NoReturn

import msgspec

from ..net.jobs.messages import Frames, pack_frame
from . import calls
from . import messages as m
from .closed_pickle import make_plain_client

REPLY_S = 20.0
"""Time that the scheduler, or a host in a call, may take to answer, in seconds."""
_READ_BYTES = 1 << 18
_MAX_TEXT_CHARS = 300
_NAME = re.compile(r"[\w.-]{1,100}", re.ASCII)
"""Name of a host: its machine's name and a suffix. Files are named after it, so it must be harmless in a path."""


class Dispatcher:
    """Forwards the coordinator's calls to hosts, and their answers to the coordinator.

    Args:
        client: Dask's client.
        writer: stream to the coordinator.
    """

    def __init__(self, client: Any, writer: asyncio.StreamWriter) -> None:
        self._client = client
        self._writer = writer
        self._life = secrets.token_hex(4)
        self._calls: dict[int, asyncio.Task[None]] = {}
        """Number of an `Ask` -> the call that is in progress."""

    def take(self, order: m.Order) -> None:
        """Carry out an order."""
        if isinstance(order, m.Ask):
            self._calls[order.number] = asyncio.ensure_future(self._answer(order))
        elif isinstance(order, m.Drop) and order.number in self._calls:
            self._calls.pop(order.number).cancel()

    async def report_hosts(self) -> None:
        """Report all hosts again and again, for as long as the scheduler answers.

        Raises:
            OSError: the scheduler does not answer.
        """
        while True:
            async with asyncio.timeout(REPLY_S):
                identity = await self._client.scheduler.identity(n_workers=-1)
            hosts = (parse_host(address, about) for address, about in identity["workers"].items())
            self._report(m.KnownHosts(hosts=tuple(host for host in hosts if host is not None)))
            await asyncio.sleep(m.HOSTS_REPORT_S)

    def forward_lines(self, event: Any) -> None:
        """Forward the lines of a record that a host has published. Called by Dask.

        Args:
            event: an instant and the message. Anything else on the topic was not sent by a host and is ignored.
        """
        try:
            message = msgspec.convert(event[1], m.HostLines)
        except (msgspec.ValidationError, TypeError, LookupError):
            return
        if len(message.lines) + len(message.host) + len(message.match) <= m.MAX_LINES_BYTES:
            self._report(message)

    async def _answer(self, ask: m.Ask) -> None:
        """Call a host, and report its answer, or the reason why there is no answer."""
        data, why = None, "its answer is not plain data"
        try:
            answer = await (self._submit(ask) if ask.call in calls.PLAYS else self._call(ask))
            if isinstance(answer, bytes) and len(answer) <= m.MAX_ANSWER_BYTES:
                data, why = answer, ""
        except Exception as error:  # noqa: BLE001  # Dask raises what the host raised: anything at all
            why = f"{type(error).__name__}: {error}"[:_MAX_TEXT_CHARS]
        self._calls.pop(ask.number, None)
        self._report(m.HostAnswer(number=ask.number, data=data, why=why))

    async def _submit(self, ask: m.Ask) -> Any:
        """Submit a match as a Dask task. It waits at its host for a free table, and no other host may take it.

        Each task has a key of its own: Dask would answer a second task of the same key with the result of the first.
        """
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

    async def _call(self, ask: m.Ask) -> Any:
        async with asyncio.timeout(REPLY_S):
            answers = await self._client.run(calls.CALLS[ask.call], ask.data, workers=[ask.host])
        return answers.get(ask.host)

    def _report(self, report: m.Report) -> None:
        self._writer.write(pack_frame((report,)))


def parse_host(address: Any, about: Any) -> m.SeenHost | None:
    """Parse the scheduler's description of a worker; None if the worker is not a host of the referee."""
    try:
        tables = int(about["resources"].get("tables", 0))
        host = msgspec.convert({"name": about["name"], "address": address, "tables": max(tables, 0)}, m.SeenHost)
    except (TypeError, ValueError, AttributeError, LookupError, msgspec.ValidationError):
        return None
    return host if _NAME.fullmatch(host.name) else None


async def _read_orders(reader: asyncio.StreamReader, frames: Frames[tuple[m.Order, ...]]) -> list[m.Order]:
    """Read until there are orders; return none if the coordinator is gone."""
    while data := await reader.read(_READ_BYTES):
        if orders := [order for group in frames.add(data) for order in group]:
            return orders
    return []


async def _serve(descriptor: int) -> None:
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=descriptor))
    frames: Frames[tuple[m.Order, ...]] = Frames(m.ORDERS)
    orders = await _read_orders(reader, frames)
    if not orders or not isinstance(connect := orders[0], m.Connect):
        return
    client = make_plain_client(connect.address, connect.keys, REPLY_S)
    async with asyncio.timeout(REPLY_S):
        await client
    dispatcher = Dispatcher(client, writer)
    client.subscribe_topic(connect.topic, dispatcher.forward_lines)
    for order in orders[1:]:
        dispatcher.take(order)
    reporting = asyncio.ensure_future(dispatcher.report_hosts())
    reporting.add_done_callback(_exit_with)
    while orders := await _read_orders(reader, frames):
        for order in orders:
            dispatcher.take(order)
    os._exit(0)  # the coordinator is gone: nothing here is worth waiting for


def _exit_with(reporting: "asyncio.Future[None]") -> None:
    """Exit when the connection is lost. The coordinator starts a new dispatcher and repeats its calls."""
    if not reporting.cancelled():
        _exit(reporting.exception() or ConnectionError("the scheduler is gone"))


def _exit(error: BaseException) -> NoReturn:
    """Print the reason and exit at once: Dask's threads would delay a normal exit."""
    sys.stderr.write(f"{type(error).__name__}: {error}"[:_MAX_TEXT_CHARS])
    sys.stderr.flush()
    os._exit(1)


def run(descriptor: int) -> None:
    """Serve the coordinator until it or the scheduler is gone.

    Args:
        descriptor: file descriptor of the socket to the coordinator.
    """
    os.set_inheritable(descriptor, False)
    try:
        asyncio.run(_serve(descriptor))
    except Exception as error:  # noqa: BLE001  # the coordinator reports it to the organiser
        _exit(error)


if __name__ == "__main__":
    run(int(sys.argv[1]))
