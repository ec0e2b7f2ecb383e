"""JSON snapshots, which other installations wrote."""
