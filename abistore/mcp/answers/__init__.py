"""What answers are made of: pages that fit a budget, cursors, and the parts that many answers have."""
