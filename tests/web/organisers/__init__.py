"""Tests of referee.web.organisers."""
