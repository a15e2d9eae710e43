"""Sequences that say in a sentence what index they have not."""

from collections.abc import Iterable
from typing import SupportsIndex, TypeVar, overload

from ..games.arguments import describe

T = TypeVar("T")


class Numbered(tuple[T, ...]):  # noqa: SLOT001  # a tuple has no room for more slots
    """A tuple of what a match or a tournament has; `what` names that in the plural."""

    what: str

    def __new__(cls, values: Iterable[T], what: str = "entries") -> "Numbered[T]":
        """Return the values, with their name."""
        made = super().__new__(cls, values)
        made.what = what
        return made

    @overload
    def __getitem__(self, at: SupportsIndex) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[T, ...]: ...
    def __getitem__(self, at: SupportsIndex | slice) -> T | tuple[T, ...]:
        """Return one of them, or some.

        Raises:
            IndexError: there are not so many.
            TypeError: that is neither a whole number nor a slice.
        """
        try:
            return super().__getitem__(at)
        except IndexError:
            numbers = f", numbered from 0 to {len(self) - 1}" if self else ""
            raise IndexError(f"there are {len(self)} {self.what}{numbers}; there is no number {describe(at)}") from None
        except TypeError:
            raise TypeError(f"{self.what} are chosen by a whole number or a slice, not by {describe(at)}") from None
