"""`referee manifest`: sign the list of a folder's records."""

from pathlib import Path

import rich_click as click

from ...app.services import find_sealer
from ...record.folder import record_files
from ...record.manifest import NAME, write_manifest
from ...text import counted
from ..common import EXISTING_FOLDER, FILE, console, json_option, out, print_json


@click.command(epilog="Example:  referee manifest logs/spring-contest")
@click.argument("folder", type=EXISTING_FOLDER)
@click.option("--key", "path", type=FILE, help="The key that sealed them.")
@json_option
def manifest(folder: Path, path: Path | None, as_json: bool) -> None:
    """Sign the list of all records below FOLDER, so that none can be taken away or slipped in.

    It is written to FOLDER/MANIFEST.json; `referee audit FOLDER` checks it from then on. The folder of a tournament
    needs none: the tournament's own record is signed, and tells of every match.

    Exit status: 0 written, 1 a record is missing or has no seal of this key, 2 usage error.
    """
    if not record_files(folder):
        raise click.UsageError(f"there is no record (*.jsonl) in {folder}")
    written = write_manifest(folder, find_sealer(path, console.say))
    if as_json:
        print_json({"manifest": str(folder / NAME), "key": written.key, "records": len(written.records)})
    else:
        out.say(f"{folder / NAME}: {counted(len(written.records), 'record')}")
