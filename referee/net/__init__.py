"""The network, by Twisted: sockets, deadlines, programs. Turns bytes into events, and carries out commands."""
