"""Tests of referee.web.contest."""
