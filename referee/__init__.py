"""The referee: runs bot matches of board and tile games, and writes records that anyone can check.

The map of the package, from the pure middle to the edges:

- `games`     rules: one file per game behind one contract (`games.base`)
- `chance`    seeds, commitments, nonces, the shuffle
- `match`     the one deterministic fold: event in, commands out
- `record`    events and commands <-> lines of a record; writing, reading, chaining, auditing
- `hookspecs` the whole plugin contract; `plugins` loads what implements it
- `submissions` programs that authors hand in: archives, versions, whose a match is
- `net`       the only Twisted code: sockets, clocks, programs
- `check`     walks a player program through the protocol, for its author
- `cli`       the command line, one file per command
"""

from .hookspecs import hookimpl

__version__ = "0.1.0"

__all__ = ["__version__", "hookimpl"]
