"""A contest whose checks are a stand-in, hosted in the working folder. A program, run by tests.

python standing.py [ENDPOINT [LIMIT_S]]
"""

import sys
from pathlib import Path

from referee.app.services import RefereeOptions
from referee.cli.common import console
from referee.plugins import installed
from referee.settings import RunTerms, SandboxMode
from referee.web.contest import hosting
from referee.web.contest.contest_file import read_contest
from referee.web.submissions import check_queue

CHECK = str(Path(__file__).with_name("standin_check.py"))


def main() -> None:
    """Host the contest."""
    address, limit_s = (*sys.argv[1:], *("tcp:0:interface=127.0.0.1", "60")[len(sys.argv) - 1 :])
    check_queue.CHECK_S = float(limit_s)
    hosting.CHECK = (sys.executable, CHECK)
    options = RefereeOptions(key=Path("key"), terms=RunTerms(sandbox=SandboxMode.OFF), say=console.say)
    hosting.host(read_contest(Path(), installed()), options, (sys.executable, "-m", "referee"), address)


if __name__ == "__main__":
    main()
