"""Two addresses of a running referee for monitors: `/metrics` for Prometheus and `/health` for a watchdog."""

# Monitors connect from other machines, so the limits for visitors of a contest also apply to them.

from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.twisted import MetricsResource
from twisted.internet.address import IPv4Address
from twisted.web.resource import Resource

from .visitors import NO_BODY, Visitors

_HERE: Any = IPv4Address("TCP", "127.0.0.1", 0)
"""Stand-in for the addresses of a Unix socket: WSGI requires a host and a port, and such a socket has neither."""


class _Metrics(Resource):
    """The metrics in the format of Prometheus."""

    def __init__(self, registry: CollectorRegistry) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Twisted has no types
        self._pages: Any = MetricsResource(registry)  # type: ignore[no-untyped-call]  # the library has no types

    def render(self, request: Any) -> Any:
        """Answer a request; called by Twisted."""
        if not hasattr(request.getHost(), "port"):
            request.client = request.host = _HERE
        request.requestHeaders.removeHeader(b"accept")  # an invalid version in this header would raise an exception
        return self._pages.render(request)


class _Health(Resource):
    """Answers as long as the event loop runs; a loop that hangs gives no answer."""

    def render_GET(self, request: Any) -> bytes:
        """Answer a request; called by Twisted."""
        request.setHeader("Content-Type", "text/plain; charset=utf-8")
        return b"ok\n"


def monitor_site(registry: CollectorRegistry, reactor: Any) -> Visitors:
    """Return the site for monitors, with the limits for visitors of a contest, as a Twisted factory.

    Args:
        registry: metrics to show.
        reactor: Twisted's reactor.
    """
    pages: Any = Resource()
    health: Any = _Health()  # type: ignore[no-untyped-call]  # Twisted has no types
    pages.putChild(b"metrics", _Metrics(registry))
    pages.putChild(b"health", health)
    return Visitors(pages, reactor, lambda *_: NO_BODY)
