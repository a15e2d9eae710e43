"""Rules of games written a second time, from their sources alone: slow, plain, and sharing no code with the engines."""
