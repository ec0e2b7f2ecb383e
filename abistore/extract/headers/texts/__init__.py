"""The texts of headers: what was read of each, which are public behind others, and that none changes meanwhile."""
