"""A reception whose checks are a stand-in. A program, run by tests.

python standing.py DIR PLAYERS LOGS [ENDPOINT [LIMIT_S [anything: remote entrants are shown their matches]]]
"""

import sys
from pathlib import Path

from referee.app.receiving import SubmissionService, receive
from referee.app.services import RefereeOptions
from referee.cli.common import console
from referee.programs.confining import SandboxMode

CHECK = str(Path(__file__).with_name("standin_check.py"))


def main() -> None:
    """Be the reception."""
    folder, *rest = sys.argv[1:]
    players, logs, address, limit_s, by_name = (*rest, *("tcp:0:interface=127.0.0.1", "60", "")[len(rest) - 2 :])
    service = SubmissionService(folder=Path(folder), check_s=float(limit_s), remote_by_name=bool(by_name))
    options = RefereeOptions(sandbox=SandboxMode.OFF, say=console.say)
    receive(service, options, Path(players), Path(logs), address, (sys.executable, CHECK))


if __name__ == "__main__":
    main()
