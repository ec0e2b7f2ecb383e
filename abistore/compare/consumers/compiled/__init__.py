"""What programs compile for themselves, as the headers that they include tell."""
