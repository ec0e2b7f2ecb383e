"""From entries to the shapes of declarations, and the references between them."""
