"""Constants: which tell the release, and which have their value from others."""
