"""Harmful versions: every trouble in a check becomes that version's verdict, and the service goes on."""

import errno
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.defer import CancelledError, Deferred, execute
from twisted.internet.task import Clock

from referee.files.tree import BadTree
from referee.programs.processes import OwnProcess
from referee.web.submissions import check_queue as module
from referee.web.submissions.check_queue import RETRY_S, CheckQueue
from referee.web.submissions.store import Store, StoreError, VersionState

from .receptions import archive, receiving


def test_folders_within_folders_end_nothing(tmp_path: Path) -> None:
    """A check that leaves 1,500 of them ends the service neither while it runs nor at its next start."""
    with receiving(tmp_path) as service:
        assert service.hand_in("ada", archive("nest"))["state"] == "passed"
        assert service.hand_in("bob", archive())["state"] == "passed"
    versions = service.folder / ".versions" / "ada"
    left = versions / ".partial-x"  # left by a service that was killed
    left.mkdir()
    command = "import sys; from pathlib import Path; from tests.web.submissions.standin_check import nest; "
    subprocess.run([sys.executable, "-c", f"{command} nest(Path(sys.argv[1]))", str(left)], check=True)
    with receiving(tmp_path, tokens=service.tokens) as again:
        assert again.hand_in("ada", archive(note="more"))["state"] == "passed"
    assert sorted(path.name for path in versions.iterdir()) == ["0001", "0002"]


def test_a_check_that_crashes_tells_no_path_of_the_machine(tmp_path: Path) -> None:
    """The organiser gets its output; its author is told that the organiser has to know."""
    with receiving(tmp_path) as service:
        odd = service.hand_in("ada", archive("crash"))
        assert f"RecursionError: in {Path(__file__).parent}" in service.hears("check failed", "author ada, version 1")
    assert odd["state"] == "failed"
    assert odd["trouble"] == "the check could not be completed (exit status 1): ask the organiser"


class Service:
    """A queue of checks on a test's clock, with one version in it; the check itself is replaced."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "deferToThread", execute)
        self.store = Store(folder)
        self.clock = Clock()
        self.notes: list[dict[str, Any]] = []
        self.checks = CheckQueue(
            self.clock, self.store, lambda: "now", lambda event, **facts: self.notes.append(facts), ["no-such-check"]
        )
        self.checks.add("ada", self.store.hand_in("ada", archive(), "then")[0])

    def version(self) -> tuple[VersionState, str | None]:
        """Return the version's state and trouble."""
        found = self.store.version("ada", 1)
        assert found is not None
        return found.state, found.trouble


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """Return a queue of checks."""
    made = Service(tmp_path / "in", monkeypatch)
    yield made
    made.store.close()


def raising(error: Exception) -> Callable[..., Any]:
    """Return a function that raises an error."""

    def _raise(*_: Any) -> Any:
        raise error

    return _raise


IN_BACKGROUND = """trap "" INT; trap "exit 7" TERM; tail -f /dev/null & echo begun; wait"""
"""Program that checks for ever, ignores SIGINT like a background process, and cleans up at SIGTERM."""


def test_a_check_in_the_background_is_asked_to_end(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends by itself, and is not killed."""
    monkeypatch.setattr(module, "GRACE_S", 60.0)
    command = ("/bin/sh", "-c", IN_BACKGROUND)
    process = OwnProcess(command, output=subprocess.PIPE, errors=subprocess.DEVNULL)
    assert process.output is not None
    with process.output as told:
        assert told.readline() == b"begun\n"
        service.checks.sweep(process)
    assert process.wait() == 7


ERRORS = {
    "deep": (RecursionError("maximum recursion depth exceeded"), "(RecursionError): ask the organiser"),
    "odd path": (ValueError("embedded null byte in /srv/secret"), "(ValueError): ask the organiser"),
    "closed": (PermissionError(errno.EACCES, "Permission denied", "/srv/secret"), "(Permission denied): ask"),
    "tree": (BadTree("there are folders more than 64 deep: a/b"), "completed: there are folders more than 64 deep"),
}


@pytest.mark.parametrize(("error", "told"), ERRORS.values(), ids=ERRORS)
def test_what_comes_up_is_a_verdict(service: Service, error: Exception, told: str) -> None:
    """The author sees no path of the machine, and the next version is checked."""
    service.store.begin = raising(error)  # type: ignore[method-assign]
    running = Deferred.fromCoroutine(service.checks.run())
    state, trouble = service.version()
    assert (state, told in (trouble or ""), "/srv" in (trouble or "")) == (VersionState.FAILED, True, False)
    assert service.checks.current is None
    assert not running.called
    assert "author" in service.notes[0]
    stop(running)


MACHINE = {
    "full": OSError(errno.ENOSPC, "No space left on device"),
    "descriptors": OSError(errno.EMFILE, "Too many open files"),
    "store": StoreError("version.json is damaged"),
}


@pytest.mark.parametrize("error", MACHINE.values(), ids=MACHINE)
def test_trouble_of_the_machine_is_waited_out(
    service: Service, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk says nothing about a program: its check is made when there is room."""
    monkeypatch.setattr(service.store, "begin", raising(error))
    running = Deferred.fromCoroutine(service.checks.run())
    assert service.version() == (VersionState.WAITING, None)
    monkeypatch.setattr(service.store, "begin", raising(BadTree("x can't be read")))
    service.clock.advance(RETRY_S)
    assert service.version() == (VersionState.FAILED, "the check could not be completed: x can't be read")
    stop(running)


def test_what_comes_up_behind_a_verdict_ends_nothing(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The version is checked once more, and so are the others."""
    monkeypatch.setattr(service.store, "begin", raising(BadTree("x can't be read")))
    with monkeypatch.context() as patched:
        patched.setattr(service.store, "conclude", raising(RuntimeError("who knows")))
        running = Deferred.fromCoroutine(service.checks.run())
    assert (service.version()[0], running.called) == (VersionState.WAITING, False)
    service.clock.advance(RETRY_S)
    assert service.version()[0] == VersionState.FAILED
    stop(running)


def test_a_version_that_is_being_unpacked_is_put_off_whole(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder is removed once no file is written into it any more."""
    unpacking, folders, over = Deferred[None](), list[Path](), list[Any]()

    def _run(function: Callable[..., Any], *args: Any) -> "Deferred[Any]":
        if function != service.store.begin:
            return execute(function, *args)
        folders.append(args[-1])
        return unpacking

    monkeypatch.setattr(module, "deferToThread", _run)
    running = Deferred.fromCoroutine(service.checks.run())
    running.addErrback(lambda failure: failure.trap(CancelledError)).addCallback(over.append)
    running.cancel()
    assert (over, folders[0].parent.exists()) == ([], True)
    unpacking.callback(None)
    assert (over, folders[0].parent.exists()) == ([CancelledError], False)
    assert service.version()[0] == VersionState.WAITING


def stop(running: "Deferred[None]") -> None:
    """Stop a queue of checks."""
    running.addErrback(lambda failure: failure.trap(CancelledError) and None)
    running.cancel()
    assert running.called
