"""A comparison as text for people and machines."""
