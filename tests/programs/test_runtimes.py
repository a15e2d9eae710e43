"""Debian's language runtimes work in a sandbox: its filter allows their threads, child processes and sockets.

Java and Rust are tested in tests/players, where the samples play.
"""

import shlex

import pytest

from referee.programs.player_spec import command_launch

from .test_sandbox import said_inside

C = "#include <pthread.h>\n#include <stdio.h>\nvoid *f(void *p) { puts(p); return 0; }"
C += '\nint main() { pthread_t t; pthread_create(&t, 0, f, "42"); return pthread_join(t, 0); }'
NODE = 'const { Worker } = require("worker_threads"); new Worker("console.log(42)", { eval: true })'
PERL = 'socketpair(A, B, AF_UNIX, SOCK_STREAM, 0); fork || exit !syswrite(A, "42\n"); print scalar <B>'
PHP = r'[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0); fwrite($a, "42\n"); echo fgets($b);'
GO = "package main\nfunc main() { c := make(chan int); go func() { c <- 42 }(); println(<-c) }"
PYTHON = "from multiprocessing import Pool; print(sum(Pool(2).map(abs, [-40, -2])))"


def built(name: str, text: str, build: str) -> str:
    """Return a command that writes a program into its memory, builds it there and runs it."""
    return shlex.join(["sh", "-c", f"cd && printf %s {shlex.quote(text)} > {name} && {build}"])


NEEDS = {"lua": "lua5.4", **{name: name for name in ("perl", "ruby", "php", "node", "gcc", "go")}}
"""Runtime -> the program that a machine may lack."""
PROGRAMS = {
    "bash": "bash -c 'exec 3< <(echo 42); cat <&3'",
    "perl": f"perl -MSocket -e '{PERL}'",
    "ruby": "ruby -rsocket -e 'a, b = UNIXSocket.pair; Thread.new { a.puts 42 }.join; puts b.gets'",
    "php": f"php -r '{PHP}'",
    "lua": "lua5.4 -e 'print(io.popen(\"echo 42\"):read())'",
    "python": f'/usr/bin/python3 -c "{PYTHON}"',
    "node": f"node -e '{NODE}'",
    "gcc": built("m.c", C, "gcc -pthread -o m m.c && ./m"),
    "go": built("m.go", GO, "GOCACHE=$PWD/cache go run m.go"),
}


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, id=name, marks=[pytest.mark.needs(NEEDS[name])] if name in NEEDS else [])
        for name, command in PROGRAMS.items()
    ],
)
def test_a_runtime_runs(command: str) -> None:
    """The output is the same as outside; the README says how to install all of them."""
    assert said_inside(command_launch(command, "p")) == "42\n"
