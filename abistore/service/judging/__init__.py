"""Comparing and judging: two sides, a policy, suppressions, and what evidence is required."""
