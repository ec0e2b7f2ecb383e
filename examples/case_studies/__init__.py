"""Real libraries and their history, as ``docs/lab/case-studies/`` tells it."""
