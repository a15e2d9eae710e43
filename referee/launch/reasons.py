"""Why a program or a build ended badly: the line of its output that tells most. Knows how common languages complain.

Refuses to know processes. What was printed is anybody's: it is taken apart line by line in linear time, and what leaves
here is one printable line of bounded length.
"""

import re
from collections.abc import Sequence

REASON_CHARS = 200
"""Of a program that crashed, in the verdict."""
_LINE_CHARS = 500
"""Of one line, what is looked at."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_TRACEBACK = "Traceback (most recent call last):"
_FRAME = re.compile(
    r"""
    \s+at\s | \s*\.\.\.\s\d+\s(more|common\sframes) | \s+from\s\S+:\d+   # Node, Java, C#, Ruby
    | \s*File\s".*",\sline\s\d+ | \s+[\^~][\^~\s]*$ | Traceback\s\(           # Python
    | goroutine\s\d+\s\[ | \t\S+\.go:\d+ | [\w./]+(\(\*\w+\)[\w.]+)?\([^()]*\)$        # Go
    | created\sby\s | exit\sstatus\s\d+$
    | \s*\d+:\s+\S+$ | \s+\d+:\s0x | stack\sbacktrace: | note:\s.*RUST_BACKTRACE                    # Rust
    | \s*\#\d+\s | Node\.js\sv\d
    """,
    re.VERBOSE,
)
"""A line that tells where, not what."""
_ERROR = re.compile(
    r"""
    [A-Za-z0-9_](?:Error|Exception|Panic)\b | \b(?:Error|Exception|Panic):
    | (?i:\berror(?:\[\w+\])?: | \bpanic: | \bpanicked\sat\b | \bexception\sin\sthread\b | \buncaught\b)
    | (?i:\bsegmentation\sfault\b | \bbus\serror\b | \bstack\ssmashing\b | \bcore\sdumped\b | \bassertion\b.*\bfailed\b)
    | (?i:\bterminate\scalled\b | \bcommand\snot\sfound\b | :\snot\sfound$ | \bno\ssuch\sfile\b | \bcan't\sopen\sfile\b)
    """,
    re.VERBOSE,
)
"""A line that tells what."""
_PLACE = re.compile(r"(?=[^\s:]*[A-Za-z])[^\s:]+:\d+(?::\d+)?:\s|.*\bundefined reference to\b")
"""What compilers begin a complaint with; some have no word for it."""
_MILD = re.compile(r"(?i:\b(?:warning|note)\b(?:\[[^\]]*\])?:)")


def reason_of_end(text: str) -> str:
    """Return why a program ended, as far as the end of its output tells.

    Returns:
        The last line that looks like an error, and what follows it without stack frames; the last characters if there
        is none. One printable line.
    """
    lines = _lines(text)
    found = [at for at, line in enumerate(lines) if _tells(line)]
    if _TRACEBACK in lines:
        begun = len(lines) - 1 - lines[::-1].index(_TRACEBACK)
        told = next((at for at in range(begun + 1, len(lines)) if not lines[at][0].isspace()), None)
        found += [told] if told is not None else []
    return _from(lines, max(found)) if found else last_words(text)


def reason_of_build(text: str) -> str:
    """Return why a build failed: its first complaint that is no warning, and what follows it; else its last characters.

    Returns:
        One printable line.
    """
    lines = _lines(text)
    first = next((at for at, line in enumerate(lines) if _tells(line) or _complains(line)), None)
    return last_words(text) if first is None else _from(lines, first)


def last_words(text: str) -> str:
    """Return the last printable characters, in one line."""
    line = _joined([_COLOURS.sub("", text[-4 * REASON_CHARS :])])
    return line if len(line) <= REASON_CHARS else f"...{line[3 - REASON_CHARS :]}"


def _lines(text: str) -> list[str]:
    """Return the lines that have something in them, without colours."""
    lines = (_COLOURS.sub("", line[:_LINE_CHARS]).rstrip() for line in text.split("\n"))
    return [line for line in lines if line]


def _tells(line: str) -> bool:
    return _ERROR.search(line) is not None and not _MILD.search(line) and not _FRAME.match(line)


def _complains(line: str) -> bool:
    return _PLACE.match(line) is not None and not _MILD.search(line)


def _from(lines: Sequence[str], at: int) -> str:
    """Return a line and what follows it, but for stack frames."""
    line = _joined([lines[at], *(one for one in lines[at + 1 :] if not _FRAME.match(one))])
    return line if len(line) <= REASON_CHARS else f"{line[: REASON_CHARS - 3]}..."


def _joined(lines: Sequence[str]) -> str:
    return " ".join("".join(sign if sign.isprintable() else " " for sign in " ".join(lines)).split())
