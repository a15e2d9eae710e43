"""What a shell is offered where it completes a command: games and players."""

from pathlib import Path

import rich_click as click
from click.shell_completion import BashComplete, CompletionItem


def complete_games(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Return the games whose names begin with what is typed; called by click."""
    from ..plugins import installed  # noqa: PLC0415  # all games: only where a shell asks for them

    return [name for name in installed().games if name.startswith(typed)]


def complete_players(
    context: click.Context, _parameter: click.Parameter, typed: str
) -> list[CompletionItem[str]] | list[str]:
    """Return house players and the folders of players here, or let the shell go on with folders; called by click."""
    from ..plugins import installed  # noqa: PLC0415  # all games: only where a shell asks for them

    game = context.params.get("game")
    houses = [f"house:{name}" for name, player in installed().players.items() if game in (None, *player.games)]
    folders = sorted(f"{path.parent}/" for path in Path().glob("*/player.toml") if path.is_file())
    found = [player for player in (*houses, *folders) if player.startswith(typed)]
    return found or [CompletionItem(typed, type="dir")]


class Bash(BashComplete):
    """Bash ends a word at a colon: what it has cut is put together, and what it is offered is cut as well."""

    _is_cut = False

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the one that is completed, and that one; called by click."""
        args, typed = super().get_completion_args()
        words: list[str] = []
        for word in (*args, typed):
            is_rest = bool(words) and (word == ":" or words[-1].endswith(":"))
            words[len(words) - is_rest :] = [words[-1] + word] if is_rest else [word]
        self._is_cut = ":" in (typed, *args[-1:])
        return words[:-1], words[-1]

    def format_completion(self, item: CompletionItem[str]) -> str:
        """Return one offer as the script of the shell reads it; called by click."""
        value = item.value.rpartition(":")[2] if self._is_cut else item.value
        return super().format_completion(CompletionItem(value, type=item.type))
