"""The model of an ABI: names, types, shapes, snapshots, differences and findings."""
