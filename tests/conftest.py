"""Rules for every test: without a needed program it is skipped, and its records must pass an audit unless forged."""

import gc
import os
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest
from hypothesis import settings

from referee import plugins
from referee.plugins import find_format, installed
from referee.record.audit.match import audit
from referee.record.audit.tournament import audit_tournament
from referee.record.key import VARIABLE, load_or_make
from referee.record.reader import IsRedacted
from referee.record.redacted_record import check_redacted_record
from referee.record.tournament_record import is_tournament
from referee.tournament.pairing.dutch import pair_round

from .needs import SEPARATOR, require
from .pages.postgresql import server

collect_ignore = [] if (Path(__file__).parents[2] / "shared" / "conformance").is_dir() else ["test_q_cases.py"]
"""The public cases of the Q course are not part of this repository; without them, their tests are not collected."""
MEMORY = Path("/dev/shm")
"""A file system in memory, on Linux."""
FREE_BYTES = 1 << 30
"""Ten times what all tests together need."""

# On a machine that also does other work, the time of an example says nothing about the code.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that `.ci/run` gives, on a machine that has everything."""
    parser.addoption("--nothing-skipped", action="store_true", help="Fail if a test was skipped.")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marks of this suite."""
    config.addinivalue_line("markers", "forges: writes records that must not hold")
    config.addinivalue_line("markers", "needs(program, ...): runs programs that a machine may lack; see needs.py")
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
    """Return whether tests can have their files there: in memory, with executable files."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return False
    return (
        os.access(folder, os.W_OK) and not found.f_flag & os.ST_NOEXEC and found.f_bavail * found.f_frsize >= FREE_BYTES
    )


def pytest_collectstart() -> None:
    """Collect no garbage while tests are collected, because all objects stay."""
    gc.disable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with slow tests; otherwise one process would still run them when the others are done."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_collection_finish() -> None:
    """Exclude permanent objects from collections, which would go through 12,000 tests again and again."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose programs this machine lacks."""
    require(*(program for mark in item.iter_markers("needs") for program in mark.args))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail a run that skipped a test, where nothing may be skipped."""
    if (
        session.config.getoption("nothing_skipped")
        and exitstatus == pytest.ExitCode.OK
        and _count_skipped(session.config)
    ):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print one line for each reason why tests were skipped: an absent program, and what to install."""
    for reason, count in sorted(_count_skipped(config).items()):
        terminalreporter.write_line(f"{count} {'test' if count == 1 else 'tests'} skipped: {reason}")
    if config.getoption("nothing_skipped") and _count_skipped(config):
        terminalreporter.write_line("no test may be skipped with --nothing-skipped", red=True)


def _count_skipped(config: pytest.Config) -> Counter[str]:
    """Return how many tests were skipped, by reason. A test that lacks two programs counts for both."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", ()) if reporter is not None else ()
    reasons = (str(report.longrepr[2]).removeprefix("Skipped: ") for report in skipped)
    return Counter(reason for text in reasons for reason in text.split(SEPARATOR))


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """Run a PostgreSQL server while tests need one, and return the address of its database."""
    with server() as address:
        yield address


@pytest.fixture(scope="module")
def example_packages() -> Iterator[None]:
    """Install the two packages of examples/ for the tests of a module."""
    packages = {"nim": "referee_nim.plugin", "openspiel": "referee_openspiel.plugin"}
    known = [
        *entry_points(group=plugins.GROUP),
        *(EntryPoint(name=name, value=value, group=plugins.GROUP) for name, value in packages.items()),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plugins, "entry_points", lambda group: known)
        plugins.installed.cache_clear()
        yield
    plugins.installed.cache_clear()


@pytest.fixture
def tmp_path(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """Give a test a folder of its own, and audit the records that it leaves there."""
    yield tmp_path
    _audit(tmp_path, request)


@pytest.fixture
def disk_path(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Give a test such a folder on the disk, for programs in a sandbox, which does not show /dev/shm."""
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
