"""The view of a program: its own folder, what it runs from, and nothing that must stay hidden."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from referee.programs.environment import HOME
from referee.programs.file_view import (
    MAX_COVERED,
    MAX_SIFTED,
    FileAccess,
    FileView,
    find_named_files,
    is_shared,
    own_runtime,
    private_folders,
    runtimes,
    view_files,
)
from referee.programs.limits import ProgramLimits
from referee.programs.player_spec import Launch, PlayerError, command_launch, house_launch, resolve_command
from referee.programs.processes import ProcessCommand
from referee.programs.sandbox import NoSandboxError, find_sandbox
from referee.record.folder import record_names

from ..needs import require_sandbox


def seen(launch: Launch, hidden: tuple[Path, ...] = (), others: tuple[Path, ...] = ()) -> FileView:
    """Return a program's view of files if records are private."""
    return view_files(
        launch, resolve_command(launch), FileAccess(hidden=hidden, private_names=record_names, others=others)
    )


def said_inside(launch: Launch, hidden: tuple[Path, ...] = (), others: tuple[Path, ...] = ()) -> str:
    """Run a program in a sandbox, and return its output."""
    argv = resolve_command(launch)
    view = seen(launch, hidden, others)
    environment = {"PATH": os.environ["PATH"], "HOME": HOME}
    with require_sandbox().wrap(argv, view, ProgramLimits()) as command:
        done = subprocess.run(
            command.argv,
            pass_fds=command.pass_fds,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    return done.stdout + done.stderr


def script(path: Path, text: str, *, mode: int = 0o755) -> Path:
    """Write a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that commands are run in."""
    where = tmp_path / "where"
    where.mkdir()
    monkeypatch.chdir(where)
    return where


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat mine.txt", "mine\n"),
        ("cat ../elsewhere/theirs.txt", "theirs\n"),
        ("sh -c 'cat ../elsewhere/theirs.txt'", "cat: ../elsewhere/theirs.txt: No such file or directory\n"),
        ("cat /etc/shadow", "/usr/bin/cat: /etc/shadow: No such file or directory\n"),
        ("./tool", "tool\n"),
        ("sh -c 'echo new > mine.txt'", "/usr/bin/sh: 1: cannot create mine.txt: Read-only file system\n"),
        ("sh -c 'cd; echo new > new; cat new; pwd'", f"new\n{HOME}\n"),
        ("hostname", "player\n"),
        (f"{sys.executable} -c 'import protocol.client; print(6 * 7)'", "42\n"),
    ],
)
def test_a_command_line_sees_what_it_names(folder: Path, command: str, expected: str) -> None:
    """It sees the working directory, and the folders of files on the command line, and nothing else."""
    (folder / "mine.txt").write_text("mine\n")
    script(folder.parent / "elsewhere" / "theirs.txt", "theirs\n")
    script(folder / "tool", "#!/bin/sh\necho tool\n")
    assert expected == said_inside(command_launch(command, "p"))


@pytest.mark.forges
def test_what_is_hidden_is_not_to_be_read(folder: Path) -> None:
    """Records, keys and other players' folders inside the working directory are covered."""
    for name in ("logs/old.jsonl", "key.pem", "theirs/player.py", "mine.txt"):
        script(folder / name, "words\n", mode=0o644)
    script(folder / "elsewhere" / "match.jsonl", '{"n":0,"prev":"..."}\n', mode=0o644)
    script(folder / "openings.jsonl", '{"moves":[]}\n', mode=0o644)
    launch = command_launch("sh -c 'ls logs theirs; cat key.pem elsewhere/match.jsonl openings.jsonl mine.txt'", "p")
    told = said_inside(launch, hidden=(folder / "logs", folder / "key.pem"), others=(folder / "theirs",))
    refused = ["cat: key.pem: Permission denied", "cat: elsewhere/match.jsonl: No such file or directory"]
    assert sorted(["logs:", "", "theirs:", '{"moves":[]}', "words", *refused]) == sorted(told.splitlines())


@contextmanager
def started_inside(launch: Launch, hidden: tuple[Path, ...] = ()) -> "Iterator[subprocess.Popen[str]]":
    """Start a program in a sandbox, and wait until it reports that it runs."""
    argv = resolve_command(launch)
    view = seen(launch, hidden)
    pipe = subprocess.PIPE
    with (
        require_sandbox().wrap(argv, view, ProgramLimits()) as command,
        subprocess.Popen(
            command.argv, pass_fds=command.pass_fds, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True
        ) as inside,
    ):
        assert inside.stdout is not None
        assert inside.stdout.readline() == "up\n"
        yield inside


def options_of(command: ProcessCommand) -> list[str]:
    """Return the options that bubblewrap reads from a descriptor."""
    return os.pread(command.pass_fds[-1], 1 << 20, 0).decode().split("\0")


@pytest.mark.forges
def test_any_number_of_records_is_hidden_at_once(folder: Path) -> None:
    """Thousands of records need as many mounts as one, even below the working directory; later ones are hidden, too."""
    for name in ("logs/cup/1.jsonl", "1.jsonl", "1.seat0.ada.stderr", "openings.jsonl", "lib/help.txt"):
        script(folder / name, '{"n":0,' if name.endswith("1.jsonl") else "words\n", mode=0o644)
    (folder / "link").symlink_to("lib/help.txt")
    launch = command_launch("sh -c 'echo up; read x; ls; ls logs/cup; cat link; cat 2.jsonl logs/cup/2.jsonl'", "p")
    argv, counts = resolve_command(launch), []
    for records in (1, 1000):
        for number in range(1, records + 1):
            for where in (folder, folder / "logs" / "cup"):
                (where / f"{number}.jsonl").write_text('{"n":0,')
        (folder / "2.jsonl").unlink(missing_ok=True)
        view = seen(launch)
        with require_sandbox().wrap(argv, view, ProgramLimits()) as command:
            counts.append(len(options_of(command)))
        with started_inside(launch) as inside:
            (folder / "2.jsonl").write_text('{"n":0,')
            told, _ = inside.communicate("\n", timeout=60)
        absent = [f"cat: {name}: No such file or directory" for name in ("2.jsonl", "logs/cup/2.jsonl")]
        assert ["lib", "link", "logs", "openings.jsonl", "words", *absent] == told.splitlines()
    assert counts[0] == counts[1]


@pytest.mark.forges
def test_a_program_in_a_folder_of_records_is_found(folder: Path) -> None:
    """Files on the command line are shown, even between records; records that get such a name later are not."""
    for name in ("runs/1.jsonl", "runs/bots/player.py", "runs/bots/2.jsonl", "runs/bots/3.txt", "4.jsonl"):
        script(folder / name, '{"n":0,' if name.endswith("jsonl") else "words\n", mode=0o644)
    launch = command_launch("sh -c 'find . -type f; cat \"$0\"' runs/bots/player.py", "p")
    told = sorted(said_inside(launch).splitlines())
    assert told == ["./runs/bots/3.txt", "./runs/bots/player.py", "words"]


@pytest.mark.forges
@pytest.mark.parametrize("where", [".", "logs"])
def test_any_number_of_folders_with_records_is_hidden_at_once(folder: Path, where: str) -> None:
    """A folder with many such folders is covered as one, or sifted if the program needs it."""
    for number in range(MAX_COVERED + 5):
        script(folder / where / f"cup{number}" / "1.jsonl", '{"n":0,', mode=0o644)
    for name in ("lib/help.txt", "logs/notes.txt"):
        script(folder / name, "words\n", mode=0o644)
    launch = command_launch("sh -c 'ls; cat lib/help.txt; cat logs/cup1/1.jsonl cup1/1.jsonl'", "p")
    absent = [f"cat: {name}: No such file or directory" for name in ("logs/cup1/1.jsonl", "cup1/1.jsonl")]
    assert said_inside(launch).splitlines() == ["lib", "logs", "words", *absent]
    view = seen(launch)
    assert len(view.hidden) == (1 if where == "logs" else 0)


@pytest.mark.forges
def test_a_crowded_folder_with_records_is_refused(folder: Path) -> None:
    """Its other entries would have to be shown one by one, and there are too many."""
    (folder / "record.jsonl").write_text('{"n":0,')
    for number in range(MAX_SIFTED + 1):
        (folder / f"{number}.txt").touch()
    launch = command_launch("cat 1.txt", "p")
    with pytest.raises(PlayerError, match="put the program into a folder of its own"):
        seen(launch)


def test_files_of_the_referee_are_hidden(folder: Path) -> None:
    """Present and future files are hidden."""
    for name in ("notes", "mine.txt"):
        script(folder / name, "words\n", mode=0o644)
    launch = command_launch("sh -c 'echo up; read x; ls; cat notes ledger.db'", "p")
    hidden = tuple(folder / name for name in ("notes", "ledger.db", "none/ledger.db"))
    with started_inside(launch, hidden) as inside:
        (folder / "ledger.db").write_text("words\n")
        told, _ = inside.communicate("\n", timeout=60)
    refused = ["cat: notes: Permission denied", "cat: ledger.db: No such file or directory"]
    assert ["mine.txt", "notes", *refused] == told.splitlines()


def test_the_command_line_inside_tells_nothing(folder: Path) -> None:
    """The first process of the sandbox shows only the program's own words, and leaves no descriptor open."""
    told = said_inside(
        command_launch('sh -c \'tr "\\0" " " < /proc/1/cmdline; ls /proc/self/fd; cat /proc/keys\'', "p")
    )
    first, *rest = told.splitlines()
    assert str(folder) not in first
    assert first.split(" --args ")[1].split(" -- ")[1].startswith("/usr/bin/sh -c ")
    assert rest[-4:] == ["1", "2", "3", "cat: /proc/keys: Permission denied"]


def test_devices_keep_their_modes_and_times(folder: Path) -> None:
    """They are the machine's, and may belong to the referee's user."""
    before = Path("/dev/full").stat()
    told = said_inside(command_launch("sh -c 'touch -d 1970-01-02 /dev/full; chmod 700 /dev/full; : > /dev/full'", "p"))
    assert told.startswith("chmod: changing permissions of '/dev/full': ")
    assert told.count("\n") == 1
    after = Path("/dev/full").stat()
    assert (before.st_mode, before.st_mtime) == (after.st_mode, after.st_mtime)


@pytest.mark.needs("free")
def test_what_is_counted_for_all_is_not_told(folder: Path) -> None:
    """A program sees only the counts that runtimes need: the number of processors, and the size of the memory."""
    told = said_inside(command_launch("sh -c 'ls /proc/sys/fs; grep -c ^cpu[0-9] /proc/stat; cat /proc/vmstat'", "p"))
    processors, refused = told.splitlines()
    assert int(processors) == os.sysconf("SC_NPROCESSORS_ONLN")
    assert refused.endswith("/proc/vmstat: Permission denied")
    memory = said_inside(command_launch("free -b", "p")).splitlines()[1].split()
    assert memory[1] == memory[3] == str(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def test_a_house_player_sees_none_of_it(folder: Path) -> None:
    """A house player sees this installation, and not the folder in which the referee runs."""
    view = seen(house_launch("dag"), (folder,))
    assert set(own_runtime()) <= set(view.shown)
    assert folder not in view.shown


def test_records_where_players_run_are_refused(folder: Path) -> None:
    """A program can't work in a folder that must stay hidden."""
    launch = command_launch("cat mine.txt", "p")
    for hidden in (folder, folder.parent):
        with pytest.raises(PlayerError, match="keep records and players apart"):
            seen(launch, (hidden,))


def test_of_a_home_only_what_is_named_is_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command in a home sees only the files that it names; a player's folder can't be a home."""
    monkeypatch.setenv("HOME", str(folder))
    script(folder / "player.py", "print('here')\n", mode=0o644)
    (folder / "secret").touch()
    launch = command_launch("sh -c 'cat player.py; ls' sh player.py", "p")
    assert said_inside(launch) == "print('here')\nplayer.py\n"
    with pytest.raises(PlayerError, match="holds other things, too"):
        seen(Launch(name="p", argv=("true",), folder=folder))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["a/one.py"], ["a"]),
        (["a"], ["a"]),
        (["-a", "nothing", "", "x" * 10_000, "a\0b"], [""]),
        (["a/../b/two.py", "a/one.py"], ["b", "a"]),
        (["/", "/tmp", "/etc/passwd", "/dev/null", "/usr/bin/env", "/proc/self/stat"], []),
    ],
)
def test_what_words_name(tmp_path: Path, words: list[str], expected: list[str]) -> None:
    """Files stand for their folders; options, missing files and the system's places are ignored."""
    script(tmp_path / "a" / "one.py", "")
    script(tmp_path / "b" / "two.py", "")
    assert [tmp_path / name for name in expected] == find_named_files(words, tmp_path)


def test_the_runtime_of_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A script's interpreter, a virtual environment's base and a link's target are found, with their folders."""
    base, environment = tmp_path / "base", tmp_path / "environment"
    python = script(base / "bin" / "python3", "")
    (base / "lib").mkdir()
    script(environment / "pyvenv.cfg", f"include-system = false\nhome = {base / 'bin'}\n")
    (environment / "bin").mkdir()
    (environment / "bin" / "python3").symlink_to(python)
    monkeypatch.setenv("PATH", str(environment / "bin"))
    assert {environment, base} == set(runtimes(environment / "bin" / "python3"))
    player = script(tmp_path / "player", "#!/usr/bin/env python3\n")
    assert {player, environment, base} == set(runtimes(player))
    proxy = script(tmp_path / "cargo" / "bin" / "rustup", "")
    (proxy.parent / "cargo").symlink_to("rustup")
    monkeypatch.setenv("RUSTUP_HOME", str(tmp_path / "compilers"))
    assert {proxy.parent, tmp_path / "compilers"} <= set(runtimes(proxy.parent / "cargo"))
    alone = script(tmp_path / "tools" / "bin" / "alone", "")
    assert (alone,) == runtimes(alone)
    assert runtimes(Path("/bin/sh")) == ()


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/", True), ("/tmp", True), ("/home", True), ("~", True), ("~/..", True), ("~/.local", True), ("~/game", False)],
)
def test_folders_that_hold_more_than_one_thing(path: str, *, expected: bool) -> None:
    """Homes and the like are not shown because of a file in them."""
    assert expected == is_shared(Path(path).expanduser())


@pytest.mark.forges
def test_records_are_looked_for_near_by(tmp_path: Path) -> None:
    """They are looked for two folders deep, but not in hidden folders or covered ones."""
    for name in ("a.jsonl", "b/a.jsonl", "b/c/a.jsonl", "b/c/d/a.jsonl", ".git/a.jsonl", "logs/a.jsonl"):
        script(tmp_path / name, '{"n":0,')
    found = {str(path.relative_to(tmp_path)) for path in private_folders(tmp_path, {tmp_path / "logs"}, record_names)}
    assert found == {".", "b", "b/c"}


NEW = '#!/bin/sh\n[ "$*" = "--disable-userns --version" ] && exit\n'
"""A bubblewrap that knows all options."""
MAKES_NAMESPACES = pytest.mark.skipif(
    os.getuid() == 0
    and subprocess.run(["unshare", "--user", "--mount", "true"], capture_output=True, check=False).returncode != 0,
    reason="this machine lets nobody make user namespaces",
)
"""For root, bubblewrap is started in a namespace."""


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "bubblewrap is not installed; install bubblewrap"),
        ("#!/bin/sh\necho 'bwrap: Unknown option --disable-userns' >&2; exit 1\n", "install bubblewrap 0.8"),
        (f"{NEW}echo 'bwrap: No permissions to create namespace' >&2; exit 1\n", "allow users to make user namespaces"),
        pytest.param(f"{NEW}exit 7\n", "(exit status 7); allow users", marks=MAKES_NAMESPACES),
        ("no program", "bubblewrap does not"),
    ],
)
def test_a_machine_without_a_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, complaint: str
) -> None:
    """The error says what is missing, and how to get it."""
    path = str(tmp_path)
    if text is not None:
        script(tmp_path / "bwrap", text)
        path += f":{os.environ['PATH']}"
    monkeypatch.setenv("PATH", path)
    with pytest.raises(NoSandboxError) as caught:
        find_sandbox()
    assert complaint in str(caught.value)
