"""A match as a job: what it takes to play it, in bytes, and where it is played: in this process or in one beside it."""
