"""Storing snapshots as releases: gates, candidates, export and import."""
