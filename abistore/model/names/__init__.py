"""The names of C and C++: spelled, mangled by compilers, and brought into one normal form."""
