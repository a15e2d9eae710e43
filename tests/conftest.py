"""What holds for every test: a record that it wrote audits clean, unless the test says that it forges records."""

import gc
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from referee.plugins import find_format, installed
from referee.record.audit.match import audit
from referee.record.audit.tournament import audit_tournament
from referee.record.key import VARIABLE, load_or_make
from referee.record.reader import IsRedacted
from referee.record.redacted_record import check_redacted_record
from referee.record.tournament_record import is_tournament
from referee.tournament.pairing.dutch import pair_round

from .pages.postgresql import server

MEMORY = Path("/dev/shm")
"""A file system in memory, on Linux."""
FREE_BYTES = 1 << 30
"""All tests together need a tenth of that."""


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marks of this suite."""
    config.addinivalue_line("markers", "forges: writes records that must not hold")
    config.addinivalue_line("markers", "long: takes ten seconds or more, most of them waiting")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # run in the background: programs would inherit that
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config, "workerinput"):
        return  # a worker of pytest-xdist has the key of the process that started it
    # Each worker would translate all tests once more, and each process that they start the whole program.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if _is_quick(MEMORY):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    keys = tempfile.TemporaryDirectory(prefix="referee-key-")
    config.add_cleanup(keys.cleanup)
    os.environ[VARIABLE] = str(Path(keys.name) / "key.pem")  # never the user's own key
    load_or_make(Path(os.environ[VARIABLE]))


def _is_quick(folder: Path) -> bool:
    """Tell whether tests can have their files there: in memory, where no disk is waited for, and programs may run."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return False
    return (
        os.access(folder, os.W_OK) and not found.f_flag & os.ST_NOEXEC and found.f_bavail * found.f_frsize >= FREE_BYTES
    )


def pytest_collectstart() -> None:
    """Look for no garbage while tests are collected: all of it stays."""
    gc.disable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long: else one process would be left with it when the others have nothing more to do."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_collection_finish() -> None:
    """Leave out of collections what stays to the end: 12,000 tests would be gone through again and again."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """Run a PostgreSQL server while tests need one, and return the address of its database."""
    with server() as address:
        yield address


@pytest.fixture
def tmp_path(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """Give a test its own folder, and audit the records that it leaves there."""
    yield tmp_path
    _audit(tmp_path, request)


@pytest.fixture
def disk_path(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Give such a folder on the disk, for programs in a sandbox: that shows nothing of what lies beneath /dev."""
    with tempfile.TemporaryDirectory(prefix="referee-test-") as folder:
        yield Path(folder).resolve()
        _audit(Path(folder), request)


def _audit(folder: Path, request: pytest.FixtureRequest) -> None:
    """Audit the records in a folder, unless its test forges records."""
    if request.node.get_closest_marker("forges") is not None:
        return
    registry = installed()
    for path in folder.rglob("*.jsonl"):
        if is_tournament(path):
            audit_tournament(path, find_format, registry.game, partial(map, pair_round), is_strict=False)
            continue
        try:
            audit(path, registry.game, is_strict=False, find_wire=registry.wire)
        except IsRedacted:
            check_redacted_record(path, registry.game)
