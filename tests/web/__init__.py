"""Tests of referee.web, and the records that they and the tests of `referee replay` share."""
