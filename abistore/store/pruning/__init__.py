"""Removing builds that nobody needs any more, with all that is only theirs."""
