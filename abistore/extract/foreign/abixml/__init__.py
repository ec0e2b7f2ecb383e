"""libabigail's ABIXML: a corpus, or a group of them, as abidw writes it."""
