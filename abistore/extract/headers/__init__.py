"""What the public headers of a library declare, read through libclang: the `source` facet."""
