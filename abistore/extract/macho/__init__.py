"""The Mach-O format: what the tables of a dylib or bundle say, one architecture at a time."""
