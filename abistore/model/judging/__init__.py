"""What is said of findings and releases: names, identities, standings, approvals, and how long a verdict holds."""
