"""Words for people: counts, invisible characters, ELF terms, and suggestions for misspelled names."""
