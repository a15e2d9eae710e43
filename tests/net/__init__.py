"""Tests of the network edge: Twisted's Clock and in-memory transports inside, real processes at the rim."""
