"""Debian's symbols files: which symbols a library has, and since which release."""
