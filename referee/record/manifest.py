"""MANIFEST.json, the signed list of all records of a folder. It shows whether a match was removed or added later."""

import hashlib
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
from msgspec import Struct

from ..files.reading import read_small
from ..files.whole import json_bytes, write_json
from .folder import record_files
from .key import MANIFEST_PURPOSE, Sealer, is_signed
from .reader import Chain, RecordError, check_key, read_chain, read_record
from .schema import Hex32, Hex64
from .tournament_record import TournamentHeader, is_tournament, read_tournament

NAME = "MANIFEST.json"
FORMAT = 1
MAX_BYTES = 1 << 26
"""Maximum size of a manifest, enough for about 300,000 records."""


class ManifestEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One record."""

    file: str
    """Path of the record within the folder."""
    match: str
    """Name of the match or of the tournament."""
    head: Hex32
    """Hash of the record's last line, the seal."""


class Manifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All records of a folder."""

    format: int
    key: Hex32
    """Public key that signed the manifest and sealed the records."""
    records: tuple[ManifestEntry, ...]
    """One entry for each record, by file name."""
    signature: Hex64


def write_manifest(folder: Path, sealer: Sealer) -> Manifest:
    """Sign the list of all records below a folder, and write it there. An older manifest is replaced.

    Raises:
        RecordError: a record does not hold, or is not sealed with this key.
        OSError: the file can't be written.
    """
    entries = []
    for path in record_files(folder):
        record = read_tournament(path) if is_tournament(path) else read_record(path)
        header = record.header
        if not record.is_sealed:
            raise RecordError(path, len(record.chain.lines), "a seal", "a record that is unfinished")
        check_key(path, 0, header.key, (sealer.public,))
        match = header.spec.name if isinstance(header, TournamentHeader) else header.setup.match
        name = path.relative_to(folder).as_posix()
        entries.append(ManifestEntry(file=name, match=match, head=record.chain.head))
    signature = sealer.sign(MANIFEST_PURPOSE, _digest(sealer.public, entries))
    manifest = Manifest(format=FORMAT, key=sealer.public, records=tuple(entries), signature=signature)
    write_json(folder / NAME, manifest)
    return manifest


def check_manifest(folder: Path, keys: Collection[str] = ()) -> Manifest:
    """Check a folder's manifest: its signature, and that no record is missing, was added or was changed.

    Args:
        folder: folder of the manifest and the records.
        keys: public keys, one of which must have signed the manifest. If empty, the key that it names counts.

    Raises:
        RecordError: the manifest is malformed, its signature is wrong, or it does not agree with the records.
    """
    path = folder / NAME
    try:
        data = read_small(path, MAX_BYTES)
        manifest = msgspec.json.decode(data, type=Manifest, strict=True)
    except OSError as error:
        raise RecordError(path, None, "a readable file", error.strerror or str(error)) from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise RecordError(path, None, f"a manifest of format {FORMAT}", str(error)) from None
    if manifest.format != FORMAT:
        raise RecordError(path, None, f"format {FORMAT}", f"format {manifest.format}")
    check_key(path, None, manifest.key, keys)
    if not is_signed(manifest.key, MANIFEST_PURPOSE, _digest(manifest.key, manifest.records), manifest.signature):
        raise RecordError(path, None, f"the signature of key {manifest.key}", manifest.signature)
    if data != json_bytes(manifest):
        raise RecordError(path, None, "the form that `referee manifest` writes", "another one")
    _check_files(folder, manifest)
    return manifest


def _check_files(folder: Path, manifest: Manifest) -> None:
    there = {path.relative_to(folder).as_posix(): path for path in record_files(folder)}
    listed = {entry.file: entry for entry in manifest.records}
    if [entry.file for entry in manifest.records] != sorted(listed, key=PurePosixPath):
        raise RecordError(folder / NAME, None, "each record once, by its file", "another order, or one twice")
    if missing := sorted(listed.keys() - there.keys()):
        raise RecordError(folder / missing[0], None, "the record that the manifest lists", "no such file")
    if added := sorted(there.keys() - listed.keys()):
        raise RecordError(folder / added[0], None, "only records that the manifest lists", "this one")
    for name, entry in listed.items():
        chain = read_chain(there[name])
        if chain.head != entry.head:
            raise RecordError(there[name], None, f"the head that the manifest lists, {entry.head}", chain.head)
        match = _find_name(chain)
        if match != entry.match:
            raise RecordError(folder / NAME, None, f"the name of {name}, {match}", entry.match)


def _find_name(chain: Chain) -> object:
    """Return the name of a record's match or tournament; None if it has none."""
    fields = chain.lines[0].fields if chain.lines else {}
    spec = fields.get("setup", fields.get("spec"))
    return spec.get("match", spec.get("name")) if isinstance(spec, dict) else None


def _digest(key: str, records: Any) -> str:
    return hashlib.sha256(msgspec.json.encode([FORMAT, key, records])).hexdigest()
