"""Tests of referee.net.links."""
