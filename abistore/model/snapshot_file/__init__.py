"""Snapshots as JSON files: writing, reading, what is refused, and the schema."""
