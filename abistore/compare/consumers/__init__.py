"""What programs that use the library can name, see and allocate."""
