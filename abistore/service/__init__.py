"""The verbs of abistore: the one place that joins extracting, storing, comparing and reporting."""
