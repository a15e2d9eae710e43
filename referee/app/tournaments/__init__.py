"""Begins and resumes tournaments, and takes rulings and new entrants while they run."""
