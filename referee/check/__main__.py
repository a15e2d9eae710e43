"""`python -m referee.check FOLDER`: check one program in a process of its own, and print the report as JSON.

The queue of submissions checks programs so: a check runs unknown code, and a process of its own can be killed. When a
step is over, its finding is printed as a line `{"step": ...}`; the last line is the report. Exit status: 0 all steps
passed, 1 a step failed, 2 the check could not be made.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import msgspec

from ..errors import RefereeError
from ..plugins import load
from ..programs.confining import find_confinement
from ..record.folder import record_names
from ..record.key import default_path
from ..settings import RunTerms
from .checking import report, run_check
from .context import CheckRequest
from .findings import Finding


def main() -> int:
    """Check the player that the command line names; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m referee.check")
    parser.add_argument("player")
    parser.add_argument("--terms", default="{}", metavar="JSON", help="the RunTerms for the program")
    arguments = parser.parse_args()
    request = CheckRequest(player=arguments.player)
    try:
        confinement = find_confinement(
            msgspec.json.decode(arguments.terms, type=RunTerms),
            hidden=(request.logs, default_path(os.environ)),
            private_names=record_names,
            warn=_warn,
        )
        findings = run_check(request, load(), confinement, _write_finding)
    except RefereeError as error:
        _warn(str(error))
        return 2
    result = report(Path(arguments.player).name, findings)
    _write(result)
    return 0 if result.passes else 1


def _write_finding(finding: Finding) -> None:
    _write({"step": finding})


def _write(value: Any) -> None:
    """Write a line of JSON in UTF-8, whatever the locale's encoding is."""
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
    sys.stdout.buffer.flush()


def _warn(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
