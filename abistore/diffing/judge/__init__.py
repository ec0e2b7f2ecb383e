"""From differences to findings and a verdict: for two releases, for one after the other, and for an edit."""
