"""The folders of programs as bytes: they arrive whole, and no other bytes are accepted for them."""

from pathlib import Path

import msgspec
import pytest

from referee.cluster import programs
from referee.cluster.programs import Entry, ProgramStore, hash_folder, pack_folder
from referee.errors import RefereeError
from referee.programs.build import content_hash
from referee.record.folder import record_names


def program(folder: Path) -> Path:
    """Make a program's folder with every kind of entry; return it."""
    folder.mkdir()
    (folder / "player.toml").write_text('name = "ada"\nrun = "./run"\n')
    (folder / "run").write_bytes(b"#!/bin/sh\n")
    (folder / "run").chmod(0o755)
    (folder / "data" / "deep").mkdir(parents=True)
    (folder / "data" / "deep" / "empty").touch()
    (folder / "link").symlink_to("data/deep")
    (folder / "data" / "__pycache__").mkdir()
    (folder / "data" / "__pycache__" / "x.pyc").touch()
    return folder


def test_a_host_has_the_same_program(tmp_path: Path) -> None:
    """Content, links and executable bits are the same; files that a run makes are not sent."""
    folder = program(tmp_path / "ada")
    packed = pack_folder(folder, record_names, ())
    assert packed == pack_folder(folder, record_names, ())
    store, digest = ProgramStore(tmp_path / "programs"), hash_folder(packed)
    assert not store.has(digest)
    for _ in range(2):
        store.store(digest, packed)
    assert content_hash(store.path(digest)) == content_hash(folder)
    assert [path.name for path in (tmp_path / "programs").iterdir()] == [digest]
    (folder / "run").chmod(0o644)
    assert hash_folder(pack_folder(folder, record_names, ())) != digest


def test_what_was_half_unpacked_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next host in the folder removes it, if the last one was killed; whole programs stay."""
    folder, packed = tmp_path / "programs", pack_folder(program(tmp_path / "ada"), record_names, ())
    torn = msgspec.msgpack.encode([Entry("run", b"#!/bin/sh"), Entry("../out", b"")])
    with monkeypatch.context() as killed:
        killed.setattr(programs, "remove", lambda _: None)
        with pytest.raises(RefereeError):
            ProgramStore(folder).store(hash_folder(torn), torn)
    ProgramStore(folder).store(hash_folder(packed), packed)
    assert [path.name for path in folder.iterdir()] == [hash_folder(packed)]


def test_what_no_program_may_read_stays_here(tmp_path: Path) -> None:
    """Records in a program's folder, and keys, are not sent."""
    folder = program(tmp_path / "ada")
    hidden = (folder / "key",)
    before = pack_folder(folder, _private, hidden)
    (folder / "record").write_text("of a match")
    (folder / "key").write_text("secret")
    assert pack_folder(folder, _private, hidden) == before


def _private(_: Path) -> frozenset[str]:
    return frozenset({"record"})


@pytest.mark.parametrize(
    "entries",
    [
        [Entry("../out", b"")],
        [Entry("/out", b"")],
        [Entry("a/../../out", b"")],
        [Entry(".", b"")],
        [Entry("", b"")],
        [Entry("up", target=".."), Entry("up/out", b"")],
    ],
)
def test_nothing_is_written_outside(tmp_path: Path, entries: list[Entry]) -> None:
    """Such bytes are refused, and leave nothing."""
    packed = msgspec.msgpack.encode(entries)
    with pytest.raises(RefereeError):
        ProgramStore(tmp_path / "programs").store(hash_folder(packed), packed)
    assert (list(tmp_path.iterdir()), list((tmp_path / "programs").iterdir())) == ([tmp_path / "programs"], [])


@pytest.mark.parametrize("packed", [b"", b"\x91\x01", msgspec.msgpack.encode("text")])
def test_other_bytes_are_no_program(tmp_path: Path, packed: bytes) -> None:
    """Refused are bytes with another digest, and bytes that are not a folder."""
    store = ProgramStore(tmp_path / "programs")
    for digest in (hash_folder(packed), hash_folder(b"another")):
        with pytest.raises(RefereeError):
            store.store(digest, packed)
