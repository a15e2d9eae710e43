"""Forms that browsers send: their fields, and a file."""

from collections.abc import Mapping
from typing import Any, BinaryIO
from urllib.parse import parse_qsl

from msgspec import Struct
from twisted.internet.threads import deferToThread
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.http import parse_options_header
from werkzeug.sansio.multipart import Data, Epilogue, Field, File, MultipartDecoder, NeedData

MOST_FIELDS = 32
_CHUNK_BYTES = 65_536
FORM_TOKEN = "form_token"  # noqa: S105  # the name of a field


class BadForm(Exception):
    """What no browser sends for a form of this site."""


class Form(Struct, frozen=True, kw_only=True):
    """A form that was sent off."""

    fields: Mapping[str, str]
    upload: bytes = b""
    """The file; empty: none was chosen."""

    def text(self, name: str) -> str:
        """Return what was written into a field, without blanks around it; empty if there is no such field."""
        return self.fields.get(name, "").strip()


def read_form(content_type: str, content: BinaryIO) -> Form:
    """Read a form.

    Args:
        content_type: of the body.
        content: the body.

    Raises:
        BadForm: it is none.
    """
    kind, options = parse_options_header(content_type)
    if kind == "multipart/form-data" and options.get("boundary"):
        return _parted(options["boundary"], content)
    try:
        return Form(fields=dict(parse_qsl(content.read().decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS)))
    except ValueError:
        raise BadForm from None


def _parted(boundary: str, content: BinaryIO) -> Form:
    decoder = MultipartDecoder(boundary.encode(errors="replace"), max_parts=MOST_FIELDS)
    fields, upload, into = dict[str, bytearray](), bytearray(), bytearray()
    try:
        while not isinstance(event := decoder.next_event(), Epilogue):
            match event:
                case NeedData():
                    decoder.receive_data(content.read(_CHUNK_BYTES) or None)
                case Field(name=name):
                    into = fields.setdefault(name, bytearray())
                case File():
                    into = upload
                case Data(data=data):
                    into += data
    except (ValueError, RequestEntityTooLarge):
        raise BadForm from None
    return Form(fields={name: text.decode(errors="replace") for name, text in fields.items()}, upload=bytes(upload))


async def form_of(request: Any) -> Form:
    """Return the form that a request brings.

    Raises:
        BadForm: it brings none, or one that is too large.
    """
    if request.is_too_large:
        raise BadForm
    return await deferToThread(read_form, request.content_type, request.content)
