"""Reports about the releases of a line: which of them can replace which."""
