"""Who makes the objects that a library reads: itself, or programs by code that was compiled with the old header."""
