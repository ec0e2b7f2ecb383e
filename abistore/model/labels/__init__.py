"""Labels: versions of all conventions in one order, and the name that a library's releases share."""
