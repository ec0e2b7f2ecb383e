"""Facts that a kind of input never records, so that two inputs are compared in what both record."""
