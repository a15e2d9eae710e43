"""Completion in a shell: games, formats, players, steps of a check, and folders of tournaments."""

from pathlib import Path

import rich_click as click
from click.shell_completion import BashComplete, CompletionItem


def complete_games(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Return the games that begin with a text; called by click."""
    from ..plugins import installed  # noqa: PLC0415  # this loads all games, which only completion needs

    return [name for name in installed().games if name.startswith(typed)]


def complete_topics(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Return the games and pairing formats that begin with a text; called by click."""
    from ..plugins import installed  # noqa: PLC0415  # as above

    return [name for name in (*installed().games, *installed().formats) if name.startswith(typed)]


def complete_steps(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Return the steps of a check that begin with a text; called by click."""
    from ..check.checking import all_steps  # noqa: PLC0415  # as above
    from ..plugins import installed  # noqa: PLC0415

    return [step.key for step in all_steps(tuple(installed().games)) if step.key.startswith(typed)]


def complete_tournaments(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> list[CompletionItem[str]] | list[str]:
    """Return folders of tournaments; if none fits, let the shell complete folders; called by click."""
    # A tournament's record has the same name as its folder, so no file has to be read.
    records = (path for pattern in ("*/*.jsonl", "*/*/*.jsonl") for path in Path().glob(pattern))
    folders = sorted({f"{path.parent}/" for path in records if path.stem == path.parent.name})
    matching = [folder for folder in folders if folder.startswith(typed)]
    return matching or [CompletionItem(typed, type="dir")]


def complete_players(
    context: click.Context, _parameter: click.Parameter, typed: str
) -> list[CompletionItem[str]] | list[str]:
    """Return house players and player folders; if none fits, let the shell complete folders; called by click."""
    from ..plugins import installed  # noqa: PLC0415  # as above

    game = context.params.get("game")
    houses = [
        f"house:{name}"
        for name, player in installed().players.items()
        if not player.games or game in (None, *player.games)
    ]
    folders = sorted(f"{path.parent}/" for path in Path().glob("*/player.toml") if path.is_file())
    matching = [player for player in (*houses, *folders) if player.startswith(typed)]
    return matching or [CompletionItem(typed, type="dir")]


# Bash splits a line at the characters in COMP_WORDBREAKS. The colon of `house:` is one of them. It would be simpler to
# change that variable, but this would change completion for all other programs of the shell.


class Bash(BashComplete):
    """Completion for Bash, which splits words at colons: joins the words, completes, and splits the result again."""

    _is_cut = False

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the word to complete, and that word; called by click."""
        args, typed = super().get_completion_args()
        words: list[str] = []
        for word in (*args, typed):
            is_rest = bool(words) and (word == ":" or words[-1].endswith(":"))
            words[len(words) - is_rest :] = [words[-1] + word] if is_rest else [word]
        self._is_cut = ":" in (typed, *args[-1:])
        return words[:-1], words[-1]

    def format_completion(self, item: CompletionItem[str]) -> str:
        """Return one completion in the form that the shell's script reads; called by click."""
        value = item.value.rpartition(":")[2] if self._is_cut else item.value
        return super().format_completion(CompletionItem(value, type=item.type))
