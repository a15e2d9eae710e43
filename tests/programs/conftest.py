"""Folders in which players and organisers work."""

from pathlib import Path

import pytest


@pytest.fixture
def tmp_path(disk_path: Path) -> Path:
    """Give a test its own folder, on the disk."""
    return disk_path
