"""The formats of packages: from a file to its members, counted against bounds, and what the package says of itself."""
