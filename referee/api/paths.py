"""Checks paths that a Python program gives, and explains why a file can't be written."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import BadRequest
from ..games.arguments import describe

# Some programs catch the error class of this library, others the usual classes of Python. An error with both as bases
# suits both kinds of programs.


class CannotWrite(BadRequest, OSError):
    """A file or folder can't be written. It is an OSError as well, as Python programs expect."""


class FileIsThere(CannotWrite, FileExistsError):
    """A file exists and is not overwritten. It is a FileExistsError as well, as Python programs expect."""


def read_path(name: str, value: object) -> Path:
    """Return an argument that is a path.

    Raises:
        BadRequest: it is not a path, or no file can have it.

    >>> read_path("html", "logs/match.html").name
    'match.html'
    """
    if not isinstance(value, str | os.PathLike) or isinstance(path := os.fspath(value), bytes):
        raise BadRequest(f"{name} is a path, as text or as a pathlib.Path, not {describe(value)}")
    if not path:
        raise BadRequest(f"{name} is an empty path; give '.' for the folder that you are in")
    if "\0" in path:
        raise BadRequest(f"{name} has a null character, which no path can have: {describe(path)}")
    return Path(path)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn the system's refusal to write a file or folder into a sentence.

    Raises:
        FileIsThere: the file exists and is not overwritten.
        CannotWrite: it can't be written.
    """
    try:
        yield
    except FileExistsError as error:
        there = error.filename2 or error.filename or path
        raise FileIsThere(f"File exists: '{there}'; give another path, or remove it first") from None
    except OSError as error:
        raise CannotWrite(f"can't write {path}: {error.strerror}; give another path") from None
