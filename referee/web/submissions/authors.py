"""Who may ask, by its token."""

from pathlib import Path

from ...net.links.tokens import BadTokens, name_of, read_tokens


class Authors:
    """Who may hand in: the file of tokens, read again whenever it changes.

    Args:
        path: of the file.

    Raises:
        BadTokens: it can't be used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._hashes = read_tokens(path)
        self._stamp = self._look()

    def find_name(self, token: str | None) -> str | None:
        """Return whose token it is; None if it is nobody's. A file that became unusable changes nothing."""
        self._refresh()
        return name_of(token, self._hashes)

    def find_hash(self, name: str) -> str | None:
        """Return the SHA-256 of the token that somebody has now, in hex; None if nobody is called so."""
        self._refresh()
        return self._hashes.get(name)

    def names(self) -> list[str]:
        """Return who there is, in the order of the file."""
        self._refresh()
        return list(self._hashes)

    def _refresh(self) -> None:
        stamp = self._look()
        if stamp not in (None, self._stamp):
            self._stamp = stamp
            try:
                self._hashes = read_tokens(self._path)
            except BadTokens:
                self._stamp = None  # it may be written this very moment: look again

    def _look(self) -> tuple[int, int, int] | None:
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns
