"""The endpoint of a running referee for monitors: `/metrics` for Prometheus, `/health` for a watchdog. Knows HTTP."""

from collections.abc import Callable
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from twisted.web.resource import Resource
from twisted.web.server import Site

from .addresses import listen
from .clock import Port


class _Page(Resource):
    """One page of plain text.

    Args:
        make: called for each request, returns the page.
        content_type: of the page.
    """

    isLeaf = True  # noqa: N815  # Twisted's own

    def __init__(self, make: Callable[[], bytes], content_type: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Twisted's own
        self._make = make
        self._content_type = content_type

    def render_GET(self, request: Any) -> bytes:
        """Answer; called by Twisted."""
        request.setHeader(b"content-type", self._content_type.encode())
        return self._make()


async def open_monitor(reactor: Any, address: str, registry: CollectorRegistry) -> Port:
    """Open the endpoint.

    Args:
        reactor: Twisted's reactor.
        address: Twisted endpoint string.
        registry: the numbers.

    Raises:
        AddressError: the address can't be listened on.
    """
    root: Any = Resource()
    root.putChild(b"metrics", _Page(lambda: generate_latest(registry), CONTENT_TYPE_LATEST))
    health = _Page(lambda: b"ok\n", "text/plain; charset=utf-8")  # a loop that stands still says nothing
    root.putChild(b"health", health)
    site = Site(root)
    site.displayTracebacks = False
    site.noisy = False
    return await listen(reactor, address, site)
