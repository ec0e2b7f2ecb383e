"""What becomes of stores: what one brings into another, and what one gives up."""
