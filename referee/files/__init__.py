"""Files and folders that others made, worked with as what they are: hostile."""
