"""The ABI surface of a release: what programs that use the library can name, see and allocate."""
