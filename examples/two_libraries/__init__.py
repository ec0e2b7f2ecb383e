"""A C and a C++ library with eight releases each, made to show every kind of outcome."""
