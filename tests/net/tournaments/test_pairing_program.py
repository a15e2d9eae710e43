"""A program of the organiser that pairs rounds: its input, its possible output, and its faults."""

import hashlib
import os
from pathlib import Path
from random import Random
from threading import Thread

import pytest
from msgspec.structs import replace

from referee.net.tournaments.round_pairing import (
    PairingProgram,
    PairingProgramError,
    RoundByProgram,
    find_program,
)
from referee.testing import random_result
from referee.tournament.pairing.base import PlayedRounds, RoundToPair
from referee.tournament.pairing.dutch import TrfPlayer, pair_round
from referee.tournament.pairing.swiss import Swiss

from ...tournament.pairing.rounds import played_rounds
from ...tournament.pairing.tournaments import SHUFFLE, field

FIRST = played_rounds(*[""] * 4, rounds=3)
"""The first round of four."""
SECOND = played_rounds("3w1", "4b1", "1b0", "2w0", "0-U", rounds=4)
"""The second round of five: entrant 5 has had the bye, and 1-3 and 4-2 have met."""
THIRD = played_rounds("3w1 2w1", "4w1 1b0", "1b0 4b1", "2b0 3w0", rounds=4)
"""The third round of four, in which entrant 1 must have Black."""


def program(folder: Path, script: str, *words: str, limit_s: float = 20.0) -> PairingProgram:
    """Return a program that is a shell script, in a folder."""
    path = folder / "pairing"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return PairingProgram(words=("./pairing", *(words or ("--dutch", "{trf}", "-p"))), folder=folder, limit_s=limit_s)


def round_of(by: PairingProgram, before: PlayedRounds) -> RoundByProgram:
    """Return the next round of a tournament, to be paired by a program."""
    people = [TrfPlayer(f"e{entrant}", 1500 + entrant) for entrant in range(len(before.order))]
    return RoundByProgram(by, RoundToPair(round=before.through + 1, played=before), "cup", people)


def test_what_it_prints_is_the_round(tmp_path: Path) -> None:
    """The tables keep their order, the bye is last; the whole output is returned."""
    found = round_of(program(tmp_path, r"printf '3\r\n5 0\r\n\r\n'; exit 1"), FIRST)
    with pytest.raises(PairingProgramError):
        found.pair()
    paired = round_of(program(tmp_path, r"printf '3\n5 1\n4 0\n3 2\n\n'"), SECOND).pair()
    assert paired.tables == ((4, 0), (2, 1), (3,))
    assert paired.output == "3\n5 1\n4 0\n3 2\n\n"


@pytest.mark.parametrize(
    ("script", "by"),
    [
        (
            r"""[ "$*" = -r ] && { echo ' BBP Pairings - Rel. 6.0.0'; exit; }; printf '2\n1 3\n4 2\n'""",
            "BBP",
        ),
        (r"printf 'BBP Pairings - Rel. 6.0.0\n2\n1 3\n4 2\n'", "BBP"),
        (r"""[ "$*" = -r ] && exit 2; printf '2\n1 3\n4 2\n'""", "sha256"),
        (r"""[ "$*" = -r ] && exit 0; printf '2\n1 3\n4 2\n'""", "sha256"),
    ],
)
def test_it_is_known_which_release_paired_the_round(tmp_path: Path, script: str, by: str) -> None:
    """It prints the release before the pairing, or with `-r`; otherwise, the hash of its file is recorded."""
    own = program(tmp_path, script)
    digest = hashlib.sha256((tmp_path / "pairing").read_bytes()).hexdigest()
    expected = {"BBP": "pairing BBP Pairings - Rel. 6.0.0", "sha256": f"pairing sha256 {digest}"}
    assert round_of(own, FIRST).pair().by == expected[by]


def test_it_is_given_the_file_of_the_tournament(tmp_path: Path) -> None:
    """The file has rounds, colours, results, byes and absent entrants in FIDE's format; its path replaces `{trf}`."""
    before = played_rounds("2w1 0-U", "1b0 0-H", "4b= 0-Z", "3w= 5w+", "0-U 4b-", rounds=4, away=(3,))
    own = program(tmp_path, 'cat "${1#file=}" > seen; exit 1', "file={trf}")
    with pytest.raises(PairingProgramError):
        round_of(own, before).pair()
    lines = (tmp_path / "seen").read_text().splitlines()
    assert lines[:4] == ["012 cup", "062 5", "XXR 4", "XXC white1"]
    assert [line[:8] for line in lines[4:]] == [f"001    {number}" for number in range(1, 6)]
    assert [line[80:84].strip() for line in lines[4:]] == ["2.0", "0.5", "0.5", "1.5", "1.0"]
    assert [[line[at : at + 8] for at in range(91, len(line), 10)] for line in lines[4:]] == [
        ["   2 w 1", "0000 - U"],
        ["   1 b 0", "0000 - H"],
        ["   4 b =", "0000 - Z", "0000 - Z"],
        ["   3 w =", "   5 w +"],
        ["0000 - U", "   4 b -"],
    ]


def test_forbidden_pairs_and_accelerations_stand_in_its_file(tmp_path: Path) -> None:
    """They are in TRF(x)'s form, with numbers of four columns in place of names; an unknown name is an error."""
    own = replace(program(tmp_path, 'cat "$2" > seen; exit 1'), lines=("XXP {e0} {e3}", "XXA {e2}  1.0  0.5"))
    with pytest.raises(PairingProgramError):
        round_of(own, replace(FIRST, order=(3, 2, 1, 0))).pair()
    assert (tmp_path / "seen").read_text().splitlines()[-2:] == ["XXP    4    1", "XXA    2  1.0  0.5"]
    with pytest.raises(PairingProgramError, match="pairing_lines: no entrant is called ada"):
        round_of(replace(own, lines=("XXP {e0} {ada}",)), FIRST).pair()


FAULTS: list[tuple[str, PlayedRounds, str]] = [
    ("exit 1", FIRST, "it ended with exit status 1: it printed nothing"),
    ("echo 'no valid pairing' >&2; exit 1", FIRST, "it ended with exit status 1: no valid pairing"),
    ("echo 'Error: line 7'; exit 3", FIRST, "it ended with exit status 3: Error: line 7"),
    ("kill -SEGV $$", FIRST, "it was ended by signal 11"),
    ("exit 0", FIRST, "it printed nothing"),
    ("echo; echo ' '", FIRST, "it printed nothing"),
    ("echo 2", FIRST, "it announced 2 tables, and printed 0"),
    (r"printf '3\n1 3\n4 2\n'", FIRST, "it announced 3 tables, and printed 2"),
    (r"printf '2\n1 3\n4 2\n1 3\n'", FIRST, "it announced 2 tables, and printed 3"),
    (r"printf 'one\ntwo\n'", FIRST, 'it printed no number of tables first, but "two"'),
    (r"printf '2\n1 3\n4 -2\n'", FIRST, 'it printed no pair of starting numbers, but "4 -2"'),
    (r"printf '2\n1 3 5\n4 2\n'", FIRST, 'it printed no pair of starting numbers, but "1 3 5"'),
    (r"printf '2\n1 3\n4 \033[2J\n'", FIRST, r'it printed no pair of starting numbers, but "4 \x1b[2J"'),
    (r"printf '2\n1 3\n4 9\n'", FIRST, "it paired 4 and 9, and the starting numbers end with 4"),
    (r"printf '2\n0 3\n4 2\n'", FIRST, "it paired 0 and 3, and the starting numbers end with 4"),
    (r"printf '2\n1 3\n4 3\n'", FIRST, "it paired 3 twice"),
    (r"printf '2\n1 1\n4 2\n'", FIRST, "it paired 1 twice"),
    (r"printf '1\n1 3\n'", FIRST, "it did not pair 2"),
    (r"printf '3\n1 3\n4 0\n2 0\n'", FIRST, "it gave 2 byes, and 4 entrants play"),
    (r"printf '3\n2 1\n3 4\n5 0\n'", SECOND, "it gave a bye to 5, who has had one, or a walkover"),
    (r"printf '3\n3 1\n5 4\n2 0\n'", SECOND, "3 and 1 have met before"),
    (r"printf '2\n1 4\n3 2\n'", THIRD, "1 must have Black this time"),
    (r"printf '2\n\377\n'", FIRST, "its output is no text"),
    ("yes 1 | head -c 70000", FIRST, "its output has more than 65536 bytes"),
    ("exec yes", FIRST, "it wrote far too much"),
    ('rm "$2"; exec /no/such/file', FIRST, "it ended with exit status 127"),
]


@pytest.mark.parametrize(("script", "before", "why"), FAULTS)
def test_a_fault_of_the_program_is_told_in_two_lines(
    tmp_path: Path, script: str, before: PlayedRounds, why: str
) -> None:
    """They say what happened, in which round, and what to do; the program's output is not passed on."""
    with pytest.raises(PairingProgramError) as told:
        round_of(program(tmp_path, script), before).pair()
    first, second = str(told.value).split("\n")
    assert first.startswith(f"round {before.through + 1} is not paired by pairing: {why}")
    assert "nothing is lost" in second
    assert "\x1b" not in first


def test_a_leader_in_the_last_round_may_have_a_third_colour(tmp_path: Path) -> None:
    """Rule C.3 allows it for players with more than half of the points."""
    before = played_rounds("3w1 2w1", "4w1 1b0", "1b0 4b1", "2b0 3w0", rounds=3)
    paired = round_of(program(tmp_path, r"printf '2\n1 4\n3 2\n'"), before).pair()
    assert paired.tables == ((0, 3), (2, 1))


def test_who_is_away_is_not_paired(tmp_path: Path) -> None:
    """A program that pairs an entrant who has withdrawn has paired the wrong round."""
    before = played_rounds("2w1", "1b0", "4w1", "3b0", rounds=3, away=(4,))
    with pytest.raises(PairingProgramError, match="it paired 4, who does not play in this round"):
        round_of(program(tmp_path, r"printf '2\n3 1\n2 4\n'"), before).pair()


def test_it_is_ended_after_its_time(tmp_path: Path) -> None:
    """Everything that it has started is ended, too: the process that had opened the pipe is gone."""
    os.mkfifo(tmp_path / "pipe")
    reading = Thread(target=(tmp_path / "pipe").read_bytes, daemon=True)
    reading.start()
    own = program(tmp_path, "sleep 600 > pipe & wait", limit_s=2.0)
    with pytest.raises(PairingProgramError, match=r"it took longer than 2 s \(pairing_limit\)"):
        round_of(own, FIRST).pair()
    reading.join(60)
    assert not reading.is_alive()


def test_it_can_be_ended_by_another_thread(tmp_path: Path) -> None:
    """A tournament that is stopped does not wait for its program."""
    os.mkfifo(tmp_path / "begun")
    own = round_of(program(tmp_path, "echo > begun; exec sleep 600", limit_s=500.0), FIRST)
    told: list[str] = []

    def pair() -> None:
        with pytest.raises(PairingProgramError) as error:
            own.pair()
        told.append(str(error.value))

    waiting = Thread(target=pair, daemon=True)
    waiting.start()
    assert (tmp_path / "begun").read_text() == "\n"  # waits for the program
    own.end()
    waiting.join(60)
    assert "it was ended by signal 15" in told[0]
    late = round_of(program(tmp_path, "exec sleep 600", limit_s=500.0), FIRST)
    late.end()
    with pytest.raises(PairingProgramError, match="signal 15"):
        late.pair()


@pytest.mark.parametrize("word", ["no-such-program-anywhere", "./none", "/no/such/program", "plain"])
def test_a_program_that_is_not_there_is_told(tmp_path: Path, word: str) -> None:
    """It is a name on the PATH, or a path next to the tournament's file. A file must be executable."""
    (tmp_path / "plain").write_text("no program")
    absent = PairingProgram(words=(word if word != "plain" else "./plain", "{trf}"), folder=tmp_path)
    with pytest.raises(PairingProgramError, match=r"can't be run: .*; install it, or correct the name"):
        find_program(absent)
    with pytest.raises(PairingProgramError, match=r"round 1 is not paired by .*can't be run"):
        round_of(absent, FIRST).pair()


@pytest.mark.parametrize("seed", range(8))
def test_every_round_that_fides_system_pairs_is_accepted(seed: int) -> None:
    """The tournament accepts them from a program, with byes, walkovers, withdrawals and late entrants."""
    form, source = Swiss(), Random(seed)
    count = source.randrange(6, 20)
    options = {"rounds": 5, "pairing_program": ["x", "{trf}"]}
    state = form.new(form.parse_options(options), field(count), SHUFFLE)
    while (request := form.to_pair(state)) is not None:
        tables, by = pair_round(request)
        if by.startswith("referee"):
            return  # the Dutch system has no pairing here
        number = {entrant: place for place, entrant in enumerate(request.played.order, start=1)}
        lines = [" ".join([*(str(number[entrant]) for entrant in table), "0"][:2]) for table in tables]
        state = form.take_printed_round(state, tables, "\n".join([str(len(tables)), *lines]))
        while due := form.due(state):
            if source.random() < 0.05:
                state = form.withdraw(state, source.randrange(count))
            else:
                state = form.record(state, random_result(due[0], source))
