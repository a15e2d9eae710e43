"""Names of files that were probably meant."""

from difflib import get_close_matches
from pathlib import Path


def near_path(path: Path) -> str:
    """Return the path beside another one that was probably meant by it, as a question; empty: there is none like it."""
    beside = {name: inner for inner in sorted(path.parent.glob("*")) for name in (inner.name, inner.stem)}
    return "".join(f"; did you mean {beside[name]}?" for name in get_close_matches(path.name, beside, n=1))
