"""Consumers: what programs import and were built with, and what releases mean for them."""
