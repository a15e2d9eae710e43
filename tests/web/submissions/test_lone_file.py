"""A single file of a program: it is refused with commands that make a player of it, and they work."""

import subprocess
from pathlib import Path

import pytest

from referee.web.submissions.archive import BadArchive, unpack

from .packers import make_tar, taken


def test_a_lone_file_is_refused_with_the_commands_that_make_a_player(tmp_path: Path) -> None:
    """The commands work as they are printed, whatever the file's name."""
    for name, inside in (("ada.py", "ada.py"), ("it's my bot.py", "player.py"), ("-x.py", "player.py")):
        (tmp_path / name).write_text("print()")
        with pytest.raises(BadArchive, match="is a single file, but a player is a folder") as told:
            unpack(b"print()", name)
        first, *commands = str(told.value).splitlines()
        assert len(commands) == 2
        subprocess.run(["sh", "-e", "-c", "\n".join(commands)], cwd=tmp_path, check=True)
        made = tmp_path / first.rpartition(" ")[2].rstrip(":")
        assert (made / inside).read_text() == "print()"
        (tmp_path / "packed").write_bytes(make_tar({f"x/{p.name}": p.read_bytes() for p in made.iterdir()}))
        assert f'run = "python3 {inside}"' in taken((tmp_path / "packed").read_bytes())["player.toml"][0].decode()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Bot.java", 'run = "java Bot.java"'),
        ("bot.js", 'run = "node bot.js"'),
        ("bot.rs", "`referee new rust bot`"),
        ("bot", 'run = "COMMAND bot"'),
        ("", "mkdir FILE1 && cp FILE FILE1/FILE"),
        ("/tmp/some where/é.rb", "cp '/tmp/some where/é.rb' player/player.rb"),
    ],
)
def test_lone_files_of_other_languages_are_refused_alike(name: str, words: str) -> None:
    """The ending decides between a program to run it and a folder that is built."""
    with pytest.raises(BadArchive) as told:
        unpack(b"some text\n", name)
    assert words in str(told.value)
