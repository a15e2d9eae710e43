"""The folder of versions: what is stored, what plays, what is refused, and the state after a kill."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from referee.programs.player_spec import read_folder
from referee.web.submissions import store as module
from referee.web.submissions.store import CheckOutcome, Store, StoreError, VersionRefused, VersionState

from .receptions import archive

NOW = "2026-05-04T03:02:01.000+00:00"
PASSED, FAILED = CheckOutcome(passed=True, report={"steps": []}), CheckOutcome(passed=False, trouble="it hangs")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """Return a store with room for four versions."""
    monkeypatch.setattr(module, "MAX_VERSIONS", 4)
    made = Store(tmp_path / "in")
    yield made
    made.close()


def taken(store: Store, note: str, verdict: CheckOutcome) -> int:
    """Hand a version in and give it a verdict; return its number."""
    version, is_new = store.hand_in("ada", archive(note=note), NOW)
    assert is_new
    store.conclude("ada", version.number, verdict, NOW)
    return version.number


def note(store: Store) -> str:
    """Return the note in the version that plays."""
    return (store.root / "ada" / "note").read_text()


def test_the_latest_version_that_passed_plays(store: Store) -> None:
    """A failed version changes nothing, one that passes replaces the last, and all stay as they came."""
    numbers = [taken(store, "a", PASSED), taken(store, "b", FAILED)]
    assert note(store) == "a"
    playing = (store.root / "ada").resolve()
    numbers.append(taken(store, "c", PASSED))
    assert (note(store), (playing / "note").read_text()) == ("c", "a")
    assert numbers == [1, 2, 3]
    assert [version.state for version in store.versions("ada")] == [
        VersionState.PASSED,
        VersionState.FAILED,
        VersionState.PASSED,
    ]
    assert (store.report("ada", 1), store.report("ada", 2)) == ({"steps": []}, None)
    assert store.version("ada", 2).trouble == "it hangs"  # type: ignore[union-attr]  # it is there
    kept = store.root / ".versions" / "ada"
    assert [(kept / f"000{number}" / "archive.tar.gz").read_bytes() for number in numbers] == [
        archive(note=name) for name in "abc"
    ]
    assert [path.name for path in store.root.iterdir() if path.name[0] != "."] == ["ada"]
    assert read_folder(store.root / "ada").name == "mine"


def test_an_author_goes_back_until_a_newer_version_passes(store: Store) -> None:
    """A failed version can't be chosen, and a restarted referee knows the choice."""
    for name, verdict in (("a", PASSED), ("b", FAILED), ("c", PASSED)):
        taken(store, name, verdict)
    with pytest.raises(VersionRefused, match="version 2 has not passed"):
        store.choose("ada", 2)
    store.choose("ada", 1)
    store.recover()
    assert (store.present("ada"), note(store)) == (1, "a")
    taken(store, "d", PASSED)
    assert (store.present("ada"), note(store)) == (4, "d")


def test_a_check_works_on_a_copy(store: Store, tmp_path: Path) -> None:
    """Build results are no part of the version; the version that plays is the one that was handed in."""
    store.hand_in("ada", archive(), NOW)
    store.begin("ada", 1, tmp_path / "player")
    (tmp_path / "player" / "built").touch()
    store.conclude("ada", 1, PASSED, NOW)
    assert sorted(path.name for path in (store.root / "ada").iterdir()) == ["does", "note", "player.toml"]


def test_what_is_not_taken(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused are another version while one waits, and more versions or bytes than there is room for."""
    store.hand_in("ada", archive(note="a"), NOW)
    assert store.hand_in("ada", archive(note="a"), NOW)[1] is False
    with pytest.raises(VersionRefused, match="version 1 is not checked yet"):
        store.hand_in("ada", archive(note="b"), NOW)
    store.conclude("ada", 1, FAILED, NOW)
    assert [taken(store, "a", FAILED) for _ in range(2)] == [2, 3]
    with monkeypatch.context() as full:
        full.setattr(module, "MAX_AUTHOR_BYTES", 800)
        with pytest.raises(VersionRefused, match="more is not allowed"):
            store.hand_in("ada", archive(note="d"), NOW)
        full.setattr(module, "MIN_FREE_BYTES", 1 << 60)
        with pytest.raises(VersionRefused, match="the disk of the contest is nearly full"):
            store.hand_in("bob", archive(note="d"), NOW)
    assert taken(store, "d", PASSED) == 4
    with pytest.raises(VersionRefused, match="you have handed in 4 versions"):
        store.hand_in("ada", archive(note="e"), NOW)
    assert store.hand_in("bob", archive(note="e"), NOW)[0].number == 1


def test_a_kill_loses_nothing(store: Store, tmp_path: Path) -> None:
    """A half-written version is removed, waiting ones are checked in order, and a lost link is restored."""
    taken(store, "a", PASSED)
    store.hand_in("bob", archive(note="b"), "2026-05-04T04:00:00+00:00")
    store.hand_in("ada", archive(note="c"), "2026-05-04T05:00:00+00:00")
    store.begin("bob", 1, tmp_path / "player")
    kept = store.root / ".versions" / "ada"
    (kept / ".partial-x" / "player").mkdir(parents=True)
    (kept / ".partial-link").symlink_to("nowhere")
    (store.root / "ada").unlink()
    store.close()
    again = Store(store.root)
    assert [(author, version.number) for author, version in again.recover()] == [("bob", 1), ("ada", 2)]
    assert sorted(path.name for path in kept.iterdir()) == ["0001", "0002"]
    assert note(again) == "a"
    assert [version.attempts for version in again.versions("bob")] == [1]
    again.put_off("bob", 1)
    assert [version.attempts for version in again.versions("bob")] == [0]
    again.close()


def test_a_folder_that_was_moved_is_healed(store: Store, tmp_path: Path) -> None:
    """Links are absolute, so they are set again in a folder that was moved."""
    taken(store, "a", PASSED)
    store.close()
    moved = store.root.rename(tmp_path / "elsewhere")
    again = Store(moved)
    again.recover()
    assert note(again) == "a"
    again.close()


TROUBLES: dict[str, tuple[Callable[[Path], object], str]] = {
    "entry": (lambda root: (root / ".versions/ada/0001/version.json").write_text("{"), "is damaged"),
    "no entry": (lambda root: (root / ".versions/ada/0001/version.json").unlink(), "ask ada to hand it in again"),
    "a folder in the link's place": (
        lambda root: [(root / "ada").rename(root / "bob"), shutil.copytree(root / "bob", root / "ada")],
        "would play instead of the versions of ada; move it away",
    ),
}


@pytest.mark.parametrize(("spoil", "error"), TROUBLES.values(), ids=TROUBLES)
def test_what_was_tampered_with_is_named(store: Store, spoil: Callable[[Path], object], error: str) -> None:
    """The referee does not guess about a folder that somebody changed by hand."""
    taken(store, "a", PASSED)
    spoil(store.root)
    with pytest.raises(StoreError, match=error):
        store.recover()


def test_one_referee_at_a_time(store: Store, tmp_path: Path) -> None:
    """A folder that another referee has open, or that can't be made, is refused."""
    with pytest.raises(StoreError, match="another referee accepts submissions"):
        Store(store.root)
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="can't write"):
        Store(tmp_path / "file" / "in")
