"""Policies move impacts, suppressions take findings out of the verdict."""
