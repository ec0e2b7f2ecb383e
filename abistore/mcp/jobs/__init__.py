"""The processes in which tools do their work: one call at a time, killed when it takes too much."""
