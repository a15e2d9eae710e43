"""Folders as players and organisers have them: a sandbox shows nothing of what lies beneath /dev."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Give a test its own folder, on the disk."""
    with TemporaryDirectory(prefix="referee-launch-") as folder:
        yield Path(folder).resolve()
