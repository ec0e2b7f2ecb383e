"""Accepted breaks: approving and withdrawing, the ledger and its file, and what a gate makes of them."""
