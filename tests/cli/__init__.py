"""Tests of the command line: real processes over real sockets."""
