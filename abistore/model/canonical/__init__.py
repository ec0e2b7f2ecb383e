"""Canonical JSON, in which equal shapes are equal bytes."""
