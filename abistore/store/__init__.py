"""Snapshots in SQL: a temporal, content-addressed history."""
