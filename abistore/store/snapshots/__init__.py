"""What a release holds: names, shapes, and entries, which say from which release to which a name had a shape."""
