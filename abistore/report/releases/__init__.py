"""Reports about releases: whether one is allowed, and those of several libraries, joined of the reports about each."""
