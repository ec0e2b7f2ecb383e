"""libclang: its functions, its kinds of cursors, and the files that it read."""
