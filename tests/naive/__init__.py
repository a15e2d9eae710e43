"""The rules of games a second time, written from their descriptions alone, and compared with the engines."""
