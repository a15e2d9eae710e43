"""The help of every command: it names each default, and is readable wherever it is printed."""

import re
from collections.abc import Iterator
from functools import cache

import rich_click as click

from referee.cli.common import UNBOUNDED, out
from referee.cli.main import main

from .calling import referee

WITHOUT_DEFAULT = {
    *("--resume", "--svg", "--html", "--csv", "--redact", "--publish", "--archive", "--diagnostics", "--heads"),
    *("--metrics", "--head", "--seed", "--since", "--for", "--to", "--explain", "--cluster"),
}
"""Options that ask for something additional, which is not done without them."""
_NARROW = 40


def list_commands(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield each command with the words that call it, also those of groups within the group."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*words, name), command
        if isinstance(command, click.Group):
            yield from list_commands(command, (*words, name))


def list_options() -> Iterator[tuple[tuple[str, ...], click.Option]]:
    """Yield each option that a help text shows, with the words that call its command."""
    for words, command in list_commands(main):
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                yield words, option


@cache
def print_help(*words: str, width: int = UNBOUNDED) -> str:
    """Return the help of a command, by default as a pipe gets it."""
    size = out.size
    out.size = (width, size.height)
    try:
        return referee(*words, "--help", is_stopped_early=True).stdout
    finally:
        out.size = size


def find_line(words: tuple[str, ...], option: click.Option) -> str:
    """Return the line about an option in a command's help."""
    (line,) = re.findall(rf"^ #? *{option.opts[-1]}  .*$", print_help(*words), re.MULTILINE)
    return str(line)


def test_every_option_says_its_default() -> None:
    """A default value is printed as it is, other defaults in words. Flags, and options in WITHOUT_DEFAULT need none."""
    wrong = []
    for words, option in list_options():
        line = find_line(words, option)
        told = re.findall(r"\(Default: (.+?)\)(?= \[|$)", line)
        is_silent = option.is_flag or option.required or (option.opts[-1] in WITHOUT_DEFAULT and not told)
        default = option.to_info_dict()["default"]
        has_value = bool(default) and not callable(default) and not is_silent
        if len(told) != (0 if is_silent else 1) or (has_value and told != [str(default)]):
            wrong.append((*words, line))
    assert wrong == []


def test_a_pipe_gets_one_line_for_an_option() -> None:
    """Nothing is wrapped or padded, and there are no boxes."""
    for words, option in list_options():
        assert " ".join((option.help or "").split()) in " ".join(find_line(words, option).split())
    for words, _ in list_commands(main):
        assert not re.search(r"[ \t│╮╯═]$", print_help(*words), re.MULTILINE)


def test_the_help_fits_a_narrow_terminal() -> None:
    """No line is longer, no text is cut off, and each option's name is whole."""
    texts = {words: print_help(*words, width=_NARROW) for words, _ in list_commands(main)}
    for text in texts.values():
        assert max(map(len, text.splitlines())) <= _NARROW
        assert "…" not in text
    for words, option in list_options():
        assert re.search(rf" {option.opts[-1]}\s", texts[words])
