"""Snapshots as JSON files: writing, reading, and what is refused."""
