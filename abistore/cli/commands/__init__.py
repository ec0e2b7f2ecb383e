"""The commands: one module for each, or for several that are of one kind."""
