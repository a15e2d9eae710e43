"""The endpoint of a running referee for monitors: `/metrics` for Prometheus and `/health` for a watchdog."""

from http import HTTPStatus

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from .http_messages import Inquiry, Reply, refusal, refuse_method
from .http_server import Limits

LIMITS = Limits(head_s=10.0, silence_s=10.0, request_s=20.0, strangers=64, of_address=16)
"""A monitor asks for a page every few seconds, and has read it in the next."""


class Monitor:
    """Answers monitors.

    Args:
        registry: the numbers.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def announced(self, token: str | None, length: int | None) -> str | Reply:
        """Take whoever asks, and no body: there is nothing that one could be for."""
        if length == 0:
            return ""
        return refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "nothing is taken here", "send a request without a body")

    async def answer(self, inquiry: Inquiry) -> Reply:
        """Return a page."""
        match inquiry.method, inquiry.path:
            case "GET" | "HEAD", ("metrics",):
                return Reply(body=generate_latest(self._registry), content_type=CONTENT_TYPE_LATEST)
            case "GET" | "HEAD", ("health",):  # a loop that stands still says nothing
                return Reply(body=b"ok\n", content_type="text/plain; charset=utf-8")
            case _, ("metrics" | "health",):
                return refuse_method("GET, HEAD")
        return refusal(HTTPStatus.NOT_FOUND, "there is no such page", "GET /metrics or /health")
