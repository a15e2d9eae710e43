"""Tests of referee.site.authors."""
