"""Words for people: numbers of things, characters that are not seen, and what was probably meant."""
