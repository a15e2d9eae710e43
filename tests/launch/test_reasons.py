"""Why a program or a build ended: the line that tells most, in the words of the usual languages."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.launch.reasons import REASON_CHARS, reason_of_build, reason_of_end

NODE = """\
/home/ada/player.js:3
function ( {
^^^^^^^^

SyntaxError: Function statements require a function name
    at wrapSafe (node:internal/modules/cjs/loader:1464:18)
    at Module._load (node:internal/modules/cjs/loader:1091:12)
    at Function.executeUserEntryPoint [as runMain] (node:internal/modules/run_main:164:12)

Node.js v20.20.2
"""
PYTHON = """\
my turn
Traceback (most recent call last):
  File "/home/ada/player.py", line 4, in choose
    return table[5]
           ~~~~~^^^
IndexError: list index out of range

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/home/ada/player.py", line 9, in <module>
    raise Lost("no tile left")
Lost: no tile left
"""
PYTHON_SYNTAX = """\
  File "/home/ada/player.py", line 3
    choose(
          ^
SyntaxError: '(' was never closed
"""
JAVA = """\
Exception in thread "main" java.lang.IllegalStateException: bad state
\tat Player.choose(Player.java:3)
\tat Player.main(Player.java:4)
Caused by: java.lang.NumberFormatException: For input string: "x"
\tat java.base/java.lang.Integer.parseInt(Integer.java:668)
\t... 2 more
"""
GO = """\
panic: runtime error: index out of range [5] with length 3

goroutine 1 [running]:
main.(*player).choose(...)
\t/home/ada/main.go:4
main.main()
\t/home/ada/main.go:5 +0x10c
exit status 2
"""
RUST = """\
thread 'main' panicked at src/main.rs:4:5:
index out of bounds: the len is 3 but the index is 5
stack backtrace:
   0: __rustc::rust_begin_unwind
             at /rustc/59807616/library/std/src/panicking.rs:689:5
   1: player::main
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
"""
CPP = """\
terminate called after throwing an instance of 'std::out_of_range'
  what():  vector::_M_range_check: __n (which is 5) >= this->size() (which is 3)
"""
ENDS = {
    "node": (NODE, "SyntaxError: Function statements require a function name"),
    "python": (PYTHON, "Lost: no tile left"),
    "python, unread": (PYTHON_SYNTAX, "SyntaxError: '(' was never closed"),
    "java": (JAVA, 'Caused by: java.lang.NumberFormatException: For input string: "x"'),
    "go": (GO, "panic: runtime error: index out of range [5] with length 3"),
    "rust": (
        RUST,
        "thread 'main' panicked at src/main.rs:4:5: index out of bounds: the len is 3 but the index is 5",
    ),
    "c++": (CPP, " ".join(CPP.split())),
    "c": (
        "player: player.c:12: choose: Assertion `hand > 0' failed.\n",
        "player: player.c:12: choose: Assertion `hand > 0' failed.",
    ),
    "shell": ("sh: 1: pyhton3: not found\n", "sh: 1: pyhton3: not found"),
    "words after it": ("ValueError: no\nbye\n", "ValueError: no bye"),
    "coloured": ("\x1b[31mError: \x1b[1mno tile\x1b[0m\n", "Error: no tile"),
    "a warning is none": ("x.js:1: warning: Error: old\nplaying\n", "x.js:1: warning: Error: old playing"),
    "no error": ("one\n\ntwo\t3\r\n", "one two 3"),
    "controls": ("a\u2028b\u202ec\x00", "a b c"),
    "nothing": ("", ""),
    "short enough": ("x" * REASON_CHARS, "x" * REASON_CHARS),
    "long words": ("x" * 1000 + "end", "..." + "x" * (REASON_CHARS - 6) + "end"),
    "a long reason": ("KeyError: " + "x" * 1000, "KeyError: " + "x" * (REASON_CHARS - 13) + "..."),
}


@pytest.mark.parametrize(("printed", "expected"), ENDS.values(), ids=ENDS)
def test_the_reason_of_an_end_comes_first(printed: str, expected: str) -> None:
    """The last line that looks like an error, and what follows it; neither frames nor what was printed before."""
    assert expected == reason_of_end(printed)


GCC = """\
cc -O2 -Wall -o player player.c
player.c: In function 'main':
player.c:1:5: warning: unused variable 'error' [-Wunused-variable]
player.c:2:17: error: unknown type name 'size_t'
    2 | static size_t chance;
      |        ^~~~~~
player.c:1:12: warning: 'is_random' defined but not used [-Wunused-function]
make: *** [Makefile:3: player] Error 1
"""
RUSTC = """\
   Compiling player v0.1.0 (/home/ada)
warning: unused variable: `error`
error[E0425]: cannot find value `y` in this scope
 --> src/main.rs:1:42
error: aborting due to 1 previous error
"""
JAVAC = """\
Player.java:1: error: ';' expected
    int x = 3
             ^
1 error
"""
LINKER = """\
/usr/bin/ld: player.o: in function `main': player.c:(.text+0x10): undefined reference to `choose'
collect2: error: ld returned 1 exit status
"""
BUILDS = {
    "gcc": (GCC, "player.c:2:17: error: unknown type name 'size_t' 2 | static size_t chance;"),
    "rustc": (RUSTC, "error[E0425]: cannot find value `y` in this scope --> src/main.rs:1:42 error: aborting"),
    "javac": (JAVAC, "Player.java:1: error: ';' expected int x = 3 1 error"),
    "go": ("# player\n./main.go:2:15: undefined: y\n", "./main.go:2:15: undefined: y"),
    "ld": (LINKER, "/usr/bin/ld: player.o: in function `main': player.c:(.text+0x10): undefined reference to `choose'"),
    "make": ("Makefile:3: *** missing separator.  Stop.\n", "Makefile:3: *** missing separator. Stop."),
    "cargo": ("error: no matching package named `rand` found\n", "error: no matching package named `rand` found"),
    "no error": ("no compiler\n", "no compiler"),
}


@pytest.mark.parametrize(("printed", "expected"), BUILDS.values(), ids=BUILDS)
def test_the_first_error_of_a_build_comes_first(printed: str, expected: str) -> None:
    """What follows from the first error, and warnings, push it out no more."""
    assert reason_of_build(printed).startswith(expected)


@pytest.mark.parametrize("reason_of", [reason_of_end, reason_of_build])
@given(printed=st.text(alphabet="\n\t\x1b[m :at(Error)^1\u202e\u00e4./", max_size=600))
def test_a_reason_is_one_printable_line(reason_of: Callable[[str], str], printed: str) -> None:
    """Whatever was printed, the verdict's part of it moves no cursor and is bounded."""
    reason = reason_of(printed)
    assert reason.isprintable()
    assert len(reason) <= REASON_CHARS
