"""Release labels: the order of versions in any convention, and the library name in a SONAME."""
