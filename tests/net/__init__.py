"""Tests of the network layer: Twisted's Clock and in-memory transports; real processes only at the edges."""
