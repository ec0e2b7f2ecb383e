"""Releases of several libraries: what changed between their libraries, beside what changed in each."""
