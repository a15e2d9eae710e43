"""Common parts of the tests of the client."""

from collections.abc import Iterator

import pytest

from .scripted import Serve


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Return a function that starts a scripted referee; at the end of the test each has sent all its lines."""
    serve = Serve()
    yield serve
    serve.finish()
