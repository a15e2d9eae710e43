"""What programs send as JSON, and how they are told that it is refused."""

from http import HTTPStatus
from typing import Any, TypeVar

import msgspec

from ..errors import RemediableError
from ..net.http_messages import JSON

T = TypeVar("T")


class RequestRefused(RemediableError):
    """Something that is not done.

    Args:
        code: that says so over HTTP.
        what: is wrong.
        remedy: what to do about it.
    """

    def __init__(self, code: HTTPStatus, what: str, remedy: str) -> None:
        super().__init__(what, remedy)
        self.code = code


def read_request(request: Any, form: type[T]) -> T:
    """Return what the body of a request says.

    Args:
        request: Twisted's.
        form: what it is to be.

    Raises:
        RequestRefused: it is none, or not sent as JSON: a page elsewhere can't have a browser send that type unasked.
    """
    if request.content_type.partition(";")[0].strip() != JSON:
        raise RequestRefused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body has another type", f"send it as {JSON}")
    try:
        return msgspec.json.decode(request.content.read(), type=form)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        remedy = "/api/openapi.json describes what this address takes"
        raise RequestRefused(HTTPStatus.BAD_REQUEST, f"the body is not what is asked for: {error}", remedy) from None
