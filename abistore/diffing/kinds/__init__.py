"""The kind of each difference. Each place of a declaration has exactly one kind, so that one rule reports it."""
