"""Bundles: what a store holds as one file, and bringing what one store holds into another."""
