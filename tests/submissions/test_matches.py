"""Whose a match is: by the folder that the organiser started, never by a name that a player chose."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from referee.plugins import load
from referee.record.explain import Heard
from referee.record.redact import check_redacted
from referee.submissions.matches import Matches
from referee.submissions.store import Store, Verdict
from tests.cli.test_commands import referee

from .receptions import archive
from .test_store import NOW

PASSING = "from protocol.client import run\nrun(lambda view: {'action': 'pass'})\n"


def player(name: str) -> bytes:
    """Return the archive of a player in Python that passes, and calls itself something."""
    from referee.submissions.archive import Entry, pack

    toml = f'name = "{name}"\nrun = "{sys.executable} main.py"\n'
    return pack([Entry(path="player.toml", data=toml.encode()), Entry(path="main.py", data=PASSING.encode())])
