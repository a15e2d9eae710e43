"""The endpoint of a running referee for monitors: `/metrics` for Prometheus and `/health` for a watchdog."""

from http import HTTPStatus
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from ..clock import Port
from ..observers import Note
from .http_messages import Head, Inquiry, Reply, refusal
from .http_server import HttpServer, Limits
from .links.addresses import listen

LIMITS = Limits(head_s=10.0, silence_s=10.0, request_s=20.0, strangers=64, of_address=16)
"""A monitor asks for a page every few seconds, and has read it in the next."""


class Monitor:
    """Answers monitors.

    Args:
        registry: the numbers.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def announced(self, head: Head) -> str | Reply:
        """Take whoever asks, and no body: there is nothing that one could be for."""
        if head.length == 0:
            return ""
        return refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "nothing is taken here", "send a request without a body")

    async def answer(self, inquiry: Inquiry) -> Reply:
        """Return a page."""
        match inquiry.method, inquiry.path:
            case "GET" | "HEAD", ("metrics",):
                return Reply(body=generate_latest(self._registry), content_type=CONTENT_TYPE_LATEST)
            case "GET" | "HEAD", ("health",):  # a loop that stands still says nothing
                return Reply(body=b"ok\n", content_type="text/plain; charset=utf-8")
        return refusal(HTTPStatus.NOT_FOUND, "there is no such page", "GET /metrics or /health")


async def open_monitor(reactor: Any, address: str, registry: CollectorRegistry, note: Note) -> Port:
    """Open the endpoint.

    Args:
        reactor: Twisted's reactor.
        address: Twisted endpoint string.
        registry: the numbers.
        note: takes note of what goes wrong.

    Raises:
        AddressError: the address can't be listened on.
    """
    return await listen(reactor, address, HttpServer(Monitor(registry), LIMITS, note, reactor))
