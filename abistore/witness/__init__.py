"""Witnesses: programs of old users, each of which shows one break."""
