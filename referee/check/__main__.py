"""`python -m referee.check FOLDER`: check one program in a process of its own, and print the report as JSON.

Each step is a line `{"step": ...}` as soon as it is over; the last line is the report. For who checks programs of
others, as the queue of submissions does. Exit status: 0 it passes, 1 a step failed, 2 the check could not be made.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import msgspec

from ..errors import RefereeError
from ..plugins import load
from ..programs.confining import SandboxMode, find_confinement
from ..programs.limits import ProgramLimits
from ..record.folder import record_names
from ..record.key import default_path
from .checking import report, run_check
from .context import CheckRequest
from .findings import Finding


def main() -> int:
    """Check what the command line names; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m referee.check")
    parser.add_argument("player")
    parser.add_argument("--sandbox", choices=list(SandboxMode), default=SandboxMode.AUTO)
    parser.add_argument("--memory", type=int, default=ProgramLimits().memory_mib, metavar="MIB")
    asked = parser.parse_args()
    request = CheckRequest(player=asked.player)
    try:
        confinement = find_confinement(
            asked.sandbox,
            ProgramLimits(memory_mib=asked.memory),
            hidden=(request.logs, default_path(os.environ)),
            private_names=record_names,
            warn=_say,
        )
        findings = run_check(request, load(), confinement, _tell)
    except RefereeError as error:
        _say(str(error))
        return 2
    found = report(Path(asked.player).name, findings)
    _write(found)
    return 0 if found.passes else 1


def _tell(finding: Finding) -> None:
    _write({"step": finding})


def _write(value: Any) -> None:
    """Write a line of JSON, which is UTF-8 whatever the encoding of texts is here."""
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
    sys.stdout.buffer.flush()


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
