"""The signed list of a folder's records: no record can be removed, added or exchanged unnoticed."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import msgspec
import pytest
from msgspec.structs import replace

from referee.files.whole import write_json
from referee.record.key import MANIFEST_PURPOSE, Sealer
from referee.record.manifest import NAME, Manifest, ManifestEntry, check_manifest, write_manifest
from referee.record.reader import RecordError

from .forging import digest, encoded
from .records import SEALER, record_of, tell
from .tournaments import Organiser, cup, first_match

STORIES = ("clean", "illegal move", "void")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of records with its manifest."""
    for name in STORIES:
        (tmp_path / "round1").mkdir(exist_ok=True)
        (tmp_path / "round1" / f"{name}.jsonl").write_bytes(record_of(name))
    write_manifest(tmp_path, SEALER)
    return tmp_path


def test_a_manifest_lists_every_record_and_its_head(folder: Path) -> None:
    """Files are listed by name, below the folder, and the list has all of them."""
    manifest = check_manifest(folder, [SEALER.public])
    assert [entry.file for entry in manifest.records] == [f"round1/{name}.jsonl" for name in STORIES]
    assert {entry.match for entry in manifest.records} == {"m"}
    write_manifest(folder, SEALER)
    assert check_manifest(folder) == manifest


def _take_away(folder: Path) -> None:
    (folder / "round1" / "void.jsonl").unlink()


def _slip_in(folder: Path) -> None:
    (folder / "more.jsonl").write_bytes(record_of("flood"))


def _exchange(folder: Path) -> None:
    (folder / "round1" / "void.jsonl").write_bytes(record_of("flood"))


def _rename(folder: Path) -> None:
    (folder / "round1" / "void.jsonl").rename(folder / "void.jsonl")


def _unlist(folder: Path) -> None:
    _take_away(folder)
    manifest = msgspec.json.decode((folder / NAME).read_bytes(), type=Manifest)
    shorter = msgspec.structs.replace(manifest, records=manifest.records[:-1])
    (folder / NAME).write_bytes(msgspec.json.encode(shorter))


def _sign_anew(folder: Path) -> None:
    manifest = msgspec.json.decode((folder / NAME).read_bytes(), type=Manifest)
    (folder / NAME).write_bytes(msgspec.json.encode(msgspec.structs.replace(manifest, key=Sealer.new().public)))


def _break_off(folder: Path) -> None:
    data = (folder / NAME).read_bytes()
    (folder / NAME).write_bytes(data[: len(data) // 2])


def _of_the_future(folder: Path) -> None:
    data = (folder / NAME).read_bytes()
    (folder / NAME).write_bytes(data.replace(b'"format": 1', b'"format": 2'))


def _indent(folder: Path) -> None:
    data = (folder / NAME).read_bytes()
    (folder / NAME).write_bytes(msgspec.json.format(data, indent=4))


def _delete(folder: Path) -> None:
    (folder / NAME).unlink()


def _signed(folder: Path, change: Callable[[list[ManifestEntry]], list[ManifestEntry]]) -> None:
    """Sign another list with the referee's own key."""
    manifest = check_manifest(folder)
    listed = tuple(change([*manifest.records]))
    signature = SEALER.sign(MANIFEST_PURPOSE, digest(encoded([1, SEALER.public, listed])))
    write_json(folder / NAME, replace(manifest, records=listed, signature=signature))


def _call_otherwise(folder: Path) -> None:
    _signed(folder, lambda listed: [replace(listed[0], match="x"), *listed[1:]])


def _list_twice(folder: Path) -> None:
    _signed(folder, lambda listed: [listed[0], *listed])


def _turn_round(folder: Path) -> None:
    _signed(folder, lambda listed: listed[::-1])


@pytest.mark.parametrize(
    ("change", "where", "found"),
    [
        (_call_otherwise, NAME, "expected the name of round1/clean.jsonl, m; found x"),
        (_list_twice, NAME, "each record once"),
        (_turn_round, NAME, "each record once"),
        (_take_away, "round1/void.jsonl", "no such file"),
        (_slip_in, "more.jsonl", "this one"),
        (_exchange, "round1/void.jsonl", "expected the head"),
        (_rename, "round1/void.jsonl", "no such file"),
        (_unlist, NAME, "expected the signature"),
        (_sign_anew, NAME, "expected the signature"),
        (_break_off, NAME, "expected a manifest"),
        (_of_the_future, NAME, "expected format 1"),
        (_indent, NAME, "expected the form that `referee manifest` writes"),
        (_delete, NAME, "No such file"),
    ],
)
def test_a_change_is_found(folder: Path, change: Callable[[Path], None], where: str, found: str) -> None:
    """The wrong file is named."""
    change(folder)
    with pytest.raises(RecordError, match=found) as caught:
        check_manifest(folder)
    assert caught.value.path == folder / where


def test_another_key_is_not_the_organisers(folder: Path) -> None:
    """A manifest with a key that the auditor does not know does not hold."""
    with pytest.raises(RecordError, match="expected key"):
        check_manifest(folder, [Sealer.new().public])


@pytest.mark.parametrize("name", ["unfinished", "dealt, unfinished"])
def test_only_sealed_records_are_listed(tmp_path: Path, name: str) -> None:
    """An unfinished match, or one of another key, prevents the manifest."""
    tell(name).write(tmp_path / "m.jsonl")
    with pytest.raises(RecordError, match="expected a seal; found a record that is unfinished"):
        write_manifest(tmp_path, SEALER)
    (tmp_path / "m.jsonl").write_bytes(record_of("clean"))
    with pytest.raises(RecordError, match="expected key"):
        write_manifest(tmp_path, Sealer.new())
    assert not (tmp_path / NAME).exists()


def test_the_record_of_a_tournament_is_listed_under_its_name(tmp_path: Path) -> None:
    """It is listed like those of its matches. If its referee crashed or still plays, there is no manifest."""
    with Organiser(tmp_path / "cup", cup(), Random(1)) as organiser:
        organiser.play(1, at_once=1)
        with pytest.raises(RecordError, match=r"cup\.jsonl, line .*: expected a seal"):
            write_manifest(tmp_path, SEALER)
    listed = {entry.file: entry.match for entry in write_manifest(tmp_path, SEALER).records}
    assert listed == {f"cup/{name}.jsonl": name for name in ("cup", first_match(tmp_path / "cup"))}
    check_manifest(tmp_path)
