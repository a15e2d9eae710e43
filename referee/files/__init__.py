"""Files and folders of strangers, which are treated as hostile."""
