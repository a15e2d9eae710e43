"""A setting is declared once: its option, its key in a file, and its row in the manual follow."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
import rich_click as click
from click.testing import CliRunner
from msgspec import Struct

from referee.app.tournament_file.plan import read_tournament
from referee.cli.options import declared_options
from referee.net.tournaments.play import RunSettings
from referee.plugins import load
from referee.settings import Durability, MatchChoices, RunTerms, SandboxMode, settings_of, word_options

CHOSEN = MatchChoices(move_s=2.5, bank_s=60.0, increment_s=0.5, start_s=9.0, lag_margin_s=0.0, acknowledge=True, seed=7)
TERMS = RunTerms(sandbox=SandboxMode.OFF, memory_mib=300, durability=Durability.TURN)
FILE = """
game = "q"
entrants = ["house:greedy", "house:random"]
format = "roundrobin"
acknowledge = true
seed = 7
sandbox = "off"
durability = "turn"
[time]
per_move = 2.5
bank = 60
increment = 0.5
start = 9
lag_margin = 0
[limits]
memory_mib = 300
"""


def parse(struct: type[Struct], words: list[str]) -> Any:
    """Return the settings that a command gets from its command line."""
    parsed: list[Any] = []

    def _take(**values: Any) -> None:
        parsed.append(msgspec.convert(values, struct))

    command: Any = _take
    for option in declared_options(struct):
        command = option(command)
    result = CliRunner().invoke(click.command(command), words)
    assert result.exit_code == 0, result.output
    return parsed[0]


@pytest.mark.parametrize("settings", [CHOSEN, MatchChoices(), TERMS, RunTerms()])
def test_the_words_of_a_command_line_give_the_same_settings(settings: Struct) -> None:
    """The words that are passed to another process give equal settings there; defaults need no words."""
    words = list(word_options(settings))
    assert parse(type(settings), words) == settings
    assert bool(words) == (settings != type(settings)())


def test_a_file_gives_the_same_settings_as_options(tmp_path: Path) -> None:
    """Each key stands for the option of the same setting."""
    (tmp_path / "cup.toml").write_text(FILE)
    plan = read_tournament(tmp_path / "cup.toml", load())
    assert (plan.choices, plan.terms) == (CHOSEN, TERMS)


@pytest.mark.parametrize("struct", [MatchChoices, RunTerms, RunSettings])
def test_every_declaration_says_what_it_is(struct: type[Struct]) -> None:
    """Each has a sentence, and a name where a user finds it."""
    for setting in settings_of(struct):
        assert setting.meaning.endswith(".")
        assert setting.option or setting.key
