"""Units and their entries (DIEs), found and decoded on demand."""
