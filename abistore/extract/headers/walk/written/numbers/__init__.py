"""Numbers in what headers write: casts, sizes, and values wider than libclang tells."""
