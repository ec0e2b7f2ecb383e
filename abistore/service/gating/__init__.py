"""The gate of a pipeline: a build against what was released, and against what it was branched from."""
