"""Public headers that bring others along no longer: what sources miss, and which of them begin there."""
