"""What the tests of the client share."""

from collections.abc import Iterator

import pytest

from .scripted import Serve


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Return what starts a scripted referee; at the end of the test each has said all its lines."""
    serve = Serve()
    yield serve
    serve.finish()
