"""Whether all records of the folders that are audited are there: what their manifests and their tournaments tell.

Refuses to look into the records, and to judge what is missing.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from rich.markup import escape

from ..cli.common import out
from ..record.audit.completeness import check_course
from ..record.manifest import NAME, check_manifest, record_files
from ..record.reader import RecordError
from ..record.spec_file import FILE as SPEC
from ..text import counted, printable

Facts = dict[str, list[dict[str, Any]]]


def broken(error: RecordError) -> dict[str, Any]:
    """Return what does not hold, plain."""
    return {"holds": False, "line": error.line, "expected": error.expected, "found": error.found}


def completeness(paths: Sequence[Path], keys: Collection[str]) -> Facts:
    """Check the manifests and the tournaments below folders.

    Args:
        paths: that are audited; files are passed over.
        keys: public keys, one of which must have signed a manifest; empty: the one that it names itself.

    Returns:
        Plain, `manifests` and `tournaments`, each with `holds`; `unlisted`, folders with records of no manifest.
    """
    facts: Facts = {"manifests": [], "tournaments": [], "unlisted": []}
    for folder in filter(Path.is_dir, paths):
        manifests = sorted(folder.rglob(NAME))
        facts["manifests"] += [_manifest(path, keys) for path in manifests]
        facts["tournaments"] += [_tournament(path) for path in sorted(folder.rglob(SPEC))]
        listed = {path.parent for path in manifests}
        unlisted = sum(listed.isdisjoint(path.parents) for path in record_files(folder))
        if unlisted:
            facts["unlisted"].append({"folder": str(folder), "records": unlisted})
    return facts


def _manifest(path: Path, keys: Collection[str]) -> dict[str, Any]:
    try:
        records = len(check_manifest(path.parent, keys).records)
    except RecordError as error:
        return {"manifest": str(path), "record": str(error.path), **broken(error)}
    return {"manifest": str(path), "holds": True, "records": records}


def _tournament(path: Path) -> dict[str, Any]:
    try:
        matches = len(check_course(path.parent))
    except RecordError as error:
        return {"spec": str(path), "record": str(error.path), **broken(error)}
    return {"spec": str(path), "holds": True, "matches": matches}


def show_completeness(facts: Facts) -> None:
    """Print what there is to say of the folders."""
    for one in facts["manifests"]:
        _show(
            one,
            f"the manifest {one['manifest']}",
            f"{counted(one.get('records', 0), 'record')}, none missing, none added",
        )
    for one in facts["tournaments"]:
        _show(
            one,
            f"the tournament {one['spec']}",
            f"{counted(one.get('matches', 0), 'match', 'matches')} opened, no record missing between them",
        )
    for one in facts["unlisted"]:
        records = counted(one["records"], "record")
        text = f"no manifest for {records} in {one['folder']}: a missing one might not be noticed"
        remedy = f"`referee manifest {one['folder']}` makes one"
        out.print(f"{text}; {remedy}", markup=False, highlight=False, soft_wrap=True)


def _show(one: dict[str, Any], what: str, holding: str) -> None:
    if one["holds"]:
        out.print(f"{what} holds: {holding}", markup=False, highlight=False, soft_wrap=True)
    else:
        where = "" if what.endswith(one["record"]) else f": {one['record']}"
        out.print(f"[red]BROKEN[/]  {escape(what + where)}", highlight=False, soft_wrap=True)
        show_difference(one)


def show_difference(one: dict[str, Any]) -> None:
    """Print what was expected, and what was found in its place."""
    out.print(f"  expected {printable(one['expected'])}", markup=False, highlight=False, soft_wrap=True)
    out.print(f"  found    {printable(one['found'])}", markup=False, highlight=False, soft_wrap=True)
