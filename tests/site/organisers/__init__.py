"""Tests of referee.site.organisers."""
