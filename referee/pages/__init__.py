"""Pages made of records. Reads a record and the rules that it was played by; refuses to fold anything by itself."""
