"""What a release consists of: names, shapes, and the entries that tell from when to when a name had a shape."""
