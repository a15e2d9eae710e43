"""Tests of referee.record.audit."""
