"""A store, or a part of it, as one file; and one store brought into another."""
