"""The verdict ledger: each release against all its baselines, over all its lines, and under another policy."""
