"""The only Twisted code: sockets, clocks and programs. Turns bytes into events, and carries out commands."""
