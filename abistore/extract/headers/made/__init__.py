"""What headers only point to, made as programs would make it."""
