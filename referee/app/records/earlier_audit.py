"""Results of an earlier audit, kept by the auditor: a record that has not changed since is not audited again.

A person who can write this file decides what holds. So it is accepted only from the user who runs the audit, and not
from an audited folder. It is about bytes, not about files: it says nothing of a record that was changed or sealed
again, and what it says of some bytes is true wherever they lie.
"""

import hashlib
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Self

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ...errors import BadRequest
from ...files.reading import open_descriptor
from ...files.whole import write_whole
from ...plugins import installed
from ...record.audit.times import Presence
from ...record.audit.tournament import MatchProof
from ...record.schema import FIRST_PREV
from .audit_reports import Demands, SoundRecord
from .tournament_audit import Examined, Head, demanded_heads

# Only sealed records that hold are kept. Whether an unsealed record holds depends on what the auditor demands, and a
# later audit may demand something else. A broken record is audited again each time.
#
# The code of the referee and of its plugins belongs to the result (see `_auditor`): after an upgrade everything is
# audited again, because the old version may have let a bad record pass.
_CODE = (".py", ".toml")
_PREV = re.compile(rb'\{"n":(\d+),"prev":"([0-9a-f]{64})"')
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class _EarlierRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A sealed record that holds, with the parts that are compared with other records."""

    digest: str
    """SHA-256 of its file."""
    report: SoundRecord
    proof: MatchProof | None
    opening: str | None
    presences: tuple[Presence, ...]


class EarlierAudit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Results of audits by the same version of everything that decides whether a record holds."""

    auditor: str
    found: list[_EarlierRecord] = []

    @classmethod
    def read(cls, path: Path, audited: Sequence[Path]) -> Self:
        """Read the results of an earlier audit; there are none if the file is missing or another version wrote it.

        Args:
            path: the file, which may be missing.
            audited: files and folders to audit now.

        Raises:
            BadRequest: another user could have written it, or no audit did, or it can't be read.
        """
        if any(path.resolve().is_relative_to(folder.resolve()) for folder in audited):
            raise BadRequest(f"{path} lies in what is audited: keep what you found where only you can write")
        nothing = cls(auditor=_auditor())
        try:
            with path.open("rb") as file:
                # The descriptor is asked for the owner, not the path: another file could be put there between two
                # calls.
                status, data = os.fstat(file.fileno()), file.read()
        except OSError as error:
            if isinstance(error, FileNotFoundError) and path.parent.is_dir():
                return nothing
            raise BadRequest(f"{path} can't be read: {error.strerror}") from None
        if status.st_uid != os.geteuid() or status.st_mode & _OTHERS_WRITE:
            raise BadRequest(f"others could have written {path}: own it alone, or remove it to audit everything again")
        try:
            earlier = msgspec.json.decode(data, type=cls, dec_hook=_path)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise BadRequest(f"no audit wrote {path} ({error}): name another file, or remove it") from None
        return earlier if earlier.auditor == nothing.auditor else nothing

    def unchanged(self, paths: Iterable[Path], demands: Demands) -> Iterator[Examined]:
        """Yield the results of files whose bytes were audited before, as an audit of them now would return them."""
        by_digest = {earlier.digest: earlier for earlier in self.found}
        for path in paths if by_digest and demands.seed is None else ():
            digest, heads = _digest(path, is_head_wanted=bool(demands.heads or demands.published))
            earlier = by_digest.get(digest)
            if earlier is not None and (not demands.keys or earlier.report.key in demands.keys):
                yield Examined(
                    path,
                    replace(earlier.report, record=str(path), tournament=_tournament(earlier.proof)),
                    proof=None if earlier.proof is None else replace(earlier.proof, path=path),
                    opening=earlier.opening,
                    heads=demanded_heads(heads, earlier.report.match, demands),
                    presences=earlier.presences,
                    digest=digest,
                )

    def others(self, examined: Sequence[Examined]) -> Iterator[Examined]:
        """Yield the records of earlier audits that are not among those examined now."""
        # Records that have been removed since are still compared. Otherwise an operator who sealed two versions of a
        # match could show one version to each audit.
        there = {match.digest for match in examined}
        for earlier in self.found:
            if earlier.digest not in there:
                report = replace(earlier.report, record=f"{earlier.report.record}, as it was audited before,")
                yield Examined(Path(earlier.report.record), report, opening=earlier.opening)

    def write(self, path: Path, examined: Iterable[Examined]) -> None:
        """Write the results of this audit and the earlier ones.

        Raises:
            BadRequest: the file can't be written.
        """
        by_digest = {earlier.digest: earlier for earlier in self.found}
        for match in examined:
            if type(match.report) is SoundRecord and match.report.state == "sealed":
                by_digest[match.digest] = _EarlierRecord(
                    digest=match.digest,
                    report=match.report,
                    proof=match.proof,
                    opening=match.opening,
                    presences=match.presences,
                )
        data = msgspec.json.encode(replace(self, found=list(by_digest.values())), enc_hook=str)
        try:
            write_whole(path, [data], mode=0o600)
        except OSError as error:
            raise BadRequest(f"{path} can't be written: {error.strerror}") from None


def _tournament(proof: MatchProof | None) -> str | None:
    context = None if proof is None else proof.header.context
    return None if context is None else context.tournament


def _path(kind: type, value: Any) -> Any:
    assert kind is Path, "nothing else is unknown to msgspec"
    return Path(value)


def _digest(path: Path, *, is_head_wanted: bool) -> tuple[str, set[Head]]:
    """Return the SHA-256 of a file and the hashes that its lines name; nothing if it can't be read."""
    digest, heads = hashlib.sha256(), set[Head]()
    try:
        # Without O_NONBLOCK, a named pipe among the records would make the audit wait forever.
        with open_descriptor(path, os.O_RDONLY | os.O_NONBLOCK) as descriptor:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return "", heads
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                if not is_head_wanted:
                    return hashlib.file_digest(file, "sha256").hexdigest(), heads
                for line in file:
                    digest.update(line)
                    # A pattern is enough here. The result is used only if these bytes were parsed and audited before.
                    if named := _PREV.match(line):
                        heads.add((int(named[1]) - 1, named[2].decode()))
                heads.discard((-1, FIRST_PREV))
    except (OSError, ValueError):
        return "", heads
    return digest.hexdigest(), heads


@cache
def _auditor() -> str:
    """Return a digest of the code and rules, of referee and plugins, that decide whether a record holds."""
    registry, digest = installed(), hashlib.sha256()
    for name, game in sorted(registry.games.items()):
        digest.update(f"{name} {game.rules_version}\0".encode())
    parts = (*registry.games.values(), *(dialect.wire() for dialect in registry.dialects.values()))
    for name in sorted({"protocol", "referee", *(part.__module__.partition(".")[0] for part in parts)}):
        module = sys.modules[name]
        folders = [Path(folder) for folder in getattr(module, "__path__", ())]
        code_files = [path for folder in folders for path in folder.rglob("*") if path.suffix in _CODE]
        for path in sorted(code_files) or [Path(str(module.__file__))]:
            digest.update(f"{name} {path.name}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()
