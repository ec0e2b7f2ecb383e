"""The tables of the file: what one side alone exports, imports, and what the library says of itself."""
