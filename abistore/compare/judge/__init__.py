"""From differences to findings, and from findings to a verdict."""
