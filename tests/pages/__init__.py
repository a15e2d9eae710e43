"""Tests of referee.pages, and records for them and for the tests of `referee replay`."""
