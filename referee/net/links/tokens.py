"""Tokens of players, and the file of the players that may sign up.

The file has lines of TOML in the order of the seats: `ada = "SHA-256 of her token in hex"`. It holds hashes only, so
somebody who reads it can't sign up.
"""

import fcntl
import hashlib
import hmac
import os
import re
import secrets
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from protocol.limits import NAME_FORM, NAME_PATTERN

from ...errors import BadRequest
from ...files.reading import BadText, read_small_text
from ...files.whole import write_whole

TOKEN_BYTES = 32
MAX_FILE_BYTES = 262_144
"""Room for two thousand players."""
_MAX_LINE_CHARS = 256
"""Room for a name and a hash. The time to parse a line grows with the square of its length."""
_HASH = re.compile(r"[0-9a-f]{64}")
_HEAD = "# Names that may sign in: name = SHA-256 of the token. Made by `referee token`.\n"


class BadTokens(BadRequest):
    """A file of players that can't be used; the text says where and why."""


def find_index(token: str | None, known: Sequence[str]) -> int | None:
    """Return the index of a token; None if it is wrong. Every token is compared in constant time, to give no hint."""
    given = (token or "").encode()
    matches = [hmac.compare_digest(given, other.encode()) for other in known]
    return matches.index(True) if True in matches else None


def find_name(token: str | None, hashes: Mapping[str, str]) -> str | None:
    """Return the name of a token's player; None if the token is wrong.

    Args:
        token: token that the player sent; None if it sent none.
        hashes: name -> SHA-256 of its token, in hex.
    """
    place = find_index(hashlib.sha256((token or "").encode()).hexdigest(), list(hashes.values()))
    return None if place is None else list(hashes)[place]


def read_tokens(path: Path) -> dict[str, str]:
    """Read the players of a file.

    Returns:
        Name -> SHA-256 of its token, in hex; in the order of the file.

    Raises:
        BadTokens: it can't be read, or is no file of players.
    """
    try:
        text = read_small_text(path, MAX_FILE_BYTES)
        if max(map(len, text.splitlines()), default=0) > _MAX_LINE_CHARS:
            raise BadTokens(f"{path}: a line is longer than {_MAX_LINE_CHARS} characters; one has a name and a hash")
        fields = tomllib.loads(text)
    except BadText as error:
        raise BadTokens(f"{path}: {error.strerror}") from None
    except OSError as error:
        raise BadTokens(f"{path}: {error.strerror}; `referee token NAME... --file {path}` makes such a file") from None
    except (ValueError, RecursionError) as error:  # no UTF-8, no TOML, a number of thousands of digits, or too deep
        raise BadTokens(f"{path}: {error}") from None
    for name, token_hash in fields.items():
        if not re.match(NAME_PATTERN, name):
            raise BadTokens(f"{path}: {name!r} is no player's name: a name has {NAME_FORM}")
        if not isinstance(token_hash, str) or not _HASH.fullmatch(token_hash):
            raise BadTokens(f"{path}: {name} needs the SHA-256 of its token, 64 hex digits; `referee token` writes it")
    return fields


def add_tokens(path: Path, names: Sequence[str], *, may_renew: bool) -> dict[str, str]:
    """Make a token for each name, and keep their hashes in a file that only its owner can read.

    Args:
        path: the file; made if missing.
        names: names of the players.
        may_renew: whether a player of the file gets a new token, which revokes its old one.

    Returns:
        Name -> token. No file has it, so this is the only time that it can be shown.

    Raises:
        BadTokens: the file is not valid or would be too long, or a name is not valid or exists already.
        OSError: the file can't be written.
    """
    for name in names:
        if not re.match(NAME_PATTERN, name):
            raise BadTokens(f"{name!r} is no player's name: a name has {NAME_FORM}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with _lock_folder(path.parent):
        hashes = read_tokens(path) if path.exists() else {}
        for name in names:
            if name in hashes and not may_renew:
                raise BadTokens(f"{path}: {name} has a token already; --renew gives it another one")
        tokens = {name: secrets.token_hex(TOKEN_BYTES) for name in names}
        new = {name: hashlib.sha256(token.encode()).hexdigest() for name, token in tokens.items()}
        _write(path, hashes | new)
    return tokens


def remove_token(path: Path, name: str) -> None:
    """Revoke a player's token.

    Args:
        path: the file.
        name: name of the token's player.

    Raises:
        BadTokens: the file is not valid, or has no such name.
        OSError: the file can't be written.
    """
    with _lock_folder(path.parent):
        hashes = read_tokens(path)
        if name not in hashes:
            raise BadTokens(f"{name!r} has no token")
        _write(path, {other: token_hash for other, token_hash in hashes.items() if other != name})


def _write(path: Path, hashes: Mapping[str, str]) -> None:
    content = _HEAD + "".join(f'{name} = "{token_hash}"\n' for name, token_hash in hashes.items())
    if len(content) > MAX_FILE_BYTES:
        raise BadTokens(f"{path} would be over {MAX_FILE_BYTES} bytes, and could not be read: begin another file")
    write_whole(path, [content.encode()], mode=0o600)


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Lock the files of this folder within a block: if two processes wrote at once, one change would be lost."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
