"""What findings are called, and how long a verdict about them stays valid."""
