"""The record of a match: written line by line before anything is done, read and folded again by anyone."""
