"""What the organisers of a contest see and do: the service that does it, and its pages."""
