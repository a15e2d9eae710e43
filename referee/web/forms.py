"""Forms that browsers send: their fields, and files."""

from collections.abc import Mapping
from typing import Any, BinaryIO
from urllib.parse import parse_qsl

from msgspec import Struct
from twisted.internet.threads import deferToThread
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.http import parse_options_header
from werkzeug.sansio.multipart import Data, Epilogue, Field, File, MultipartDecoder, NeedData

MOST_FIELDS, MOST_FILES = 32, 20_000
"""A folder may be sent with all that is left out of it, such as what git keeps."""
_CHUNK_BYTES = 65_536
FORM_TOKEN = "form_token"  # noqa: S105  # the name of a field


class BadForm(Exception):
    """What no browser sends for a form of this site."""


class UploadedFile(Struct, frozen=True, kw_only=True):
    """A file of a form."""

    field: str
    name: str
    """As the browser calls it; of a file in a folder that was chosen, its path from there."""
    data: bytes


class Form(Struct, frozen=True, kw_only=True):
    """A form that was sent off."""

    fields: Mapping[str, str]
    uploads: tuple[UploadedFile, ...] = ()
    """The files that were chosen."""
    has_file: bool = False
    """Whether there is a place for one."""

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
    decoder = MultipartDecoder(boundary.encode(errors="replace"), max_parts=MOST_FIELDS + MOST_FILES)
    fields, uploads, into = dict[str, bytearray](), list[tuple[File, bytearray]](), bytearray()
    field_count = 0
    try:
        while not isinstance(event := decoder.next_event(), Epilogue):
            match event:
                case NeedData():
                    decoder.receive_data(content.read(_CHUNK_BYTES) or None)
                case Field(name=name):
                    field_count += 1
                    if field_count > MOST_FIELDS:
                        raise BadForm
                    into = fields.setdefault(name, bytearray())
                case File() as file:
                    into = bytearray()
                    uploads.append((file, into))
                case Data(data=data):
                    into += data
    except (ValueError, RequestEntityTooLarge):
        raise BadForm from None
    return Form(
        fields={name: text.decode(errors="replace") for name, text in fields.items()},
        uploads=tuple(
            UploadedFile(field=file.name, name=file.filename, data=bytes(data))
            for file, data in uploads
            if file.filename  # a browser sends a file without a name where none was chosen
        ),
        has_file=bool(uploads),
    )


async def form_of(request: Any) -> Form:
    """Return the form that a request brings.

    Raises:
        BadForm: it brings none, or one that is too large.
    """
    if request.is_too_large:
        raise BadForm
    return await deferToThread(read_form, request.content_type, request.content)
