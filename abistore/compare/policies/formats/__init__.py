"""The files that policies and suppressions are read from."""
