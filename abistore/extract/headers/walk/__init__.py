"""From a parsed translation unit to what public headers declare, cursor by cursor."""
