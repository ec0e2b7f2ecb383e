"""Two suites of Debian as an archive: a real one, to see what abistore says of libraries that kept their names."""
