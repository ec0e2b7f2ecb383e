"""JSON snapshots, as `abistore dump` and `export` write them."""
