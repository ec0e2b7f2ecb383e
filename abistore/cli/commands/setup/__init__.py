"""The commands that set abistore up on a machine and in a project."""
