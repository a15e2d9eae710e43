"""Tests of referee.web.authors."""
