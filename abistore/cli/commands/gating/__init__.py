"""Gates of pipelines."""
