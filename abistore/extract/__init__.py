"""From a file to a snapshot: one protocol, one registry, a reader for each format."""
