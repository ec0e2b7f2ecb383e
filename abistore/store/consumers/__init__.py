"""Consumers: programs, and libraries that use others, with what they import and the types they were built with."""
