"""Processes that work for this one, and can be killed at any moment: starting them, their messages, their limits."""
