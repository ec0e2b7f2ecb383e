"""Deprecated declarations over the releases of a line, and removals that came too early."""
