"""Edits of headers, for what-if: declarations and files that are read from memory, and never written."""
