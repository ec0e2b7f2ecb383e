"""From differences to findings and a verdict: for two releases, or for one release after the other."""
