"""How records lie in memory: sizes, alignments and padding, and whether two kinds of evidence tell the same of them."""
