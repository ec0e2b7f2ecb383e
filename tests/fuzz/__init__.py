"""Damaged libraries and snapshots, compared with the intact ones in every format."""
