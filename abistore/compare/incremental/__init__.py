"""Judging one release after the other, each at the cost of what differs from the one before."""
