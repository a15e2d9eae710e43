"""The hall of the tests of practice matches."""

from pathlib import Path
from typing import Any

import pytest

from .halls import Hall


@pytest.fixture
def hall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return one of a contest with two tournaments."""
    found = Hall(tmp_path, monkeypatch)
    yield found
    found.close()
    found.store.close()
