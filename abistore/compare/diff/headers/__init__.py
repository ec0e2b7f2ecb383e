"""What both sides' headers tell: which were given, what chose between their declarations, and who makes objects."""
