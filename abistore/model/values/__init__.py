"""What the text of a constant is worth, worked out as compilers do."""
