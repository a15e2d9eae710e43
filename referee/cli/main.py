"""The command `referee`: collects the subcommands. Knows none of their work."""

import rich_click as click

from .. import __version__
from .audit import audit_command
from .check import check
from .compare import compare
from .doctor import doctor
from .explain import explain_command
from .fairness import fairness_command
from .join import join_command
from .key import key
from .listing import list_command
from .manifest import manifest
from .new import new
from .play import play
from .rebuild import rebuild
from .replay import replay
from .report import report_command
from .serve import serve
from .token import token_command
from .tournament import tournament
from .xclients import xclients
from .xserver import xserver

click.rich_click.GROUP_ARGUMENTS_OPTIONS = True


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="referee")
def main() -> None:
    """Referee bot matches of board and tile games, and verify their records.

    Try it:  referee play q house:dag house:greedy
    """


main.add_command(new)
main.add_command(play)
main.add_command(serve)
main.add_command(tournament)
main.add_command(compare)
main.add_command(join_command)
main.add_command(audit_command)
main.add_command(explain_command)
main.add_command(fairness_command)
main.add_command(replay)
main.add_command(report_command)
main.add_command(manifest)
main.add_command(rebuild)
main.add_command(key)
main.add_command(token_command)
main.add_command(list_command)
main.add_command(check)
main.add_command(doctor)
main.add_command(xserver)
main.add_command(xclients)

if __name__ == "__main__":
    main()
