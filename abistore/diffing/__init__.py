"""Two snapshots in, a judged comparison out."""
