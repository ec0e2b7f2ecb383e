"""Reports about releases of several libraries: joined of the reports about each, and the table of all."""
