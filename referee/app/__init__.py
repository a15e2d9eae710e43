"""The use cases: what commands and the site have in common, one module each."""
