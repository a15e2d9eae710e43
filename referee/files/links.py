"""Finds out where symbolic links lead from their names alone, without touching the disk."""

from collections.abc import Mapping

MAX_HOPS = 40
"""Most links on one path; the kernel follows no more, so nothing can be reached through them."""
MAX_STEPS = 1_000_000
"""Most names on all paths together: a second's work."""


class TangledLinksError(Exception):
    """There are too many links, or too long ones, to find out where they lead."""


class SymbolicLinks:
    """The links of one folder.

    Args:
        targets: path of each link within the folder, with slashes -> its target.
        places: absolute paths of the folder, without a slash at the end.
    """

    def __init__(self, targets: Mapping[str, str], places: tuple[str, ...]) -> None:
        self._targets = targets
        self._places = places
        self._steps = 0

    def escaping(self) -> str | None:
        """Return the path of a link that leads out of the folder; None if there is none.

        Raises:
            TangledLinksError: the links are too many or too long.
        """
        return next((path for path in self._targets if not self._stays(path)), None)

    def _stays(self, path: str) -> bool:
        """Return whether a link stays within the folder, as the kernel would follow it."""
        reached: list[str] = []
        ahead = path.split("/")[::-1]
        hops = 0
        while ahead:
            self._steps += 1
            if self._steps > MAX_STEPS:
                raise TangledLinksError
            name = ahead.pop()
            if name in ("", "."):
                continue
            if name == "..":
                if not reached:
                    return False
                reached.pop()
                continue
            reached.append(name)
            target = self._targets.get("/".join(reached))
            if target is None:
                continue
            hops += 1
            if hops > MAX_HOPS:
                return True
            reached.pop()
            if target.startswith("/"):
                inside = self._inside(target)
                if inside is None:
                    return False
                reached, target = [], inside
            ahead += target.split("/")[::-1]
        return True

    def _inside(self, target: str) -> str | None:
        """Return the part of an absolute path after the folder; None if it is outside."""
        for place in self._places:
            if target == place or target.startswith(f"{place}/"):
                return target[len(place) :]
        return None
