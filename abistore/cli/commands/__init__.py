"""The commands: one module for each, or for two that are of one kind."""
