"""The commands that ask the history: since when, until when, which release, and what is in it."""
