"""Files for other tools, made from the history of a library."""
