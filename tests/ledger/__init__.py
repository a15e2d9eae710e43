"""Tests of referee.ledger."""
