"""The pages of a running referee for monitors: `/metrics` for Prometheus and `/health` for a watchdog."""

from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.twisted import MetricsResource
from twisted.internet.address import IPv4Address
from twisted.web.resource import Resource

from .visitors import NO_BODY, Visitors

_HERE: Any = IPv4Address("TCP", "127.0.0.1", 0)
"""Stands for both ends of a Unix socket, which has neither a host nor a port: WSGI asks for them."""


class _Metrics(Resource):
    """The numbers, as Prometheus reads them."""

    def __init__(self, registry: CollectorRegistry) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Twisted has no types
        self._pages: Any = MetricsResource(registry)  # type: ignore[no-untyped-call]  # nor has this

    def render(self, request: Any) -> Any:
        """Answer a request; called by Twisted."""
        if not hasattr(request.getHost(), "port"):
            request.client = request.host = _HERE
        request.requestHeaders.removeHeader(b"accept")  # a version in it that is none would end in a traceback
        return self._pages.render(request)


class _Health(Resource):
    """Says that the loop runs: one that stands still says nothing."""

    def render_GET(self, request: Any) -> bytes:
        """Answer a request; called by Twisted."""
        request.setHeader("Content-Type", "text/plain; charset=utf-8")
        return b"ok\n"


def monitor_site(registry: CollectorRegistry, reactor: Any) -> Visitors:
    """Return what answers monitors, held to what visitors of a contest's site are held to: a factory of Twisted's.

    Args:
        registry: the numbers.
        reactor: Twisted's.
    """
    pages: Any = Resource()
    health: Any = _Health()  # type: ignore[no-untyped-call]  # Twisted has no types
    pages.putChild(b"metrics", _Metrics(registry))
    pages.putChild(b"health", health)
    return Visitors(pages, reactor, lambda *_: NO_BODY)
