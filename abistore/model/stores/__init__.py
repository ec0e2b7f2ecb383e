"""Merging and pruning of stores: what was brought in, and why something may go."""
