"""The scene of the tests of practice matches."""

from pathlib import Path
from typing import Any

import pytest

from .practice_scene import PracticeScene


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return one of a contest with two tournaments."""
    found = PracticeScene(tmp_path, monkeypatch)
    yield found
    found.close()
    found.store.close()
