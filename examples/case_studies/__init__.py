"""Real libraries and their history, as ``docs/case-studies/`` tells it."""
