"""A copy of a player's folder that one program is shown, in one match: nothing of it is shared with another's.

What the kernel keeps with a file, such as what of it is in memory, would otherwise be seen by the player's other seats,
and by its next match.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from ..files.copies import LeftOut, copied
from ..files.scratch import memory_for, scratch
from ..files.tree import opened_folder, walk
from .file_view import FileAccess, private_to
from .player_spec import Launch, telling_whose
from .program import Confinement
from .visible_paths import is_shared

_PAGE_BYTES = 4096
"""What an entry takes at least."""


def is_copied(launch: Launch, confinement: Confinement) -> bool:
    """Tell whether a program is shown a copy: in a sandbox, unless its folder is none of the player's own."""
    return confinement.sandbox is not None and launch.folder is not None and not is_shared(launch.where)


@contextmanager
def own_copy(launch: Launch, confinement: Confinement, access: FileAccess) -> Iterator[Path | None]:
    """Copy a player's folder, and remove the copy at the end; a killed referee's is removed when one is next made.

    Args:
        launch: the player.
        confinement: what its program is held to.
        access: what it may not read: that is not copied.

    Returns:
        The copy; None if the program is shown its files themselves.

    Raises:
        PlayerError: the folder can't be copied.
        OSError: the disk can't take the copy.
    """
    if not is_copied(launch, confinement):
        yield None
        return
    key, hidden = _key(launch, confinement, access)
    left_out = private_to(launch.where, hidden, confinement.private_names)
    with telling_whose(launch.place, "copied"):
        place = memory_for(_size_bytes(launch.place, left_out))
    with scratch("player", place) as above:
        folder = above / "copy"
        try:
            folder.mkdir()
            with opened_folder(folder) as target, telling_whose(launch.place, "copied"):
                copied(launch.place, target, left_out=left_out, is_new=True)
                if confinement.images is not None:
                    confinement.images.hold(key, launch.place, left_out)
        except OSError as error:
            detail = f"{error.strerror}: {launch.place} is copied into {above} for a match"
            raise OSError(error.errno, f"{detail}; TMPDIR may name another place") from None
        yield folder


def quick_copy(
    launch: Launch, confinement: Confinement, access: FileAccess
) -> AbstractContextManager[Path | None] | None:
    """Return what makes a copy at once; None if its folder is not held in memory, or has changed since.

    Args:
        launch: the player.
        confinement: what its program is held to.
        access: what it may not read.
    """
    key, _ = _key(launch, confinement, access)
    image = None if confinement.images is None else confinement.images.current(key)
    return None if image is None else image.copied()


def _key(launch: Launch, confinement: Confinement, access: FileAccess) -> tuple[tuple[object, ...], list[Path]]:
    """Return what tells a copy from any other, and what must not be in it."""
    theirs = (folder for folder in access.others if not launch.where.is_relative_to(folder))
    hidden = [*confinement.hidden, *access.hidden, *theirs]
    return (launch.place, *hidden), hidden


def _size_bytes(folder: Path, left_out: LeftOut) -> int:
    """Return how much memory a copy takes, about: a few small files are copied there in a third of the time."""
    return sum(node.status.st_size + _PAGE_BYTES for node in walk(folder, left_out=left_out))
