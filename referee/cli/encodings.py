"""Writes signs that the encoding of stdout or stderr does not have: what resembles them, else their escapes."""

import codecs
import os
import sys
from io import TextIOWrapper
from pathlib import Path

_RESEMBLING = "referee-resembling"
"""Name of the error handler, as codecs knows it."""
_IN_ASCII = dict(zip("·╲★✶■●♣◆…±½", (*".\\*8#O&^", "...", "+-", ".5"), strict=True))
"""Signs that boards, tables and texts have -> what stands for them; on a board, no two are alike."""


def _resemble(error: UnicodeError) -> tuple[str, int]:
    """Return what is written in place of signs that can't be, and where the text goes on; called by codecs."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(_IN_ASCII.get(sign) or _escape(sign) for sign in signs), error.end


def _escape(sign: str) -> str:
    return sign.encode("ascii", "backslashreplace").decode()


codecs.register_error(_RESEMBLING, _resemble)


def write_any_sign() -> None:
    """Let no text fail to be printed, whatever the encoding of stdout and stderr, and if they are closed."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # it was closed before this process began
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115  # to the end
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=_RESEMBLING)
