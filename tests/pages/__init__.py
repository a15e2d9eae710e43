"""Tests of referee.pages, and the records that they and the tests of `referee replay` share."""
