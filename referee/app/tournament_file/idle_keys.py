"""Warns of what is right in a tournament's file, and does nothing there."""

import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

from ...tournament.pairing.base import PairingFormat
from .sheet import Sheet


def warn_of_idle(sheet: Sheet, folder: Path, form: PairingFormat[Any] | None, remotes: Collection[str]) -> None:
    """Warn of keys that change nothing in this tournament, and of records that can't be written.

    Args:
        sheet: the file.
        folder: of the records.
        form: the pairing format; None: it is not known.
        remotes: the remote entrants.
    """
    if form is not None and not form.gives_late_byes and "late_bye" in sheet.values.get("scoring", {}):
        sheet.warn(f"scoring.late_bye has no effect: in the format {form.name}, nobody gets a bye for coming late")
    if not remotes:
        for key in sheet.values.get("remote", {}):
            sheet.warn(f"remote.{key} has no effect: no entrant is remote")
    there = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    if not os.access(there, os.W_OK | os.X_OK):
        sheet.warn(f"records can't be written: you may not write into {there}; name another folder as logs")
